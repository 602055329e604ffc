#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put a new rank in the place of what runs on a host, keep it, or bring back what was."""

from __future__ import annotations

DOCUMENTATION = r"""
module: replica_change
short_description: Put a new rank in the place of what runs on a host, and bring that back if it fails
version_added: 0.1.0
description:
  - A change is V(begun), then V(committed) or V(reverted); in between M(dgxspark.serving.replica_ready) starts the new
    rank. What it does is written to a journal on the host first, so that a change that was interrupted at any point can
    be taken back.
  - The host does that by itself when it has no sign of the run for O(lease) seconds, or when it was rebooted meanwhile.
  - A lock keeps two runs from changing a host at the same time.
  - When only limits or the supervisor are of another version, the running engine is not touched.
  - While an engine stops the controller says so every few seconds, also without C(-v).
  - Needs root on the host.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  state:
    description:
      - V(begun) takes the lock, stops the ranks that make room and keeps their containers under another name. The
        container of the new rank is made after that.
      - V(committed) removes what made room.
      - V(reverted) removes the new rank and brings back what was.
      - V(absent) removes ranks, those of O(deployment) or all.
    type: str
    choices: [begun, committed, reverted, absent]
    required: true
  rank:
    description: The host's rank as RV(dgxspark.serving.plan#module:ranks) has it. Needed unless O(state=absent).
    type: dict
  limits:
    description: The supervisor's limits, with O(state=begun).
    type: dict
    default: {}
  replace:
    description: With O(state=begun), make the container anew also when it is as wanted, since another rank's is.
    type: bool
    default: false
  deployment:
    description: With O(state=absent), only ranks of this deployment; all when empty.
    type: str
    default: ""
  purge:
    description: With O(state=absent), remove saved evidence, and once no rank is left the supervisor and its records.
    type: bool
    default: false
  lease:
    description: Seconds without a sign of the run after which it counts as dead.
    type: int
    default: 180
  window:
    description:
      - Seconds after which a call returns although an engine has not stopped yet, so that progress can be shown.
      - The controller then calls again.
    type: int
    default: 8
  run:
    description: Id of the run. The controller fills it in, as all that follow.
    type: str
    default: ""
  by:
    description: Who runs it, C(user@controller).
    type: str
    default: ""
  pid:
    description: Its process id on the controller.
    type: int
    default: 0
  force_lock:
    description: Id of another run that has certainly ended; its lock is taken over at once.
    type: str
    default: ""
  program:
    description: The supervisor as a zip application, in Base64.
    type: str
    default: ""
  ray_rank:
    description: The program that starts Ray inside a rank's container.
    type: str
    default: ""
  unit:
    description: The systemd unit of all ranks.
    type: str
    default: ""
attributes:
  check_mode:
    description: Can run in check mode.
    support: full
  diff_mode:
    description: Returns what would change.
    support: partial
    details: Of the unit, of what the supervisor is told, and which containers make room, with O(state=begun).
"""

EXAMPLES = r"""
- name: Make room for the new rank
  dgxspark.serving.replica_change:
    state: begun
    rank: "{{ plan.ranks[inventory_hostname] }}"
    limits: "{{ limits }}"
  become: true

- name: Keep it
  dgxspark.serving.replica_change:
    state: committed
    rank: "{{ plan.ranks[inventory_hostname] }}"
  become: true
"""

RETURN = r"""
pending:
  description: Whether something is still waited for; the controller calls again then.
  returned: always
  type: bool
words:
  description: What is waited for, or what was done.
  returned: always
  type: str
run:
  description: Id of the run, by which M(dgxspark.serving.replica_ready) gives signs of life.
  returned: always
  type: str
displaced:
  description: Names of our containers that make room.
  returned: with O(state=begun)
  type: list
  elements: str
came_back:
  description: The engine that runs again, if it is one with an API.
  returned: with O(state=reverted)
  type: dict
  contains:
    container:
      description: Name of its container.
      type: str
    api:
      description: Base URL of its API as the host itself reaches it.
      type: str
    key_file:
      description: File with the key that it asks for; empty when it asks for none.
      type: str
lock:
  description: The lock of another run.
  returned: when the host is locked
  type: dict
"""

import base64
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import containers, rank_state
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import change, journal, lease, lock
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Host, Refused


class Work:
    """One call of the module.

    :ivar name: the new rank's container; empty with state absent
    """

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.params = module.params
        self.run: str = module.params["run"]
        self.host = Host()
        self.docker = Docker(module)
        self.end = time.monotonic() + module.params["window"]
        self.name: str = (module.params["rank"] or {}).get("container", {}).get("name", "")

    def begun(self) -> None:
        self._lock()
        self._settle()
        left = journal.read(self.host.paths)
        if left is not None and not self.module.check_mode:
            displaced = [rank.name for rank in left.displaced if not rank.keep_running]
            self._wait(lambda: change.begin(self.host, self._request(), ()), displaced=displaced)
            self._done(True, "", displaced=displaced)
        state = self._look()
        leaving = [one.name for one in state.present if not one.keep_running]
        result = {"displaced": leaving, "diff": self._diff(leaving)}
        if not state.reasons and not self.params["replace"]:
            self._done(False, "", **result)
        if self.module.check_mode:
            self._done(True, "; ".join(state.reasons), **result)
        if not state.replace and state.present and not leaving:
            if change.write_files(self.host, self._request()):
                self.host.reload_unit(self.name)
            self.host.enable(self.name, True)
            self._done(True, "; ".join(state.reasons), **result)
        self._wait(lambda: change.begin(self.host, self._request(), state.present), **result)
        self._done(True, "; ".join(state.reasons), **result)

    def committed(self) -> None:
        if self.module.check_mode:
            self._done(False, "")
        self._done(change.commit(self.host, self.run), "")

    def reverted(self) -> None:
        left = journal.read(self.host.paths)
        if self.module.check_mode or left is None or left.run != self.run:
            if not self.module.check_mode:
                lock.release(self.host.paths, self.run)
            self._done(False, "Nothing of this change is on the host.", came_back={})
        lease.renew(self.run, self.params["lease"])
        back = [rank for rank in left.displaced if rank.was_active or rank.was_running]
        apis = {container.id: container.api for container in self.docker.containers()}
        serving = [rank for rank in back if apis.get(rank.id)]
        came_back = {"container": serving[0].name, "api": apis[serving[0].id]} if serving else {}
        self._wait(lambda: change.revert(self.host), came_back=came_back)
        if serving:
            # Its own spec is back in its place only now.
            spec = self.host.read_json(self.host.paths.spec(serving[0].name)) or {}
            came_back["key_file"] = spec.get("key_file", "")
        names = ", ".join(rank.name for rank in back)
        words = f"{names} was started again." if names else "Nothing ran here before, and nothing runs here now."
        self._done(True, words, came_back=came_back)

    def absent(self) -> None:
        self._lock()
        self._settle()
        deployment, purge = self.params["deployment"], self.params["purge"]
        ours = [container for container in self.docker.containers() if container.is_ours]
        ranks = {one.name: one.id for one in ours if deployment in ("", one.deployment)}
        for path in self.host.paths.specs.glob("*.json"):
            if deployment in ("", (self.host.read_json(path) or {}).get("deployment")):
                ranks.setdefault(path.stem, "")
        last = purge and {one.name for one in ours} <= set(ranks)
        changed = bool(ranks) or bool(last and change.shared_paths(self.host))
        if not self.module.check_mode:
            timeout = change.STOP_TIMEOUT
            self._wait(lambda: change.remove(self.host, ranks.items(), timeout, purge))
            lock.release(self.host.paths, self.run)
            if last:
                change.remove_shared(self.host)
        self._done(changed, f"removed {', '.join(sorted(ranks))}" if ranks else "there was nothing to remove")

    def _lock(self) -> None:
        """Take the lock, or end the module."""
        now = time.time()
        wanted = lock.Lock(self.run, self.params["by"], self.params["pid"], now, now)
        seconds, dead = self.params["lease"], self.params["force_lock"]
        left = journal.read(self.host.paths)
        held = lock.read(self.host.paths)
        lives = left is not None and held is not None and left.run == held.run and not change.expired(self.host)
        if self.module.check_mode:
            found, verdict = held, lock.judge(held, self.run, now, seconds, dead, lives)
        else:
            verdict, found = lock.take(self.host.paths, wanted, seconds, dead, lives)
        if verdict == lock.HELD and found is not None:
            self.module.fail_json(msg=lock.words(found, now, seconds), lock=asdict(found))
        if not self.module.check_mode:
            lease.renew(self.run, seconds)

    def _settle(self) -> None:
        """Take back what another run has left here; it is dead, or its lock would not be ours."""
        left = journal.read(self.host.paths)
        if left is None or (left.run == self.run and self.params["state"] == "begun" and left.phase == journal.BEGUN):
            return
        if not self.module.check_mode:
            self._wait(lambda: change.revert(self.host))
            # The lock of the other run went with its change.
            self._lock()

    def _look(self) -> rank_state.RankState:
        found = self.docker.containers()
        status = containers.strange(found, self.name)
        if status:
            raise Refused(
                f"found a container {self.name} ({status}) that dgxspark.serving did not make, wanted that name free. "
                f"It is left as it is. Rename it with: docker rename {self.name} NEW_NAME"
            )
        image = self.docker.image(self.params["rank"]["container"]["image"])
        digests = {
            "program": rank_state.sha256(base64.b64decode(self.params["program"])),
            "ray_rank": rank_state.sha256(self.params["ray_rank"].encode()),
            "unit": rank_state.sha256(self.params["unit"].encode()),
        }
        wanted, limits, replace = (self.params[name] for name in ("rank", "limits", "replace"))
        return rank_state.look(self.host, wanted, limits, found, image.id if image else "", digests, replace)

    def _spec(self) -> bytes:
        return change.spec_text(rank_state.supervision(self.params["rank"], self.params["limits"]))

    def _request(self) -> change.Request:
        return change.Request(
            run=self.run,
            by=self.params["by"],
            lease=self.params["lease"],
            new=self.name,
            files=change.Files(
                program=base64.b64decode(self.params["program"]),
                ray_rank=self.params["ray_rank"].encode(),
                unit=self.params["unit"].encode(),
                spec=self._spec(),
            ),
            stop_timeout=float(self.params["limits"].get("stop_timeout", change.STOP_TIMEOUT)),
        )

    def _diff(self, leaving: list[str]) -> list[dict[str, str]]:
        """The files a reader understands, and what makes room."""
        paths = self.host.paths
        spec, unit = paths.spec(self.name), paths.unit
        diffs = []
        for path, after in ((spec, self._spec()), (unit, self.params["unit"].encode())):
            before = self.host.read(path) or b""
            if before != after:
                header = str(path)
                text = {"before": before.decode(errors="replace"), "after": after.decode()}
                diffs.append({"before_header": header, "after_header": header, **text})
        if leaving:
            before = json.dumps({"containers": leaving}, indent=2) + "\n"
            after = json.dumps({"containers": [self.name]}, indent=2) + "\n"
            diffs.append({"before_header": "ranks", "after_header": "ranks", "before": before, "after": after})
        return diffs

    def _wait(self, step: Callable[[], str], **result: Any) -> None:
        """Repeat a step until it waits for nothing; ends the module when its window is over first."""
        while words := step():
            if time.monotonic() >= self.end:
                self.module.exit_json(changed=True, pending=True, words=words, run=self.run, **result)
            time.sleep(change.PAUSE)

    def _done(self, changed: bool, words: str, **result: Any) -> None:
        self.module.exit_json(changed=changed, pending=False, words=words, run=self.run, **result)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {
                "type": "str",
                "choices": ["begun", "committed", "reverted", "absent"],
                "required": True,
            },
            "rank": {"type": "dict"},
            "limits": {"type": "dict", "default": {}},
            "replace": {"type": "bool", "default": False},
            "deployment": {"type": "str", "default": ""},
            "purge": {"type": "bool", "default": False},
            "lease": {"type": "int", "default": lock.DEFAULT_LEASE},
            "window": {"type": "int", "default": 8},
            "run": {"type": "str", "default": ""},
            "by": {"type": "str", "default": ""},
            "pid": {"type": "int", "default": 0},
            "force_lock": {"type": "str", "default": ""},
            "program": {"type": "str", "default": ""},
            "ray_rank": {"type": "str", "default": ""},
            "unit": {"type": "str", "default": ""},
        },
        required_if=[("state", name, ["rank"]) for name in ("begun", "committed", "reverted")],
        supports_check_mode=True,
    )
    work = Work(module)
    try:
        getattr(work, module.params["state"])()
    except Refused as error:
        module.fail_json(msg=str(error), run=work.run)
    except ValueError as error:
        module.fail_json(msg=f"{work.host.paths.change} cannot be read ({error}). Remove it, and deploy again.")
    except PermissionError as error:
        module.fail_json(msg=f"{error}. Changing a host needs root there: set ansible_become for it.")


if __name__ == "__main__":
    main()
