#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a replica out of the gateways' rotation without losing a request, or put it back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: replica_drain
short_description: Take a replica out of the gateways' rotation without losing a request, or put it back
version_added: 0.1.0
description:
  - Sets or removes a flag on the host of the replica's rank 0. The supervisor there tells it to each gateway that asks,
    so that it holds for all gateways, over their reloads, and over reboots.
  - With O(state=drained) waits until each gateway that asked lately knows it, and until no request is left.
  - With O(state=undrained) waits until each of them knows it, and until the replica is ready if its engine is to run.
  - On a host without the replica's rank 0, or with one that tells gateways nothing, nothing is drained or waited for.
  - Says every few seconds what it waits for, also without C(-v).
  - Needs root on the host.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  state:
    description: Whether the replica gets no new requests, or gets them again.
    type: str
    choices: [drained, undrained]
    required: true
  replica:
    description:
      - Name of the replica.
      - With an empty one the replica whose rank 0 is on this host, and for O(state=undrained) any that has a flag here.
    type: str
    default: ""
  reason:
    description:
      - Why, for those who look at the replica meanwhile. A flag that is there keeps its own.
      - With O(state=undrained) only a flag with this reason is removed; any with an empty one.
    type: str
    default: ""
  lease:
    description:
      - Seconds after O(timeout) for which the flag holds, so that a run that dies does not keep the replica out.
      - With V(0) it holds until it is removed, also where one with a lease was there.
    type: int
    default: 0
  timeout:
    description: Seconds to wait. The flag stays as it was asked for when they are over.
    type: int
    default: 600
  settle:
    description: Seconds to wait for an engine that does not say in C(/metrics) how many requests it has.
    type: int
    default: 30
  if_asked:
    description:
      - With O(state=drained), wait for nothing where no gateway asks whether the replica is drained.
      - nginx does not ask; it goes on sending requests, so the last one never comes.
    type: bool
    default: false
  force:
    description: When O(timeout) is over, go on with a warning instead of a failure.
    type: bool
    default: false
  window:
    description:
      - Seconds after which a look at the host returns although there is something to wait for, so that progress can be
        shown. The action plugin then looks again, until O(timeout).
    type: int
    default: 10
  by:
    description: Who asks. The action plugin sets it.
    type: str
    default: ""
  since:
    description: What the look before returned as RV(since). The action plugin sets it.
    type: dict
    default: {}
attributes:
  check_mode:
    description: Can run in check mode. Nothing is waited for.
    support: full
  diff_mode:
    description: Returns what would change.
    support: none
    details: It is one flag.
"""

EXAMPLES = r"""
- name: Let the replica finish what it has
  dgxspark.serving.replica_drain:
    state: drained
    reason: new driver
  become: true

- name: Give it requests again
  dgxspark.serving.replica_drain:
    state: undrained
  become: true
"""

RETURN = r"""
found:
  description: Whether the replica's rank 0, or a flag that was removed, is on this host.
  returned: always
  type: bool
done:
  description: Whether nothing is waited for any more. V(false) only with O(force), or in check mode.
  returned: always
  type: bool
words:
  description: What is waited for, or why nothing was done; empty when all is done.
  returned: always
  type: str
replica:
  description: Name of the replica.
  returned: always
  type: str
draining:
  description: The flag as it is now, with V(replica), V(by), V(at), V(reason) and V(expires); V(null) without one.
  returned: always
  type: dict
ready:
  description: Whether the supervisor says that the replica is ready; V(null) when it does not answer.
  returned: always
  type: bool
requests_running:
  description: Requests that the engine works on; V(null) when it does not say.
  returned: always
  type: int
requests_waiting:
  description: Requests that wait in the engine; V(null) when it does not say.
  returned: always
  type: int
told:
  description:
    - Addresses of gateways that know of the drain, as V(drain), and that do not know what is so, as V(waiting).
    - Empty when the supervisor does not answer.
  returned: always
  type: dict
since:
  description: What the next look of the same wait has to know.
  returned: always
  type: dict
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils.drain_wait import Look, Since, until_back, until_drained
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import drained, spec
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.engine import Engine
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import GOING, UP, Host
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import write_whole
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.plain_http import exchange
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.progress import Sample, parse_metrics
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.watch import clock

# Seconds between two looks.
PAUSE = 0.25
# Seconds that the door and the engine get to answer.
DOOR_TIMEOUT = 3.0
ENGINE_TIMEOUT = 5.0
# Addresses at which somebody listens on all of them, and where to ask then.
ANY = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


class Drain:
    """One call of the module.

    :param host: the host, whose root tests move
    """

    def __init__(self, module: AnsibleModule, host: Host) -> None:
        self.module = module
        self.params = module.params
        self.host = host
        self.here = self._here()
        self.replica: str = self.params["replica"] or (self.here.replica if self.here is not None else "")

    def drain(self) -> None:
        """Set the flag, and wait within the window; ends the module."""
        if self.here is None:
            self._end(False, found=False, words=f"rank 0 of {self.replica or 'a replica'} is not on this host")
        if self.here.health is None:
            self._end(False, words=f"{self.replica} tells gateways nothing, since it was deployed without one")
        before = self._flag(self.replica)
        flag, changed = self._wanted(before)
        if flag != before and not self.module.check_mode:
            write_whole(self.host.paths.drain, drained.text_of(flag).encode())
        settle, if_asked = self.params["settle"], self.params["if_asked"]
        self._wait(self.here, changed, lambda look, since: until_drained(look, since, settle, if_asked))

    def undrain(self) -> None:
        """Remove the flag, and wait within the window; ends the module."""
        flag = self._flag(self.params["replica"])
        if flag is not None and self.params["reason"] not in ("", flag.reason):
            self._end(False, words=f"{flag.replica} stays drained by {flag.by or 'somebody'}: {flag.reason}")
        if flag is not None and not self.module.check_mode:
            self.host.paths.drain.unlink(missing_ok=True)
        changed = flag is not None
        if self.here is None or self.here.health is None:
            self._end(changed, found=changed or self.here is not None)
        self._wait(self.here, changed, lambda look, since: (until_back(look), since))

    def _here(self) -> spec.Spec | None:
        """The rank 0 on this host. A rank that has a spec which cannot be read is none."""
        wanted = self.params["replica"]
        for path in sorted(self.host.paths.specs.glob("*.json")):
            try:
                found = spec.parse(path.read_bytes())
            except (OSError, spec.SpecError):
                continue
            if found.rank == 0 and wanted in ("", found.replica):
                return found
        return None

    def _flag(self, replica: str) -> drained.Drained | None:
        return drained.read(self.host.paths.drain, replica, time.time())

    def _wanted(self, before: drained.Drained | None) -> tuple[drained.Drained, bool]:
        """The flag as it is to be, and whether that is a change. One that is there stays, maybe with a longer lease."""
        now, lease = time.time(), self.params["lease"]
        expires = now + self.params["timeout"] + lease if lease else 0.0
        if before is None or (before.expires and not expires):
            return drained.Drained(self.replica, self.params["by"] or "root", now, self.params["reason"], expires), True
        is_first = not self.params["since"]
        return replace(before, expires=expires) if before.expires and is_first else before, False

    def _wait(self, here: spec.Spec, changed: bool, judge: Callable[[Look, Since], tuple[str, Since]]) -> None:
        """Look until nothing is waited for or the window is over; ends the module."""
        if self.module.check_mode:
            self._end(changed, done=False)
        end = time.monotonic() + self.params["window"]
        since = Since(**self.params["since"])
        while True:
            look = self._look(here)
            words, since = judge(look, since)
            if not words or time.monotonic() >= end:
                self._end(changed, done=not words, words=words, look=look, since=since)
            time.sleep(PAUSE)

    def _look(self, here: spec.Spec) -> Look:
        status, door = self._ask_door(here.health)
        answers, sample = self._ask_engine(here)
        return Look(
            now=clock(),
            supervised=door is not None or self.host.unit_state(here.container) in (*UP, *GOING),
            status=status,
            door=door,
            closed=str((self.host.read_json(self.host.paths.live(here.container)) or {}).get("door") or ""),
            engine_answers=answers,
            running=sample.running if sample is not None else None,
            waiting=sample.waiting if sample is not None else None,
        )

    def _ask_door(self, place: spec.Health) -> tuple[int, dict[str, Any] | None]:
        address = (ANY.get(place.address, place.address), place.port)
        try:
            status, body = exchange(address, "GET", "/ready", DOOR_TIMEOUT, address[0])
            content = json.loads(body)
        except (OSError, ValueError):
            return 0, None
        # Whatever holds the port of a door that cannot open is not asked.
        if isinstance(content, dict) and content.get("replica") == self.replica:
            return status, content
        return 0, None

    def _ask_engine(self, here: spec.Spec) -> tuple[bool, Sample | None]:
        """Whether something answers at the engine's port, and how many requests it says it has."""
        if not here.api:
            return False, None
        try:
            status, body = Engine(here.api, here.key_file).ask("/metrics", ENGINE_TIMEOUT)
        except ConnectionRefusedError:
            return False, None
        except OSError:
            return True, None
        return True, parse_metrics(body) if status == 200 else None

    def _end(
        self,
        changed: bool,
        found: bool = True,
        done: bool = True,
        words: str = "",
        look: Look | None = None,
        since: Since | None = None,
    ) -> None:
        flag = self._flag(self.replica)
        door = (look.door if look is not None else None) or {}
        self.module.exit_json(
            changed=changed,
            found=found,
            done=done,
            words=words,
            replica=self.replica,
            draining=asdict(flag) if flag is not None else None,
            ready=door.get("ready"),
            requests_running=look.running if look is not None else None,
            requests_waiting=look.waiting if look is not None else None,
            told=door.get("told") or {},
            since=asdict(since) if since is not None else {},
        )


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["drained", "undrained"], "required": True},
            "replica": {"type": "str", "default": ""},
            "reason": {"type": "str", "default": ""},
            "timeout": {"type": "int", "default": 600},
            "lease": {"type": "int", "default": 0},
            "settle": {"type": "int", "default": 30},
            "if_asked": {"type": "bool", "default": False},
            "force": {"type": "bool", "default": False},
            "window": {"type": "int", "default": 10},
            "by": {"type": "str", "default": ""},
            "since": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    if os.geteuid() != 0:
        module.fail_json(msg="A replica can be drained by root only. Set become: true for this task.")
    drain = Drain(module, Host())
    try:
        if module.params["state"] == "drained":
            drain.drain()
        else:
            drain.undrain()
    except OSError as error:
        module.fail_json(msg=f"The drain flag cannot be changed: {error}.")


if __name__ == "__main__":
    main()
