# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Play a round against an engine by hand: PYTHONPATH=.collections python -m tests.bench.play URL --n 4 --requests 16
--tokens 64 [--model M] [--mock JSON]."""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask, Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.body import body_of, path_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import play
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target


def main() -> None:
    """Play, and print a summary."""
    parser = argparse.ArgumentParser(description="Play a round against an engine.")
    parser.add_argument("url")
    parser.add_argument("--n", type=int, default=4)
    parser.add_argument("--requests", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--model", default="mock")
    parser.add_argument("--mock", default="{}")
    given = parser.parse_args()
    extra: dict[str, Any] = {"mock": json.loads(given.mock)} if given.mock != "{}" else {}

    def asks() -> Any:
        for number in itertools.count():
            messages = [{"role": "user", "content": f"{number}: say something"}]
            output = {"mode": "fixed", "tokens": given.tokens}
            body = body_of("chat", given.model, messages=messages, output=output, extra=extra)
            yield Ask(number, path_of("chat"), body, "chat", requested_tokens=given.tokens)

    load = {"model": "closed", "n": given.n, "requests": given.requests, "min_s": 0.0}
    played = play(Target("by hand", given.url), load, asks(), Limits())
    good = [one for one in played.records if one["error"] is None]
    gaps = [gap for one in good for gap in one["gaps_ms"]]
    print(f"{len(good)} of {len(played.records)} good in {played.seconds:.2f} s")
    for one in [one for one in played.records if one["error"]][:3]:
        print(one["error"])
    if len(gaps) > 1:
        print(f"ttft {statistics.median(one['ttft_ms'] for one in good):.2f} ms", end=", ")
        print(f"itl p50 {statistics.median(gaps):.2f} p99 {statistics.quantiles(gaps, n=100)[98]:.2f} ms")
    print(played.client, played.concurrency, played.steady)


if __name__ == "__main__":
    main()
