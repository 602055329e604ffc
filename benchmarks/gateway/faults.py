# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What clients see of a gateway when an engine dies, hangs, fails or is full, and when they leave themselves."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from benchmarks.gateway.engine import FAILURE, MODEL
from benchmarks.gateway.load import Loaded, load
from benchmarks.gateway.outcome import Outcome, Wish
from benchmarks.gateway.stage import ENGINE_PORTS, Stage
from benchmarks.gateway.targets import Target

# Short generations, so that many begin around an event: seconds to the first token and between two.
QUICK = {"ttft": 0.02, "itl": 0.01, "slots": 256, "keep_alive": 0, "fails": 0}
USERS = 8
STREAM, WHOLE = Wish(40), Wish(20, stream=False)
EVENT_AT = 1.0
# An engine that was ended starts again after this; an engine that hangs goes on after the load.
DOWN_FOR = 1.0
HANGS_FOR = 4.0
# How long one request may take before it counts as stuck, when the engine hangs.
PATIENCE = 6.0
LOOK_SECONDS = 0.02
# Whether an engine is in rotation again is looked at for so long.
BACK_WITHIN = 8.0
SETTLES_WITHIN = 20.0
KEEP_ALIVE = 5.0
LEAVES_AFTER = 0.3
NOTICED_WITHIN = 2.0


@dataclass
class Event:
    """What became of the requests around an event. Times are seconds after it; nan: never, or not looked for."""

    on_engine: int
    outcomes: list[Outcome]
    at: float
    back: float = float("nan")

    @property
    def lost(self) -> list[Outcome]:
        """Failed requests that had begun before."""
        return [each for each in self.outcomes if each.failure and each.started < self.at]

    @property
    def new(self) -> list[Outcome]:
        """Failed requests that began afterwards."""
        return [each for each in self.outcomes if each.failure and each.started >= self.at]

    @property
    def last_failure(self) -> float:
        """When the last request failed."""
        return max((each.ended - self.at for each in self.outcomes if each.failure), default=0.0)

    @property
    def stuck(self) -> int:
        """Requests that nobody ended."""
        return sum(each.failure == "timed out" for each in self.outcomes)


def _mixed(user: int) -> Wish:
    """Half of the users want streams."""
    return STREAM if user < USERS // 2 else WHOLE


def _under_load(target: Target, act: Callable[[], None], patience: float = 60.0) -> list[Outcome]:
    """Act while users ask."""
    loaded: list[Loaded] = []
    over = threading.Event()

    def run() -> None:
        loaded.append(load(target.ports, _mixed, USERS, over=over, patience=patience, key=target.key))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        time.sleep(EVENT_AT)
        act()
        time.sleep(EVENT_AT)
    finally:
        over.set()
        thread.join()
    return loaded[0].outcomes


def settle(stage: Stage, target: Target) -> None:
    """Wait until both engines get requests; LookupError when one gets none."""
    stage.set(**QUICK)
    until = time.monotonic() + SETTLES_WITHIN
    while time.monotonic() < until:
        load(target.ports, iter([Wish(1, stream=False)] * 4), 4, key=target.key)
        if all(stage.stats(number)["generations"] for number in (0, 1)):
            return
        time.sleep(0.2)
    raise LookupError(f"{target.name} does not send requests to both engines within {SETTLES_WITHIN:.0f} s")


def _in_rotation_after(stage: Stage, ready: float) -> float:
    """Seconds from ready until an engine gets its first request; nan when it gets none."""
    while time.monotonic() < ready + BACK_WITHIN:
        if stage.stats(0)["generations"]:
            return time.monotonic() - ready
        time.sleep(LOOK_SECONDS)
    return float("nan")


def ended(stage: Stage, target: Target, how: signal.Signals) -> Event:
    """One of two engines is ended and starts again."""
    stage.set(**QUICK)
    event = Event(0, [], 0.0)

    def act() -> None:
        event.on_engine = stage.stats(0)["running"]
        event.at = stage.signal(0, how)
        time.sleep(DOWN_FOR)
        event.back = _in_rotation_after(stage, stage.start_again(0, **QUICK))

    event.outcomes = _under_load(target, act)
    return event


def hung(stage: Stage, target: Target) -> Event:
    """One of two engines hangs, its /health too."""
    stage.set(**QUICK)
    event = Event(0, [], 0.0)

    def act() -> None:
        event.on_engine = stage.stats(0)["running"]
        event.at = stage.signal(0, signal.SIGSTOP)
        time.sleep(HANGS_FOR)

    try:
        event.outcomes = _under_load(target, act, PATIENCE)
    finally:
        stage.signal(0, signal.SIGCONT)
    return event


def drained(stage: Stage, target: Target) -> Event:
    """One of two replicas is drained and put back; `back` is when it got its first request again."""
    stage.set(**QUICK)
    event = Event(0, [], time.monotonic())

    def act() -> None:
        stage.drain(0)
        time.sleep(2.5)
        stage.set(**QUICK)
        time.sleep(0.5)
        event.on_engine = stage.stats(0)["generations"]
        stage.undrain(0)
        event.back = _in_rotation_after(stage, time.monotonic()) if not event.on_engine else 0.0

    event.outcomes = _under_load(target, act)
    return event


def keep_alive_race(stage: Stage, targets: Sequence[Target], users: int) -> dict[str, int]:
    """Failed requests that come when the engine closes the idle connections; of all targets at once."""
    stage.set(**{**QUICK, "keep_alive": KEEP_ALIVE})
    failed = {}

    def race(target: Target) -> None:
        load(target.ports, iter([Wish(1, stream=False)] * users), users, key=target.key)
        time.sleep(KEEP_ALIVE - 0.1)
        again = load(target.ports, iter([Wish(1, stream=False)] * users), users, stagger=0.2, key=target.key)
        failed[target.name] = sum(bool(outcome.failure) for outcome in again.outcomes)

    threads = [threading.Thread(target=race, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def engine_error(stage: Stage, target: Target) -> tuple[int, bool]:
    """Generations that one request made of an engine that answers 500, and whether its text came unchanged."""
    stage.set(**{**QUICK, "fails": 1})
    outcome = load(target.ports, iter([Wish(1, stream=False)]), 1, key=target.key).outcomes[0]
    generations = sum(stage.stats(number)["generations"] for number in (0, 1))
    return generations, outcome.failure == "status 500" and outcome.body == FAILURE


def left(stage: Stage, target: Target, stream: bool) -> float:
    """Seconds until an engine sees that the client has gone; nan when it does not."""
    stage.set(**QUICK)
    ask = {"model": MODEL, "messages": [{"role": "user", "content": "x"}], "max_tokens": 900, "stream": stream}
    body = json.dumps(ask).encode()
    key = f"authorization: Bearer {target.key}\r\n".encode() if target.key else b""
    head = b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n" + key
    with socket.create_connection(("127.0.0.1", target.ports[0])) as client:
        client.sendall(head + b"content-length: %d\r\n\r\n" % len(body) + body)
        time.sleep(LEAVES_AFTER)
    gone = time.monotonic()
    while time.monotonic() < gone + NOTICED_WITHIN:
        times = [at for number in (0, 1) for at in stage.stats(number)["aborted"]]
        if times:
            return max(times[0] - gone, 0.0)
        time.sleep(LOOK_SECONDS)
    return float("nan")


@dataclass
class Full:
    """More requests at once than there is room for."""

    answered: int = 0
    refused: list[float] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    peak: int = 0
    told_when: bool = False


def full(stage: Stage, target: Target, users: int) -> Full:
    """Many users ask at once; a refusal takes so many seconds from its request on."""
    stage.set(**{**QUICK, "itl": 0.02})
    found = Full()
    for outcome in load(target.ports, iter([Wish(40)] * users), users, key=target.key).outcomes:
        if not outcome.failure:
            found.answered += 1
        elif outcome.head and outcome.failure == "status 429":
            found.refused.append(outcome.ended - outcome.started)
            found.told_when = b"retry-after" in outcome.head.headers
        else:
            found.others.append(outcome.failure)
    found.peak = max(stage.stats(number)["peak"] for number in range(len(ENGINE_PORTS)))
    return found
