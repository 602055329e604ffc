# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How late our own stamps are, and when a round is no longer to be believed. Pure.

Three things make a stamp late, and each is measured where it happens:

- *We were busy.* A wake of epoll brings all streams that are ready, and all of them are stamped with the time of the
  wake: what it brings had come by then. While a wake is dealt with, others come and wait. So when epoll returns without
  having slept, what it brings is at most as late as the wake before is past.
- *The processor we did not get.* When epoll has slept, data ended the sleep, but from there to the wake we may have
  stood in a run queue behind others, while more came. How long that was the kernel knows to the nanosecond
  (`run_queue`): what the wakes since the last look at its account brought is at most so late. Where it keeps no account
  this is 0.
- *The processor that the machine did not get.* A wait that ends by its own time and not by data should end when it
  said; how much later it ended is a sample, some 20 in a second. It sees what no account does: a virtual machine that
  was not run.

Reading all streams of a wake takes time itself, and a token that comes meanwhile is stamped too early: where that could
be more than the stamps are late, it counts in its place.

The first two are of a wake, and count once for each token that it brings: a wake after half a second that brings whole
answers is one of a thousand wakes, but all their tokens. The lag is the worse of these and of the third, percentile
by percentile: a few late waits must not drown in thousands of stamps. As everywhere here a percentile has at least 5
samples beyond it: of fewer than 500 the p99 is the highest that has, so that one late wait of a hundred does not speak
for the others (`max` tells it).
Measured against a mock engine's own send times (256 streams, 20 ms from token to token, all due in the same moment,
two cores): p99 of the gaps 1.5 to 2 % off with a lag p99 of 0.3 to 0.6 ms. With a stamp after each read, as most
clients do it, it was 5.5 % off, and the reading alone made each stamp up to 2.4 ms late. At 512 streams it was 12.6 %
off with a lag p99 of 1.7 ms, more than the 5 % of 20 ms that are allowed. On the same machine with four more programs
that wanted both cores (8 streams) it was 9 to 50 % off, with a lag p99 of 16 to 1,280 ms; before the run queue was
looked at, rounds against a real engine on such a machine were believed with one of 0.1 ms. Of a wake that stood in the
queue only what came first is as late as is said: the lag is a bound, and a busy machine has rounds marked invalid that
are 1 to 3 % off.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping

# The lag that is allowed: p99 in ms, and as a share of the median gap between tokens.
ALLOWED = {"p99_ms": 2.0, "share": 0.05}
# No engine makes tokens faster: a shorter median gap is of a gateway that holds them back, and allows no lag at all.
LEAST_GAP_MS = 1.0
# Samples that lie beyond a percentile.
BEYOND = 5
# A wait shorter than this did not sleep.
NO_SLEEP_S = 30e-6
EVENT_END = b"\n\n"


# Bytes: a shorter piece is one token, or two small ones.
SHORT_PIECE = 512
# Seconds in a run queue that are told as lateness.
QUEUED_S = 50e-6


def late_by(slept: float, since_last: float) -> float:
    """How late the stamps of a wake are at most because we were busy, in seconds.

    :param slept: how long epoll took
    :param since_last: from the wake before to this one
    """
    return since_last if slept <= NO_SLEEP_S else 0.0


def tokens_in(piece: bytes) -> int:
    """About how many tokens came in a piece: one in each event, and at least one."""
    return max(1, piece.count(EVENT_END))


class Lag:
    """Collects the samples of one round."""

    def __init__(self) -> None:
        self._lates = array("d")
        self._stamps = array("L")
        self._waits = array("d")
        self._accounted = 0

    def wake(self, late: float, stamps: int) -> None:
        """So many tokens were stamped, at most so late."""
        self._lates.append(late)
        self._stamps.append(stamps)

    def queued(self, seconds: float) -> None:
        """We stood in a run queue for so long since this was told last: any wake since then may be so late."""
        lates = self._lates
        if seconds > QUEUED_S:
            for place in range(self._accounted, len(lates)):
                lates[place] = max(lates[place], seconds)
        self._accounted = len(lates)

    def waited(self, late: float) -> None:
        """A wait ended so much later than it should."""
        self._waits.append(late if late > 0.0 else 0.0)

    def summary(self) -> dict[str, float | None]:
        """Percentiles in ms; None where there was no sample."""
        stamps = sorted(zip(self._lates, self._stamps, strict=True))
        waits = [(late, 1) for late in sorted(self._waits)]
        return {
            name: _worse(_percentile(stamps, share), _percentile(waits, share))
            for name, share in (("p50", 0.50), ("p99", 0.99), ("max", 1.0))
        }

    def merge(self, other: Lag) -> None:
        """Take the samples of another process, too."""
        self._lates.extend(other._lates)
        self._stamps.extend(other._stamps)
        self._waits.extend(other._waits)


def validity(
    lag_ms: Mapping[str, float | None], median_itl_ms: float | None, allowed: Mapping[str, float] | None = None
) -> tuple[bool, list[str]]:
    """Say whether the client was quick enough for what it measured, and if not, why.

    :param allowed: as ALLOWED, which holds when nothing is said
    """
    most_ms, most_share = (float({**ALLOWED, **(allowed or {})}[key]) for key in ("p99_ms", "share"))
    p99 = lag_ms.get("p99")
    if p99 is None:
        return True, []
    reasons = []
    if p99 > most_ms:
        reasons.append(
            f"the client's own stamps are up to {p99:.2f} ms late (p99), the limit is {most_ms:g} ms: "
            "its host is too busy, or there are too many streams for one client"
        )
    elif median_itl_ms and median_itl_ms >= LEAST_GAP_MS and p99 > most_share * median_itl_ms:
        reasons.append(
            f"the client's own stamps are up to {p99:.2f} ms late (p99), the limit is "
            f"{most_share * median_itl_ms:.2f} ms: {most_share:.0%} of the median gap of {median_itl_ms:.2f} ms "
            "between tokens"
        )
    return not reasons, reasons


def _percentile(samples: Iterable[tuple[float, int]], share: float) -> float | None:
    """The smallest value that so large a share of the samples does not exceed, in ms."""
    samples = list(samples)
    total = sum(count for _value, count in samples)
    if total and share < 1.0:
        share = min(share, max(0.5, 1.0 - BEYOND / total))
    wanted, found = share * total, 0
    for value, count in samples:
        found += count
        if found >= wanted:
            return round(value * 1000.0, 3)
    return None


def _worse(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)
