# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``benchmark``: follows the run on its client host, and writes each finished round at once."""

from __future__ import annotations

import contextlib
import hashlib
import time
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display

from ansible_collections.dgxspark.serving.plugins.module_utils.background.status import RUNNING
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import words
from ansible_collections.dgxspark.serving.plugins.plugin_utils.interrupted import Interrupted, interruptible
from ansible_collections.dgxspark.serving.plugins.plugin_utils.round_files import CannotWrite, RoundFiles, again
from ansible_collections.dgxspark.serving.plugins.plugin_utils.shown import show

MODULE = "dgxspark.serving.benchmark"
# Seconds that a question waits on the host; with the way there and back a line comes every 5 s at least.
WAIT = 3.0
# Seconds for which a host that cannot be reached is asked again: the run goes on there without us.
PATIENCE = 600.0
PAUSE = 5.0


class ActionModule(ActionBase):
    """Starts the run, asks until all rounds are here, and ends it, also when it is interrupted."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        _validation, options = self.validate_argument_spec(
            argument_spec={
                "order": {"type": "dict", "required": True},
                "results": {"type": "path", "required": True},
                "resume": {"type": "bool", "default": False},
                "self_test": {"type": "bool", "default": True},
            }
        )
        order, files = options["order"], RoundFiles(options["results"])
        if self._task.check_mode:
            # What a skipped task says is not on the screen.
            show([_would(order)])
            return {**result, "changed": False, "skipped": True, "msg": _would(order)}
        try:
            files.open(options["resume"])
            tests = options["self_test"] and files.self_test is None
            answer = self._follow({"order": order, "self_test": tests}, files, task_vars or {})
        except CannotWrite as error:
            failed = {"failed": True, "msg": str(error), "failure": str(error), "changed": False}
            return {**result, **failed, **files.totals(), "folder": str(files.folder)}
        more = {"folder": str(files.folder), "self_test": files.self_test}
        return {**result, **answer, **files.totals(), "changed": False, **more}

    def _follow(self, wishes: dict[str, Any], files: RoundFiles, task_vars: dict[str, Any]) -> dict[str, Any]:
        """Ask until the run has ended and all its rounds are here.

        :param wishes: ``order``, and whether a ``self_test`` is to be made
        """
        order = wishes["order"]
        host = task_vars.get("inventory_hostname", "localhost")
        common = {"job_id": _job_id(order), "job_wait": WAIT}
        first = {**wishes, "known": files.known, "have": files.held}
        with interruptible():
            try:
                answer = self._ask(host, {**common, **first}, task_vars)
                while True:
                    self._take(answer, order, files)
                    job = answer.get("job") or {}
                    if job.get("state") != RUNNING and not answer.get("left"):
                        break
                    Display().display(f"{host}: {job.get('text') or 'beginning'}")
                    answer = self._ask(host, {**common, "job_stage": "poll", "have": files.ids}, task_vars)
            except Interrupted:
                Display().display(f"{host}: ending the load; {_kept(files)}")
                self._take(self._stop({**common, "order": order}, files, task_vars), order, files)
                raise
            except AnsibleConnectionFailure:
                Display().display(f"{host}: no connection for too long; {_kept(files)}")
                raise
            except CannotWrite:
                # The load ends; what is not here stays on the host for a day.
                self._stop(common, files, task_vars)
                raise
            # All of it is here; a worker that does not hear of its end ends by itself.
            with contextlib.suppress(AnsibleConnectionFailure):
                self._stop(common, files, task_vars)
        return _ended(answer)

    def _ask(self, host: str, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Call the module; a host that cannot be reached for a while is asked again."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                answer: dict[str, Any] = self._execute_module(
                    module_name=MODULE, module_args=arguments, task_vars=task_vars
                )
                return answer
            except AnsibleConnectionFailure as error:
                if time.monotonic() > until or arguments.get("job_stage") != "poll":
                    raise
                Display().display(f"{host}: no connection ({error}); the run goes on there. Asking again.")
                time.sleep(PAUSE)

    def _stop(self, common: dict[str, Any], files: RoundFiles, task_vars: dict[str, Any]) -> dict[str, Any]:
        arguments = {**common, "job_stage": "stop", "job_wait": 0, "have": files.ids}
        answer: dict[str, Any] = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        return answer

    @staticmethod
    def _take(answer: dict[str, Any], order: dict[str, Any], files: RoundFiles) -> None:
        """Write the rounds of an answer, and show a line of each."""
        places = {spec["id"]: place for place, spec in enumerate(order["rounds"], 1)}
        for round_id, packed in sorted((answer.get("rounds") or {}).items()):
            one = files.write(round_id, packed)
            title = words.round_words(places.get(round_id, len(files.ids)), len(places), one)
            Display().display(f"{title}: {words.ended(one)}")
        files.keep_self_test(answer.get("self_test"))


def _job_id(order: dict[str, Any]) -> str:
    """The same run has the same id, so that it is found again by a controller that was away."""
    return f"benchmark-{hashlib.sha256(str(order['run']['id']).encode()).hexdigest()[:16]}"


def _would(order: dict[str, Any]) -> str:
    names = ", ".join(target["name"] for target in order["targets"])
    points = len({spec["point"] for spec in order["rounds"]})
    return f"Would play {len(order['rounds'])} rounds of {points} points against {names}; check mode measures nothing."


def _kept(files: RoundFiles) -> str:
    return ", ".join(filter(None, (f"the finished rounds are kept in {files.path}", again(files.folder))))


def _ended(answer: dict[str, Any]) -> dict[str, Any]:
    """What the last answer says, without the rounds themselves."""
    failure = answer.get("failure") or (answer.get("msg", "") if answer.get("failed") else "")
    kept = {key: value for key, value in answer.items() if key not in ("rounds", "left", "self_test", "invocation")}
    return {**kept, "failure": failure, **({"failed": True, "msg": failure} if failure else {})}
