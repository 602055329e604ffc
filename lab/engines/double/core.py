# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine: requests wait, run in steps of one token each, and every step needs all ranks."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from .faults import Faults
from .log import log
from .metrics import Metrics
from .text import NATURAL_LENGTH, answer

COMPILER_ERROR = (
    "torch._inductor.exc.InductorError: InvalidCxxCompiler: No working C++ compiler found in CXX: (None, 'g++')"
)
SLOWEST = 0.001  # tokens per second
DEAD = "EngineCore encountered an issue. See stack trace (above) for the root cause."


class RankLost(Exception):
    """Another rank is gone or does not answer in the time that was set; the text is what vLLM would log."""


class RankGroup(Protocol):
    """The ranks that take part in every step."""

    async def step(self, more: bool) -> None:
        """Exchange a message with every other rank; `more` says that another step follows. Raises RankLost."""


class EngineError(Exception):
    """A generation failed on the server's side; the text goes to the client."""


@dataclass(frozen=True)
class Tokens:
    """What one step made for one generation; `finish` is set in the last one."""

    text: str
    count: int
    finish: str | None


class Generation:
    """One sequence on its way through the engine."""

    def __init__(self, prompt: str, prompt_tokens: int, max_tokens: int, ignore_eos: bool = False) -> None:
        self.prompt_tokens = prompt_tokens
        self.made = 0
        self.finish: str | None = None
        self.began = time.monotonic()
        self.last_at = self.began
        self.events: asyncio.Queue[Tokens | EngineError] = asyncio.Queue()
        ends_itself = not ignore_eos and max_tokens > NATURAL_LENGTH
        self._target = NATURAL_LENGTH if ends_itself else max_tokens
        self._reason = "stop" if ends_itself else "length"
        self._words = answer(prompt)

    @property
    def left(self) -> int:
        """How many tokens are still to be made."""
        return self._target - self.made

    def advance(self, most: int) -> Tokens:
        """Make up to `most` tokens."""
        count = min(most, self.left)
        self.made += count
        if self.left <= 0:
            self.finish = self._reason
        return Tokens("".join(next(self._words) for _index in range(count)), count, self.finish)


class EngineCore:
    """Runs generations until it dies."""

    def __init__(
        self, group: RankGroup, faults: Faults, metrics: Metrics, most_running: int, tokens_per_second: float
    ) -> None:
        """`tokens_per_second` is per generation; 0 means as fast as it goes."""
        self._group = group
        self._faults = faults
        self._metrics = metrics
        self._most_running = most_running
        self._rate = tokens_per_second
        self._waiting: deque[Generation] = deque()
        self._running: list[Generation] = []
        self._work = asyncio.Event()
        self.dead = asyncio.Event()

    def check(self) -> None:
        """Raise EngineError when no generation can start."""
        if self.dead.is_set():
            raise EngineError(DEAD)
        if self._faults.take("generation-500"):
            log(COMPILER_ERROR, "core.py:1", "ERROR", "EngineCore")
            raise EngineError(COMPILER_ERROR)

    async def generate(self, generation: Generation) -> AsyncIterator[Tokens]:
        """Yield what the steps make of a generation; leaving the loop early aborts it. Raises EngineError."""
        if self.dead.is_set():
            raise EngineError(DEAD)
        self._waiting.append(generation)
        self._count()
        self._work.set()
        try:
            while generation.finish is None or not generation.events.empty():
                event = await generation.events.get()
                if isinstance(event, EngineError):
                    generation.finish = "error"
                    raise event
                yield event
        finally:
            self._leave(generation)

    def die(self, reason: str) -> None:
        """End everything that runs with an error; new requests fail at once."""
        if self.dead.is_set():
            return
        log(reason, "core.py:1", "ERROR", "EngineCore")
        self.dead.set()
        for generation in [*self._running, *self._waiting]:
            generation.events.put_nowait(EngineError(DEAD))

    async def run(self) -> None:
        """Make steps while there is work, until the engine dies."""
        next_at = 0.0
        while not self.dead.is_set():
            if not self._running and not self._waiting:
                self._work.clear()
                await self._work.wait()
                continue
            if self._faults.on("hang"):
                self._admit()
                await self._faults.change()
                continue
            self._admit()
            try:
                await self._group.step(more=self._more_to_come())
            except RankLost as error:
                self.die(str(error))
                return
            self._advance()
            slow = self._faults.get("slow-tokens")
            if slow:
                # Not a sleep: clearing the fault ends it.
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._faults.change(), 1 / max(slow["tokens_per_second"], SLOWEST))
                continue
            now = time.monotonic()
            next_at = max(now, next_at + 1 / self._rate) if self._rate > 0 else now
            await asyncio.sleep(next_at - now)

    def _admit(self) -> None:
        while self._waiting and len(self._running) < self._most_running:
            generation = self._waiting.popleft()
            self._metrics.prompt_tokens += generation.prompt_tokens
            self._metrics.queue.observe(time.monotonic() - generation.began)
            self._running.append(generation)
        self._count()

    def _most_per_step(self) -> int:
        several = self._faults.get("tokens-per-chunk")
        return several["count"] if several else 1

    def _more_to_come(self) -> bool:
        most = self._most_per_step()
        return bool(self._waiting) or any(generation.left > most for generation in self._running)

    def _advance(self) -> None:
        most = self._most_per_step()
        now = time.monotonic()
        for generation in self._running:
            first = generation.made == 0
            tokens = generation.advance(most)
            self._metrics.generation_tokens += tokens.count
            series = self._metrics.first_token if first else self._metrics.between_tokens
            series.observe(now - generation.last_at)
            generation.last_at = now
            generation.events.put_nowait(tokens)
        self._running = [generation for generation in self._running if generation.finish is None]
        self._count()

    def _leave(self, generation: Generation) -> None:
        """Count a generation out, whichever way it ended."""
        if generation.finish is None:
            generation.finish = "abort"
        self._metrics.finished[generation.finish] += 1
        self._metrics.whole_request.observe(time.monotonic() - generation.began)
        if generation in self._running:
            self._running.remove(generation)
        if generation in self._waiting:
            self._waiting.remove(generation)
        self._count()

    def _count(self) -> None:
        self._metrics.running = len(self._running)
        self._metrics.waiting = len(self._waiting)
