# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all imports have in common: one round of one point, in which what another tool does not say is null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.intervals import over_rounds
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.percentiles import distribution, scalar
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.measure.points import FIGURES
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.schema import DISTRIBUTIONS, SCALARS

DEPLOYMENT = "imported"
# Who counted the tokens is not in any of these files: a server's usage, or a tokenizer of the tool.
TOKEN_SOURCE = "unknown"
NONE_SUCCEEDED = "no request succeeded"

_SERVER = (
    "prefix_queries prefix_hits spec_drafted spec_accepted preemptions prompt_tokens generation_tokens kv_usage_max "
    "waiting_max running_max ttft_ms_mean queue_ms_mean"
).split()
_CLIENT = ("cpu_s", "rss_mb", "lag_ms", "address", "connections", "host")


@dataclass(frozen=True)
class About:
    """What the user says of the file, as the file does not.

    :ivar target: a name for what was asked
    :ivar via: ``direct`` or ``gateway``
    :ivar case: the case that it corresponds to; empty to name it after the file's own words
    """

    label: str = ""
    model: str = ""
    target: str = "imported"
    via: str = "direct"
    case: str = ""


@dataclass(frozen=True)
class Piece:
    """One point of a foreign file.

    :ivar began: unix seconds; None when the file does not say
    :ivar seconds: how long it took
    """

    case: Mapping[str, Any]
    load: Mapping[str, Any]
    endpoint: str
    summary: Mapping[str, Any]
    errors: Mapping[str, int]
    error_samples: tuple[Mapping[str, Any], ...] = ()
    server: Mapping[str, Any] | None = None
    began: float | None = None
    seconds: float | None = None
    mean_concurrency: float | None = None


@dataclass(frozen=True)
class Read:
    """What a foreign file holds.

    :ivar tool: name of the tool
    :ivar version: of the tool; empty when the file does not say
    :ivar model: as the tool calls it
    :ivar started: ISO time in UTC; None when the file does not say
    :ivar notes: sentences on how its figures differ from ours
    """

    tool: str
    version: str
    model: str
    started: str | None
    pieces: tuple[Piece, ...]
    notes: tuple[str, ...]


def unknown(tool: str) -> dict[str, dict[str, Any]]:
    """A summary in which nothing is known."""
    why = f"not in {tool}"
    return {
        **{metric: distribution((), why) for metric in DISTRIBUTIONS},
        **{name: scalar(None, why) for name in SCALARS},
    }


def server(known: Mapping[str, Any]) -> dict[str, Any]:
    """The engine's counters, of which a foreign file knows few."""
    return {**dict.fromkeys(_SERVER), **known}


def load_name(load: Mapping[str, Any]) -> str:
    """The end of a point's id.

    >>> load_name({"model": "closed", "n": 4}), load_name({"model": "open", "rate": 2.5})
    ('n4', 'rate2.5')
    """
    return f"rate{load['rate']:g}" if load["model"] == "open" else f"n{load['n']}"


def point(piece: Piece, number: int, about: About) -> dict[str, Any]:
    """A point of one round. A comparison with it can only be inconclusive, as one round says nothing of the next."""
    name = f"{piece.case['name']}/{piece.endpoint}/{about.target}/{load_name(piece.load)}"
    outcome = {"summary": piece.summary, "errors": dict(piece.errors), "error_samples": list(piece.error_samples)}
    dead = piece.summary["error_rate"]["value"] == 1
    reasons = ["No request succeeded."] if dead else []
    of_both = {
        "case": piece.case["name"],
        "target": about.target,
        "endpoint": piece.endpoint,
        "stream": True,
        "load": dict(piece.load),
        **outcome,
        "valid": not reasons,
        "invalid_reasons": reasons,
    }
    one = {
        "id": f"{number:04d}",
        "point": name,
        **of_both,
        "round": 0,
        "warmup": False,
        "block": "",
        "ladder": "",
        "began": piece.began,
        "seconds": piece.seconds,
        "steady": None,
        "concurrency": {"mean": piece.mean_concurrency, "peak": None},
        "server": piece.server,
        "client": dict.fromkeys(_CLIENT),
        "skipped": "",
    }
    figures = {metric: (piece.summary.get(metric) or {}).get(part) for metric, part in FIGURES}
    return {
        "id": name,
        **of_both,
        "via": about.via,
        "deployment": DEPLOYMENT,
        "rounds": [one],
        "stats": {metric: over_rounds([value]) for metric, value in figures.items()},
        "token_source": TOKEN_SOURCE,
        "itl_name": "inter-chunk",
        "streaming": None,
    }
