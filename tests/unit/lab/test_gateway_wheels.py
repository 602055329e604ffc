# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's hosts get the versions that the role installs."""

from __future__ import annotations

from pathlib import Path

import yaml

from lab.gateway_wheels import LITELLM, VLLM_ROUTER

DEFAULTS = Path(__file__).parents[3] / "roles" / "gateway" / "defaults" / "main.yml"


def test_versions_are_those_of_the_role() -> None:
    defaults = yaml.safe_load(DEFAULTS.read_text(encoding="utf-8"))
    assert (defaults["gateway_litellm_package"], defaults["gateway_vllm_router_package"]) == (LITELLM, VLLM_ROUTER)
