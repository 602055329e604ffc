# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines that run on the lab's hosts."""

from __future__ import annotations

from lab.engines.double_image import EngineDouble
from lab.engines.engine import Engine
from lab.engines.vllm_cpu_image import VllmCpu

ENGINES: dict[str, Engine] = {"double": EngineDouble(), "vllm-cpu": VllmCpu()}
