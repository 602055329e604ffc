# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole run on its client host: one round after the other, each kept at once. An edge: it makes load and files."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.background.work import (
    FORGOTTEN,
    Progress,
    WorkFailed,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.self_test import self_test
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import ladder, priority, sequence, words
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.doors import Door, doors
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.fit import Fit
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.kept import Kept, NotKept
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.laid import laid_keys, remove
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.look import look
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.round import play_round, skipped
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run.tokens import fit_case
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError


class Run:
    """One run.

    :param order: what is to be played
    :param known: what :func:`sequence.known_of` gave of the rounds that the controller holds
    :param tests_client: whether the client measures a server of known truth first
    """

    def __init__(
        self,
        order: Mapping[str, Any],
        known: Iterable[Mapping[str, Any]],
        kept: Kept,
        progress: Progress,
        *,
        tests_client: bool = False,
    ) -> None:
        # What was sent before an interruption is in the engine's cache: each start has prompts of its own, as long.
        run = {**order["run"], "nonce": f"{order['run']['nonce']}-{secrets.token_hex(4)}"}
        self._order: Mapping[str, Any] = {**order, "run": run}
        self._kept, self._progress = kept, progress
        self._tests_client = tests_client
        self._known = sequence.held(known)
        self._cases = {case["name"]: case for case in order["cases"]}
        self._doors: dict[str, Door] = {}
        self._fits: dict[tuple[str, str, str], Fit] = {}
        self._done: list[dict[str, Any]] = []
        self._dead = sequence.DeadTargets()

    def work(self) -> dict[str, Any]:
        """Play all that is not held yet.

        :raises WorkFailed: the order or a target is not as it has to be
        :returns: numbers of ``played`` and ``skipped_rounds``, and the ``failure`` that ended it early, if any
        """
        priority.come_first()
        todo = self._begin()
        failure = ""
        try:
            for place, spec in enumerate(todo):
                self._keep(self._one(spec, todo[place:]))
        except NotKept as error:
            failure = str(error)
        skips = sum(bool(one["skipped"]) for one in self._done)
        return {"played": len(self._done) - skips, "skipped_rounds": skips, "failure": failure}

    def _begin(self) -> Sequence[Mapping[str, Any]]:
        """Take up what an earlier worker left here, and look at the targets of what is left before any load."""
        try:
            self._kept.make()
        except OSError as error:
            raise WorkFailed(f"{self._kept.path} cannot be made: {error.strerror or error}.") from error
        self._take_up()
        todo = sequence.rest(self._order["rounds"], [one["id"] for one in self._known])
        needed = {spec["target"] for spec in todo}
        used = {**self._order, "targets": [one for one in self._order["targets"] if one["name"] in needed]}
        self._doors, faults = doors(used)
        # Nobody else reads it, and who is interrupted cannot remove it.
        remove(laid_keys(self._order))
        if not faults:
            self._tell(f"looking at {', '.join(self._doors)}")
            faults = look(list(self._doors.values()), used)
        if faults:
            raise WorkFailed(str(ConfigurationError(faults)))
        if todo and self._tests_client and self._kept.self_test() is None:
            self._tell("testing the client")
            self._kept.keep_self_test(self_test())
        return todo

    def _take_up(self) -> None:
        """Know the rounds that lie here, but for those that are to be played again."""
        fresh = sequence.held(sequence.known_of(one) for one in self._kept.read())
        whole = {one["id"] for one in fresh}
        self._kept.drop(round_id for round_id in self._kept.ids() if round_id not in whole)
        self._known = [*[one for one in self._known if one["id"] not in whole], *fresh]

    def _one(self, spec: Mapping[str, Any], rest: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Play a round, or say why not."""
        seen = [*self._known, *self._done]
        limit = self._order["goodput"].get("ttft_ms")
        why, kind = sequence.skip(spec, seen, self._dead, limit)
        if why:
            return skipped(spec, why, kind)
        if spec["load"]["model"] == "open":
            rate, _why = ladder.open_rate(spec, seen, limit)
            spec = {**spec, "load": {**spec["load"], "rate": rate}}
        total = len(self._order["rounds"])
        title = words.round_words(total - len(rest) + 1, total, spec)
        left = words.time_left(rest, seen)
        self._tell(_joined(title, words.left_words(left)))
        case, door = self._cases[spec["case"]], self._doors[spec["target"]]
        fit = self._fit(door, case, spec["endpoint"])

        def told(done: int, _in_flight: int, failed: int, seconds: float, tokens: int | None = None) -> None:
            if tokens is None and case["output"]["mode"] == "fixed":
                tokens = (done - failed) * case["output"]["tokens"]
            to_go = words.left_words(None if left is None else max(0.0, left - seconds))
            self._tell(_joined(f"{title}: {words.under_way(spec, done, failed, tokens, seconds)}", to_go))

        one = play_round(self._order, spec, case, door, fit, told, lambda text: self._tell(f"{title}: {text}"))
        self._dead.saw({**one, "succeeded": sequence.known_of(one)["succeeded"]})
        return {**one, "prompt_fit": {"words": fit.words, "tokens": fit.tokens}}

    def _fit(self, door: Door, case: Mapping[str, Any], endpoint: str) -> Fit:
        """How much filler the case needs here; asked once."""
        key = (door.name, case["name"], endpoint)
        if key not in self._fits:
            self._fits[key] = fit_case(door, case, endpoint, f"{self._order['run']['nonce']}-size")
        return self._fits[key]

    def _keep(self, one: dict[str, Any]) -> None:
        self._kept.write(one)
        self._done.append(sequence.known_of(one))

    def _tell(self, text: str) -> None:
        # How far it is may go unsaid; a disk that is full for a round is named by the round.
        with contextlib.suppress(OSError):
            self._progress.tell(0, 0, text)


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def work(
    order: Mapping[str, Any],
    known: Iterable[Mapping[str, Any]],
    kept: Kept,
    progress: Progress,
    *,
    tests_client: bool = False,
) -> dict[str, Any]:
    """Play a run, then wait until the controller has fetched all of it and ends this process.

    When nobody asks for a quarter of an hour it ends by itself; the rounds stay where they are then.
    """
    result = Run(order, known, kept, progress, tests_client=tests_client).work()
    progress.finish(result)
    while kept.silent() < FORGOTTEN:
        time.sleep(10)
    return result
