# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sampler writes down, a line of JSON for each thing, and SNAPSHOTS made of it. Pure.

A sampler that is killed leaves all lines but maybe the half of one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

INTERVAL = 1.0
# So many samples at one interval; then it doubles, so that a sampler that nobody ends stays small.
MOST = 20_000
# So many samples are handed over at most: each is about 600 bytes that pass through Ansible's output.
MOST_RETURNED = 7_200


def interval_after(samples: int) -> float:
    """Seconds between two samples when there are so many already.

    >>> [interval_after(count) for count in (0, 20_000, 40_000)]
    [1.0, 2.0, 4.0]
    """
    return INTERVAL * 2.0 ** (samples // MOST)


def sample_line(sample: Mapping[str, Any]) -> str:
    """A sample as it is written down."""
    return _line({"sample": sample})


def error_line(sentence: str) -> str:
    """What a sampler could not look at."""
    return _line({"error": sentence})


def end_line(cpu_s: float, seconds: float) -> str:
    """What the sampler cost, its last line."""
    return _line({"cost": {"cpu_s": round(cpu_s, 3), "seconds": round(seconds, 3)}})


def snapshots(host: str, text: str, most: int = MOST_RETURNED) -> dict[str, Any]:
    """SNAPSHOTS of a host.

    :param text: all that its sampler has written
    :param most: samples to return at most; of more, every second, third, ... and the last one
    """
    entries = [entry for entry in map(_read, text.splitlines()) if entry]
    samples = [entry["sample"] for entry in entries if "sample" in entry]
    errors = [entry["error"] for entry in entries if "error" in entry]
    # A sampler that went on after a break has written one for each part.
    costs = [entry["cost"] for entry in entries if "cost" in entry]
    cost = {key: round(sum(one[key] for one in costs), 3) for key in ("cpu_s", "seconds")} if costs else None
    kept, step = thinned(samples, most)
    return {
        "host": host,
        "interval_s": INTERVAL * step,
        "samples": kept,
        "cost": cost or {"cpu_s": None, "seconds": None},
        "errors": list(dict.fromkeys(errors)),
    }


def thinned(samples: Sequence[Any], most: int) -> tuple[list[Any], int]:
    """Every ``step``-th sample and the last one, and that step."""
    step = max(1, -(-len(samples) // most))
    kept = list(samples[::step])
    if samples and kept[-1] is not samples[-1]:
        kept.append(samples[-1])
    return kept, step


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, separators=(",", ":")) + "\n"


def _read(line: str) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
