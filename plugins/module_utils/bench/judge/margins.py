# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a figure may change before it counts, and which way is better."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault

LOWER_IS_BETTER = frozenset({"ttft_ms", "tpot_ms", "itl_ms", "e2el_ms", "error_rate"})
HIGHER_IS_BETTER = frozenset(
    {"output_tps", "output_tps_steady", "decode_tps", "request_rate", "prefill_tps", "goodput_rate"}
)
# Any more failures than before are a regression, whatever the margins.
ERRORS = "error_rate"
# Below so many milliseconds a change of TTFT is none that anybody feels, however many percent it is.
TTFT_LEAST = "ttft_least_ms"
DEFAULTS = (("ttft_ms", 0.10), (TTFT_LEAST, 20.0), ("tpot_ms", 0.05), ("output_tps", 0.05))

_COMPARED = (LOWER_IS_BETTER | HIGHER_IS_BETTER) - {ERRORS}


def laid_over(given: Mapping[str, Any] | None, place: str = "margins") -> dict[str, float]:
    """The margins that hold: the defaults with those that were given laid over them.

    :param given: a share for each metric, for example ``{"tpot_ms": 0.03}``; None leaves that metric out
    :param place: where they stand, for the refusal
    """
    faults = [fault for name, value in (given or {}).items() if (fault := _fault(name, value, place))]
    if faults:
        raise ConfigurationError(faults)
    merged = {**dict(DEFAULTS), **(given or {})}
    return {name: float(value) for name, value in merged.items() if value is not None}


def _fault(name: str, value: Any, place: str) -> Fault | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if name == TTFT_LEAST:
        right, wanted = number and value >= 0, "milliseconds, 0 or more"
    elif name in _COMPARED:
        right, wanted = number and 0 < value < 1, "a share above 0 and below 1, such as 0.05 for 5 %"
    else:
        wanted = f"one of {', '.join(sorted(_COMPARED | {TTFT_LEAST}))}"
        return Fault(f"{place}.{name}", "a metric that has no margin", wanted, "Take it out or correct its name")
    if right or value is None:
        return None
    return Fault(f"{place}.{name}", repr(value), wanted, "Correct it")


def of_log_ratio(metric: str, baseline: float, margins: Mapping[str, float]) -> float:
    """The margin as the absolute value of a log ratio. A TTFT must leave both of its margins behind.

    :param baseline: the figure that the change is seen against
    """
    share = margins[metric]
    if metric == "ttft_ms" and baseline > 0:
        share = max(share, margins.get(TTFT_LEAST, 0.0) / baseline)
    return math.log1p(share)
