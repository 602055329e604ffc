#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until an engine has really generated."""

from __future__ import annotations

DOCUMENTATION = r"""
module: replica_ready
short_description: Wait until an engine has really generated
version_added: 0.1.0
description:
  - An engine is ready when its container runs, C(/health) answers 200, C(/v1/models) lists the served name, and one
    request has brought tokens. C(/health) alone proves nothing.
  - Says every few seconds how far the engine is, with the percentage where its log has one and its last log line, also
    without C(-v), and while the one request runs. That request is sent once, however long it takes.
  - Fails at once when the container ends, when its supervisor gives up, when it is started again and again, when the
    host's memory falls under O(memory_floor), when the engine serves another name or with another number of ranks, when
    it uses sockets although RoCE was asked for, when it refuses our key, or when the generation fails. The message
    names cause and remedy.
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  container:
    description: Name of the engine's container.
    type: str
    required: true
  url:
    description:
      - Base URL of the engine's API as the host itself reaches it.
      - Empty for a rank without an API. It is ready when its supervisor has heard that the replica serves.
    type: str
    required: true
  served_model_name:
    description:
      - Name that the engine must serve, and that the request asks for.
      - With an empty one the first name that the engine serves is asked for.
    type: str
    required: true
  world_size:
    description: Number of ranks that the engine must run with.
    type: int
    default: 1
  key_file:
    description:
      - Path on the host of the key that the engine asks for; empty when it asks for none.
      - Needs root on the host.
    type: str
    default: ""
  transport:
    description: With V(roce) it is an error when NCCL says that it uses sockets.
    type: str
    default: ""
  memory_floor:
    description: Bytes of available memory of the host under which waiting is given up; V(0) for none.
    type: int
    default: 0
  timeout:
    description: Seconds without any progress (a stage, a percentage or a new log line) until waiting is given up.
    type: int
    default: 1800
  timeout_total:
    description: Seconds until waiting is given up in any case; V(0) for four times O(timeout).
    type: int
    default: 0
  generation_timeout:
    description: Seconds that the one request may take. The first one may have to compile.
    type: int
    default: 300
  max_tokens:
    description: Tokens that the request asks for.
    type: int
    default: 32
  window:
    description:
      - Seconds after which a look at the host returns although the engine is not ready, so that progress can be shown.
      - The controller then looks again, until O(timeout).
    type: int
    default: 8
  state_folder:
    description: Folder of the live state files that supervisors write.
    type: path
    default: /run/dgxspark-serving
  start:
    description:
      - Start the rank's unit first, now and at each boot, as the change that O(run) has begun needs it.
      - Needs root on the host.
    type: bool
    default: false
  run:
    description: Id of the run whose change is waited for. Each look renews its lock and its deadline on the host.
    type: str
    default: ""
  lease:
    description: Seconds for which they are renewed.
    type: int
    default: 180
  wait:
    description: What the look before returned as RV(wait). The action plugin sets it.
    type: dict
    default: {}
notes:
  - In check mode nothing is waited for, since the container may not exist yet.
attributes:
  check_mode:
    description: Can run in check mode.
    support: partial
    details: It is skipped.
  diff_mode:
    description: Returns what would change.
    support: none
    details: It changes nothing.
"""

EXAMPLES = r"""
- name: Wait for the engine
  dgxspark.serving.replica_ready:
    container: dgxspark-tp1-0-r0
    url: http://127.0.0.1:8000
    served_model_name: Qwen/Qwen3-0.6B
"""

RETURN = r"""
state:
  description: How the wait ended, V(ready) unless the task failed or ended its window.
  returned: always
  type: str
stage:
  description:
    - How far the engine is, V(container), V(start), V(models) or V(generation).
    - V(memory), V(transport), V(key) or V(world_size) when that is why it failed.
  returned: always
  type: str
detail:
  description: What was seen, in words.
  returned: always
  type: str
engine_stage:
  description:
    - The last stage that the engine's log shows, such as V(distributed), V(loading weights), V(compiling) or V(graphs).
  returned: always
  type: str
percent:
  description: Percentage of that stage; V(null) where the log has none.
  returned: always
  type: int
line:
  description: The last line of the log that means something, without its prefix.
  returned: always
  type: str
log:
  description: The last lines of the engine's log that mean something, tokens and keys masked.
  returned: when the engine is not ready
  type: list
  elements: str
diagnosis:
  description: What the log and the exit code tell, what explains most first.
  returned: when the engine is not ready
  type: list
  elements: dict
  contains:
    id:
      description: Name of the symptom.
      type: str
    cause:
      description: Why it failed.
      type: str
    remedy:
      description: What to do.
      type: str
    level:
      description: V(fatal), or V(warning) for what an engine can live with.
      type: str
    line:
      description: Where the log says it.
      type: str
evidence:
  description: Folder on the host with the evidence that the supervisor saved last; empty when there is none.
  returned: always
  type: str
engine_version:
  description: What the engine's C(/version) says; empty where it has none.
  returned: when ready and the rank has an API
  type: str
tokens:
  description: Tokens that the request brought, as the engine counts them.
  returned: when ready and the rank has an API
  type: int
tokens_per_second:
  description: These tokens by the request's whole time, prompt included.
  returned: when ready and the rank has an API
  type: float
world_size_proof:
  description: Whether the engine really runs with all ranks.
  returned: when ready and the rank has an API
  type: dict
  contains:
    state:
      description: V(proven), or V(not proven) when neither the answer nor the log tells.
      type: str
    detail:
      description: By what.
      type: str
wait:
  description: What the next look of the same wait has to know.
  returned: always
  type: dict
"""

import time
import uuid
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import engine_key, engine_log, readiness, symptoms
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.docker_cli import LOG_LINES, Docker
from ansible_collections.dgxspark.serving.plugins.module_utils.engine_api import EngineApi
from ansible_collections.dgxspark.serving.plugins.module_utils.generation_request import (
    GenerationRequest,
    folder_for,
    is_running,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import change, lease
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Host, Refused

# Seconds between two looks.
PAUSE = 0.5
# The same while the one request has just been sent.
SHORT_PAUSE = 0.1
# Log lines that are read for progress and symptoms.
RECENT = 400
# Log lines that are read for what an engine says once, early.
ALL = 5000
# Seconds that the supervisor has to save evidence of a failure.
EVIDENCE_PATIENCE = 3.0


class Watch:
    """Observes one rank, as far as it has come; the request for tokens is sent once everything before it holds."""

    def __init__(self, docker: Docker, params: dict[str, Any]) -> None:
        """Raises OSError and ValueError when the key file cannot be read."""
        self.docker = docker
        self.params = params
        keyed = params["url"] and params["key_file"]
        self.api = EngineApi(params["url"], engine_key.read_key(params["key_file"]) if keyed else "")
        self.memory: list[int] = []
        self.wait = dict(params["wait"]) or {"id": uuid.uuid4().hex, "since": time.time(), "restarts": None}
        if self.wait["restarts"] is None:
            live = self.live()
            self.wait["restarts"] = live.restarts if live is not None else 0

    def live(self) -> readiness.Live | None:
        """What the rank's supervisor says; None when there is none."""
        path = Path(self.params["state_folder"]) / f"{self.params['container']}.json"
        try:
            live = readiness.read_live(path.read_text(encoding="utf-8"))
        except OSError:
            return None
        if live is None or not readiness.counts(live, is_running(live.pid), self.wait["since"]):
            return None
        return live

    def observe(self) -> readiness.Observation:
        self.memory += memory_available()
        live = self.live()
        container = self.docker.container(self.params["container"])
        restarts = container.restarts if container is not None else 0
        if live is not None:
            restarts += max(0, live.restarts - self.wait["restarts"])
        seen = readiness.Observation(container, live=live, restarts=restarts, memory=tuple(self.memory))
        if not self.params["url"] or container is None or container.status != "running":
            return seen
        health = self.api.health()
        served = self.api.served() if health == 200 else None
        seen = replace(seen, health=health, served=served, refused=self.api.refused)
        model = readiness.model_to_ask(served or (), self.params["served_model_name"])
        if not model:
            return seen
        generation, asking = self.generation(container, model)
        # An engine that dies in its first generation: what the container says now is the better reason.
        if generation is not None and generation.error:
            seen = replace(seen, container=self.docker.container(container.name), live=self.live())
        return replace(seen, generation=generation, asking=asking)

    def generation(self, container: Container, model: str) -> tuple[readiness.Generation | None, float | None]:
        """Send the one request, or look for its answer."""
        limit, tokens = self.params["generation_timeout"], self.params["max_tokens"]
        target = f"{self.params['url']} {model} {container.id} {container.started_at}"
        try:
            folder = folder_for(self.params["state_folder"])
            request = GenerationRequest(folder, container.name, self.wait["id"], target)
            answer, asking = request.state(limit)
            if asking is None:
                request.send(lambda: self.api.generate(model, tokens, limit))
                return None, 0.0
        except OSError as error:
            return readiness.Generation(error=f"it could not be asked for: {error}"), None
        return answer, asking


def memory_available() -> list[int]:
    """Bytes of MemAvailable; nothing where it cannot be read."""
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            return [int(line.split()[1]) * 1024 for line in stream if line.startswith("MemAvailable:")]
    except (OSError, ValueError):
        return []


def watch_for(module: AnsibleModule) -> Watch:
    """The observer of the rank."""
    try:
        return Watch(Docker(module), module.params)
    except (OSError, ValueError) as error:
        module.fail_json(
            msg=f"The engine's key cannot be read: {error}. Set become: true for this task, and look at the file."
        )
        raise


def renew_lease(module: AnsibleModule, more: float = 0.0) -> None:
    """Give a sign of life for the run, if there is one; it lasts ``more`` seconds longer than usual."""
    run = module.params["run"]
    if not run:
        return
    try:
        mine = lease.renew(run, module.params["lease"] + more)
    except OSError as error:
        module.fail_json(msg=f"The sign of life of this run cannot be written: {error}. Run the task with become.")
    if not mine:
        module.fail_json(
            msg="This run no longer holds the change of this host: its lease ran out or another run took it over."
            " What ran before comes back by itself. Run the deployment again."
        )


def start(module: AnsibleModule) -> bool:
    """Start the rank's supervisor at the first look of a wait; says whether that is a change."""
    if not module.params["start"] or module.params["wait"]:
        return False
    try:
        return change.start(Host(), module.params["run"], module.params["container"])
    except Refused as error:
        module.fail_json(msg=str(error))
    return False


def watched(module: AnsibleModule, watch: Watch, wanted: readiness.Wanted) -> dict[str, Any]:
    """Look until there is a verdict or the window ends; returns the result."""
    params = module.params
    end = time.monotonic() + params["window"]
    while True:
        seen = watch.observe()
        verdict = readiness.judge(seen, wanted)
        if verdict.state != readiness.WAITING or time.monotonic() >= end:
            break
        # Most first requests are answered within a second; a run over many hosts should not wait longer for them.
        time.sleep(SHORT_PAUSE if seen.asking is not None and seen.asking < 2 else PAUSE)
    deep = verdict.state == readiness.READY or wanted.transport == "roce"
    log = [] if seen.container is None else watch.docker.log(params["container"], lines=ALL if deep else RECENT)
    verdict = readiness.judge(replace(seen, network=engine_log.nccl_network(log)), wanted)
    proof = None
    if verdict.state == readiness.READY and seen.generation is not None:
        proof = readiness.prove_world_size(wanted.world_size, seen.generation.fingerprint, engine_log.world_size(log))
        if proof.state == readiness.CONTRADICTED:
            verdict = readiness.Verdict(
                readiness.FAILED,
                "world_size",
                f"the engine does not run with {wanted.world_size} ranks ({proof.detail})",
            )
    progress = engine_log.progress(log[-RECENT:])
    result = {
        "state": verdict.state,
        "stage": verdict.stage,
        "detail": engine_log.masked(verdict.detail),
        "engine_stage": progress.stage,
        "percent": progress.percent,
        "line": progress.line,
        "evidence": evidence(watch, seen.live, verdict),
        "wait": watch.wait,
    }
    if verdict.state != readiness.READY:
        result["log"] = engine_log.telling(log[-RECENT:])[-LOG_LINES:]
        result["diagnosis"] = [asdict(found) for found in diagnosed(seen, verdict, log, wanted.transport)]
    elif proof is not None and seen.generation is not None:
        if proof.state == readiness.UNPROVEN:
            module.warn(f"{params['container']}: the number of ranks is not proven: {proof.detail}.")
        result.update(
            engine_version=watch.api.version(),
            tokens=seen.generation.tokens,
            tokens_per_second=round(seen.generation.tokens_per_second, 1),
            world_size_proof=asdict(proof),
        )
    return result


def diagnosed(
    seen: readiness.Observation, verdict: readiness.Verdict, log: list[str], transport: str
) -> list[symptoms.Diagnosis]:
    """Symptoms in the log, in the engine's answer and in how its container ended."""
    if verdict.stage == readiness.KEY_STAGE:
        return [symptoms.Diagnosis("engine-key", engine_key.CAUSE, engine_key.REMEDY, symptoms.FATAL, "")]
    container = seen.container
    has_ended = container is not None and container.status in ("exited", "dead")
    # The exit code of an engine that its supervisor has stopped says nothing.
    own_end = has_ended and (seen.live is None or seen.live.reason.startswith(readiness.OWN_ENGINE))
    # While it waits a look is cheap; what an engine said early is worth the time only once it has failed.
    lines = log if verdict.state == readiness.FAILED else log[-RECENT:]
    found = symptoms.diagnose(
        [*lines, verdict.detail],
        container.exit_code if container is not None and own_end else None,
        container is not None and container.oom_killed,
    )
    return [diagnosis for diagnosis in found if transport == "roce" or diagnosis.id not in symptoms.ROCE_ONLY]


def evidence(watch: Watch, live: readiness.Live | None, verdict: readiness.Verdict) -> str:
    """Folder of the evidence; of a failure that was just seen it takes the supervisor a moment to name it."""
    end = time.monotonic() + EVIDENCE_PATIENCE
    while verdict.state == readiness.FAILED and live is not None and live.phase == readiness.DOWN:
        if live.evidence or time.monotonic() >= end:
            break
        time.sleep(PAUSE)
        live = watch.live()
    return live.evidence if live is not None else ""


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "container": {"type": "str", "required": True},
            "url": {"type": "str", "required": True},
            "served_model_name": {"type": "str", "required": True},
            "world_size": {"type": "int", "default": 1},
            "key_file": {"type": "str", "default": "", "no_log": False},
            "transport": {"type": "str", "default": ""},
            "memory_floor": {"type": "int", "default": 0},
            "timeout": {"type": "int", "default": readiness.DEFAULT_TIMEOUT},
            "timeout_total": {"type": "int", "default": 0},
            "generation_timeout": {"type": "int", "default": 300},
            "max_tokens": {"type": "int", "default": 32, "no_log": False},
            "window": {"type": "int", "default": 8},
            "state_folder": {"type": "path", "default": "/run/dgxspark-serving"},
            "start": {"type": "bool", "default": False},
            "run": {"type": "str", "default": ""},
            "lease": {"type": "int", "default": 180},
            "wait": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    renew_lease(module)
    started = start(module)
    wanted = readiness.Wanted(
        served_model_name=module.params["served_model_name"],
        world_size=module.params["world_size"],
        transport=module.params["transport"],
        memory_floor=module.params["memory_floor"],
        has_api=bool(module.params["url"]),
        key_file=module.params["key_file"],
    )
    result = watched(module, watch_for(module), wanted)
    if result["state"] == readiness.READY and not wanted.has_api:
        # No look follows on this host, while rank 0 may still be about its first generation.
        renew_lease(module, module.params["generation_timeout"])
    module.exit_json(**{**result, "changed": started})


if __name__ == "__main__":
    main()
