# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has been seen of one answer so far. Pure."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.deltas import Delta
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.said import Said


class Tally:
    """Counts, stamps and failures of one answer.

    :ivar said: puts its words into the record
    :ivar t_event: when its first event came, of whatever kind
    :ivar t_first: when its first token came, `t_output` its first one that is not reasoning, `t_last` its last one
    :ivar seen: a token came
    :ivar done: the stream's end mark came
    :ivar whole: it came in one piece
    :ivar known: something in it has the form of the endpoint
    :ivar foreign: begin of what has not
    """

    def __init__(self, said: Said) -> None:
        self.said = said
        self.t_event: float | None = None
        self.t_first: float | None = None
        self.t_output: float | None = None
        self.t_last: float | None = None
        self.seen = self.done = self.whole = self.known = False
        self.foreign = ""
        self.finish: str | None = None
        self.completion: int | None = None
        self.first_chunk_tokens = 1
        self._stamps = array("d")
        # Those of them that showed nothing, and when the answer ended with a text that is empty.
        self._empty: set[int] = set()
        self._t_end: float | None = None
        # What the server had counted with the last piece, where it counts as it goes.
        self._by_last: int | None = None
        self._parts: list[str] = []
        self._usage: Mapping[str, Any] = {}
        self._failure: tuple[str, str, int | None] | None = None

    @property
    def chunks(self) -> int:
        """Number of pieces that brought tokens."""
        return len(self._stamps)

    @property
    def failed(self) -> bool:
        """Something is wrong with it."""
        return self._failure is not None

    def fail(self, kind: str, message: str, status: int | None = None) -> None:
        """Keep the first failure: what follows from it says less."""
        if self._failure is None:
            self._failure = (kind, message, status)

    def error(self, status: int | None) -> dict[str, Any] | None:
        """The failure as a record has it; ``status`` is that of the reply, where the failure has none of its own."""
        if self._failure is None:
            return None
        kind, message, own = self._failure
        return {"kind": kind, "status": status if own is None else own, "message": message}

    def token(self, found: Delta, stamp: float) -> None:
        """Count a piece with tokens, or one whose token shows nothing: a special one, or part of a character.

        Such a one with the end of the answer in it is no piece, but the answer's end: `settle` says what it brought.
        """
        if not found.brings_token:
            if found.finish:
                self._t_end = stamp
                return
            self._empty.add(len(self._stamps))
        self.t_last = stamp
        self._by_last = self.completion
        self.seen = True
        if self.t_first is None:
            self.t_first = stamp
        if found.text and self.t_output is None:
            self.t_output = stamp
        self._parts += (found.reasoning, found.text)
        self._stamps.append(stamp)

    def settle(self) -> None:
        """Say, once all has come, which of the empty texts were tokens: only the server's count can tell.

        With more pieces than it counted tokens the empty ones are no tokens: a gateway keeps its connection alive with
        them. With fewer, an empty text at the end is the last token, as the one that says stop; else it is the end
        alone, and when that came says nothing of the tokens.
        """
        if self.completion is None:
            return
        if self._empty and len(self._stamps) > self.completion:
            self._stamps = array("d", (at for n, at in enumerate(self._stamps) if n not in self._empty))
            self.t_last = self._stamps[-1]
        more = len(self._stamps) < self.completion and self._by_last != self.completion
        if self._t_end is not None and self.t_last is not None and more:
            self.t_last = max(self.t_last, self._t_end)

    def usage(self, usage: Mapping[str, Any], *, first: bool) -> None:
        """Take the server's own counts; with the first token they say how many tokens came with it."""
        self._usage = usage
        # No tokens although some were seen is no count.
        self.completion = _count(usage.get("completion_tokens")) or None
        if first and self.completion:
            self.first_chunk_tokens = self.completion

    def tokens(self) -> dict[str, int | None]:
        """Counts of tokens, as a record has them."""
        return {
            "prompt": _count(self._usage.get("prompt_tokens")),
            "completion": self.completion,
            "reasoning": _detail(self._usage, "completion_tokens_details", "reasoning_tokens"),
            "cached": _detail(self._usage, "prompt_tokens_details", "cached_tokens"),
        }

    def tpot_ms(self) -> float | None:
        """Time per token after the first piece; None where that cannot be known."""
        if self.completion is None or self.t_first is None or self.t_last is None:
            return None
        tokens = self.completion - self.first_chunk_tokens
        seconds = self.t_last - self.t_first
        return round(seconds * 1000.0 / tokens, 3) if tokens > 0 and seconds > 0 else None

    def gaps_ms(self) -> list[float]:
        """Times between pieces with tokens."""
        return [round((later - earlier) * 1000.0, 3) for earlier, later in pairwise(self._stamps)]

    def text(self) -> str:
        """All that was said, reasoning included."""
        return whole_characters("".join(self._parts))


def whole_characters(text: str) -> str:
    """Join characters that came in two halves, and replace a half that stayed alone: it could not be written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _detail(usage: Mapping[str, Any], group: str, name: str) -> int | None:
    details = usage.get(group)
    return _count(details.get(name)) if isinstance(details, dict) else None
