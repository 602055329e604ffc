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
    remedy = "Correct it"
    if name == TTFT_LEAST:
        right, wanted = number and value >= 0, "milliseconds, 0 or more"
    elif name in _COMPARED:
        right, wanted = number and 0 < value < 1, "a share above 0 and below 1, such as 0.05 for 5 %"
        if number and value == 0:
            remedy = "Set it to such a share, or to null to leave the metric out"
        elif number and 1 <= value < 100:
            remedy = f"Write {value:g} % as {value / 100:g}"
    elif name == ERRORS:
        wanted = "none, for any more failed requests than before are a regression"
        return Fault(f"{place}.{name}", repr(value), wanted, "Take it out")
    else:
        wanted = f"one of {', '.join(sorted(_COMPARED | {TTFT_LEAST}))}"
        return Fault(f"{place}.{name}", "a metric that has no margin", wanted, "Take it out or correct its name")
    if right or value is None:
        return None
    return Fault(f"{place}.{name}", repr(value), wanted, remedy)


def of_log_ratio(metric: str, baseline: float, margins: Mapping[str, float]) -> tuple[float, float]:
    """The margin of a smaller figure and that of a greater one, as absolute values of a log ratio.

    A share is as far in both directions. Milliseconds are not: 20 ms less than 60 is a third less, 20 ms more a third
    more, and nothing is 20 ms less than 15. A TTFT must leave both of its margins behind.

    :param baseline: the figure that the change is seen against
    """
    share = math.log1p(margins[metric])
    if metric != "ttft_ms" or baseline <= 0:
        return share, share
    least = margins.get(TTFT_LEAST, 0.0) / baseline
    return max(share, -math.log1p(-least) if least < 1 else math.inf), max(share, math.log1p(least))
