# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the client's test of itself says against the figures of a run. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.finding import WARNING, Finding, finding
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.watched import number, text

CODE = "client_self_test"
# Percent that the client may be off: what issue 7 holds it to, and for two transports benchmark.md 5.1.
ALLOWED: Mapping[str, tuple[str, float]] = {
    "ttft_err_pct": ("TTFT {:+.1f} %", 3.0),
    "itl_p99_err_pct": ("p99 of the gaps {:+.1f} %", 5.0),
    "threads_tpot_diff_pct": ("TPOT {:+.1f} % from that of a second transport", 2.0),
}
_REMEDY = (
    "Take the figures for no better than that; give the client's host less to do meanwhile, or choose another one "
    "with benchmark_client."
)


def of_self_test(self_test: Mapping[str, Any] | None) -> list[Finding]:
    """A warning when the client was off by more than it may be, or could not be tested.

    :param self_test: what ``client.self_test`` returned; None when it was not made
    """
    if not self_test:
        return []
    place = f"Client on {text(self_test, 'host') or 'its host'}"
    error = text(self_test, "error")
    if error:
        found = f"that its self-test could not be made ({' '.join(error.split())[:200].rstrip('.')})"
        remedy = "Measure again, and look at how busy that host is if it stays so."
        return [finding(CODE, WARNING, place, found, "one before the first round", remedy)]
    off = [
        words.format(value)
        for key, (words, most) in ALLOWED.items()
        if (value := number(self_test, key)) is not None and abs(value) > most
    ]
    if not off:
        return []
    ttft, gaps, ways = (f"{most:g} %" for _words, most in ALLOWED.values())
    wanted = f"at most {ttft} for TTFT, {gaps} for the gaps and {ways} between transports"
    found = f"{', '.join(off)} off in its self-test against a server of known truth"
    return [finding(CODE, WARNING, place, found, wanted, _REMEDY)]
