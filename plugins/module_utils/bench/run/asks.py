# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests of a round: each with a prompt that no other request of the run has. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.prompts import (
    messages_for,
    nonce_text,
    prompt_text,
    turns_for,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.ask import Ask
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.body import (
    body_of,
    path_of,
    requested_tokens,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.poisson import due_times

Message = Mapping[str, str]


class Asks:
    """Makes the requests of one round.

    :param spec: the round
    :param case: its case
    :param model: the name that the target serves
    :param run: ``nonce`` and ``seed`` of the run
    :param words: filler words of each prompt; None when the case has no size
    :param continuous_usage: whether the server is asked for the count of tokens with each piece
    """

    def __init__(
        self,
        spec: Mapping[str, Any],
        case: Mapping[str, Any],
        model: str,
        run: Mapping[str, Any],
        words: int | None,
        *,
        continuous_usage: bool = False,
    ) -> None:
        self._spec, self._case, self._model, self._run, self._words = spec, case, model, run, words
        self._continuous_usage = continuous_usage

    def ask(self, number: int, messages: list[Message], due: float | None = None) -> Ask:
        """One request with these messages."""
        endpoint = self._spec["endpoint"]
        plain = endpoint == "completions"
        body = body_of(
            endpoint,
            self._model,
            messages=None if plain else messages,
            prompt=prompt_text(messages) if plain else None,
            output=self._case["output"],
            stream=self._spec["stream"],
            continuous_usage=self._continuous_usage,
        )
        wanted = requested_tokens(self._case["output"])
        return Ask(number, path_of(endpoint), body, endpoint, self._spec["stream"], wanted, due)

    def singles(self, rate: float | None) -> Iterator[Ask]:
        """Requests that know nothing of each other. As many as the load names are made at once, not while it runs.

        :param rate: requests per second of an open load; None for others, whose requests never end
        """
        number = self._spec["load"]["requests"]
        if rate is not None:
            times = due_times(rate, number, f"{self._run['seed']} {self._spec['id']}")
            yield from [self._single(place, due) for place, due in enumerate(times)]
            return
        yield from [self._single(place) for place in range(number)]
        while True:
            yield self._single(number)
            number += 1

    def _single(self, number: int, due: float | None = None) -> Ask:
        return self.ask(number, messages_for(self._case, number, self.nonce(number), self._words), due)

    def nonce(self, number: int) -> str:
        """What makes a prompt another than all others: the run, the round and the number are in it."""
        return nonce_text(f"{self._run['nonce']}-{self._spec['id']}-{number}")

    @property
    def is_talk(self) -> bool:
        """Whether the case is a conversation, in which each request needs the answer to the one before."""
        return len(self.turns(0)) > 1

    def turns(self, number: int) -> list[list[Message]]:
        """What a user says in a conversation, turn by turn."""
        return [list(turn) for turn in turns_for(self._case, number, self.nonce(number), self._words)]


class Talks:
    """Conversations, one at a time for each user: each turn is sent with all that was said before."""

    def __init__(self, asks: Asks) -> None:
        self._asks = asks
        self._begun = 0
        self._sent = 0
        self._said: dict[int, list[Message]] = {}
        self._to_come: dict[int, list[list[Message]]] = {}
        self._users: dict[int, int] = {}

    def next(self, user: int) -> Ask:
        """The next request of a user: the next turn, or the first one of another conversation."""
        if not self._to_come.get(user):
            self._to_come[user], self._said[user] = self._asks.turns(self._begun), []
            self._begun += 1
        self._said[user] += self._to_come[user].pop(0)
        number = self._sent
        self._sent += 1
        self._users[number] = user
        return self._asks.ask(number, list(self._said[user]))

    def heard(self, ask: Ask, text: str) -> None:
        """Take an answer into its conversation, which ends when there is none."""
        user = self._users.pop(ask.id)
        if text:
            self._said[user] = [*self._said[user], {"role": "assistant", "content": text}]
        else:
            self._to_come[user] = []
