# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An engine double: takes the command lines of `vllm serve` and `ray`, answers like vLLM, fails as told (README.md).

Standard library only, Python 3.10+. It knows nothing of the lab around it.
"""

from __future__ import annotations

VERSION = "0.32.0"
