# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our client as a process of its own: its start, memory and processor time are its own, `play` and nothing else.

`python -m benchmarks.client.ours URL --users N --requests R --tokens T --model M --out FILE` writes what it found.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask, Limits
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.body import body_of, path_of
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.played import Played, play
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.target import Target
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import priority
from benchmarks.client.percentiles import HALF, TAIL, percentile

ENDPOINT = "chat"


def asks(model: str, tokens: int, words: int, *, continuous_usage: bool = False) -> Iterator[Ask]:
    """Requests without end, no two alike from their first word on."""
    number = 0
    output = {"mode": "fixed", "tokens": tokens}
    while True:
        text = f"{number} " + "the way " * (words // 2)
        messages = [{"role": "user", "content": text}]
        body = body_of(ENDPOINT, model, messages=messages, output=output, continuous_usage=continuous_usage)
        yield Ask(number, path_of(ENDPOINT), body, ENDPOINT, requested_tokens=tokens)
        number += 1


def found(played: Played) -> dict[str, Any]:
    """The figures of the requests that went well."""
    good = [record for record in played.records if record["error"] is None]
    gaps = [gap for record in good for gap in record["gaps_ms"]]

    def known(name: str) -> list[float]:
        return [record[name] for record in good if record[name] is not None]

    def average(name: str) -> float | None:
        values = known(name)
        return mean(values) if values else None

    counts = [record["tokens"]["completion"] for record in good]
    seconds = max((record["t_last"] or 0.0 for record in good), default=0.0) - min(
        (record["t_write"] for record in good), default=0.0
    )
    counted = bool(counts) and None not in counts and seconds > 0
    valid, reasons = played.valid(percentile(gaps, HALF))
    return {
        "ttft_ms": average("ttft_ms"),
        "decode_ms": average("tpot_ms"),
        "output_tps": sum(counts) / seconds if counted else None,
        "itl_p99_ms": percentile(gaps, TAIL),
        "ok": len(good),
        "failed": len(played.records) - len(good),
        "median_ttft_ms": median(known("ttft_ms")) if known("ttft_ms") else None,
        "median_tpot_ms": median(known("tpot_ms")) if known("tpot_ms") else None,
        "kinds": Counter(record["error"]["kind"] for record in played.records if record["error"]),
        "client": played.client,
        "concurrency": played.concurrency,
        "valid": valid,
        "reasons": reasons,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--users", type=int, required=True)
    parser.add_argument("--requests", type=int, required=True)
    parser.add_argument("--tokens", type=int, required=True)
    parser.add_argument("--words", type=int, default=64)
    parser.add_argument("--continuous-usage", action="store_true")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    priority.come_first()  # as the module does
    load = {"model": "closed", "n": options.users, "requests": options.requests, "min_s": 0.0}
    target = Target("mock", options.url)
    wanted = asks(options.model, options.tokens, options.words, continuous_usage=options.continuous_usage)
    played = play(target, load, wanted, Limits())
    options.out.write_text(json.dumps(found(played)), encoding="utf-8")


if __name__ == "__main__":
    main()
