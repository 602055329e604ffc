# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a replica is ready: its container runs, ``/health`` and ``/v1/models`` answer, and it has really generated.

``/health`` alone proves nothing: it stays 200 while a rank is dead or the first request fails (field fault N10).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.engine_key import refusal

WAITING = "waiting"
READY = "ready"
FAILED = "failed"
# Seconds without progress that an engine has by default: loading tens of gigabytes takes minutes.
DEFAULT_TIMEOUT = 1800
# The time in all, as a multiple of that.
TOTAL_FACTOR = 4
# So many restarts while it is waited for are a loop (field fault D02).
RESTART_LIMIT = 3
# Phases of the supervisor.
SERVING = "serving"
DOWN = "down"
STOPPED = "stopped"

# How a supervisor's reason begins that is about its own rank.
OWN_ENGINE = "the engine "

# The stage at which an engine refuses our key.
KEY_STAGE = "key"

PROVEN = "proven"
CONTRADICTED = "contradicted"
UNPROVEN = "not proven"

GIB = 2**30


@dataclass(frozen=True)
class Generation:
    """One request for tokens.

    :ivar tokens: completion tokens, from the engine's own ``usage``
    :ivar seconds: from sending the request to the end of its answer
    :ivar error: why there is no answer; empty when there is one
    :ivar fingerprint: the answer's ``system_fingerprint``; empty where it has none
    """

    tokens: int = 0
    seconds: float = 0.0
    error: str = ""
    fingerprint: str = ""

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Live:
    """What the supervisor of a rank says of it in its live state file.

    :ivar peers: phase of each other rank by its number
    :ivar evidence: folder with the evidence of the last restart or failure; empty when there is none
    :ivar updated: unix seconds
    """

    phase: str
    reason: str = ""
    restarts: int = 0
    epoch: int = 0
    peers: Mapping[str, str] = field(default_factory=dict)
    evidence: str = ""
    pid: int = 0
    updated: float = 0.0


def read_live(text: str) -> Live | None:
    """Read a live state file; None when it makes no sense."""
    try:
        state: dict[str, Any] = json.loads(text)
        last = state.get("last_restart") or {}
        return Live(
            phase=str(state["phase"]),
            reason=str(state.get("reason") or ""),
            restarts=int(state.get("restarts") or 0),
            epoch=int(state.get("epoch") or 0),
            peers={str(rank): str(peer.get("phase") or "") for rank, peer in (state.get("peers") or {}).items()},
            evidence=str(state.get("evidence") or last.get("evidence") or ""),
            pid=int(state.get("pid") or 0),
            updated=float(state.get("updated") or 0.0),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def counts(live: Live, is_alive: bool, since: float) -> bool:
    """Whether a live state is of now: its supervisor lives, or has ended after ``since`` (unix seconds).

    A file that a supervisor of an earlier deployment left says nothing about this one.
    """
    return is_alive or live.updated >= since


@dataclass(frozen=True)
class Observation:
    """What is known at one moment; later stages are None while an earlier one is not passed.

    :ivar container: None when there is none
    :ivar health: status of ``GET /health``; None when nothing answers
    :ivar served: names in ``/v1/models``
    :ivar asking: seconds since the one request was sent, while it runs
    :ivar live: what the supervisor says; None when there is none, then the container alone counts
    :ivar restarts: how often the container was started again since the wait began
    :ivar memory: samples of the host's MemAvailable, in bytes
    :ivar network: what NCCL says it uses, ``IB`` or ``Socket``
    :ivar refused: the status by which the engine refused our key; None when it did not
    """

    container: Container | None
    health: int | None = None
    served: Sequence[str] | None = None
    generation: Generation | None = None
    asking: float | None = None
    live: Live | None = None
    restarts: int = 0
    memory: Sequence[int] = ()
    network: str | None = None
    refused: int | None = None


@dataclass(frozen=True)
class Wanted:
    """What a replica has to be.

    :ivar served_model_name: empty when any name will do
    :ivar transport: ``roce`` when RDMA was asked for; else it is not looked at
    :ivar memory_floor: bytes of MemAvailable under which a start is given up; 0 for none
    :ivar has_api: whether this rank answers requests; the others have only their container and their supervisor
    :ivar key_file: where the host has the engine's key; empty when the engine is to have none
    """

    served_model_name: str
    world_size: int = 1
    transport: str = ""
    memory_floor: int = 0
    has_api: bool = True
    key_file: str = ""


@dataclass(frozen=True)
class Verdict:
    """:ivar state: ``waiting``, ``ready`` or ``failed``; :ivar stage: how far it got; :ivar detail: why, in words"""

    state: str
    stage: str
    detail: str


def judge(seen: Observation, wanted: Wanted) -> Verdict:
    """Say how far a replica is.

    An engine that ended counts as failed whatever its exit code, for vLLM exits with 0 when a peer died, unless a
    supervisor is about to start it again.
    """
    return (
        _of_supervisor(seen)
        or _of_host(seen, wanted)
        or _of_container(seen)
        or (_of_engine(seen, wanted) if wanted.has_api else _of_worker(seen))
    )


def _of_supervisor(seen: Observation) -> Verdict | None:
    live = seen.live
    if live is not None and live.phase in (DOWN, STOPPED):
        # Of this rank's own engine the reason is a sentence already.
        if live.reason.startswith(OWN_ENGINE):
            return Verdict(FAILED, "container", live.reason)
        words = "gave up" if live.phase == DOWN else "was stopped"
        return Verdict(FAILED, "container", f"its supervisor {words}: {live.reason or 'no reason given'}")
    if seen.restarts >= RESTART_LIMIT or (_status(seen) == "restarting" and seen.restarts):
        why = live.reason if live is not None and live.reason else ""
        code = f", the last time with exit code {seen.container.exit_code}" if seen.container is not None else ""
        times = "once" if seen.restarts == 1 else f"{seen.restarts} times"
        return Verdict(
            FAILED, "container", f"the engine was started again {times}{code}" + (f" ({why})" if why else "")
        )
    return None


def _of_host(seen: Observation, wanted: Wanted) -> Verdict | None:
    lowest = min(seen.memory, default=None)
    if lowest is not None and lowest < wanted.memory_floor:
        return Verdict(
            FAILED,
            "memory",
            f"the host's available memory fell to {lowest / GIB:.1f} GiB, under the floor of"
            f" {wanted.memory_floor / GIB:.1f} GiB",
        )
    if wanted.transport == "roce" and seen.network == "Socket":
        return Verdict(
            FAILED,
            "transport",
            "NCCL uses sockets although RoCE was asked for: the container lacks /dev/infiniband, IPC_LOCK or an"
            " unlimited memlock, or the host has no RDMA device",
        )
    return None


def _of_container(seen: Observation) -> Verdict | None:
    supervised = seen.live is not None
    if seen.container is None and not supervised:
        return Verdict(FAILED, "container", "there is no such container")
    ended = _ended(seen.container)
    if ended and not supervised:
        return Verdict(FAILED, "container", ended)
    if _status(seen) == "running":
        return None
    what = ended or (f"the container is {_status(seen)}" if seen.container is not None else "there is no container yet")
    return Verdict(WAITING, "container", what + _supervision(seen.live))


def _of_engine(seen: Observation, wanted: Wanted) -> Verdict:
    if seen.health is None:
        return Verdict(WAITING, "start", "the engine does not answer yet")
    if seen.refused is not None:
        # It answers, and will never answer us otherwise.
        return Verdict(FAILED, KEY_STAGE, refusal(seen.refused, wanted.key_file))
    if seen.health != 200:
        return Verdict(WAITING, "start", f"/health answers {seen.health}")
    if seen.served is None:
        return Verdict(WAITING, "models", "/v1/models does not answer yet")
    if not model_to_ask(seen.served, wanted.served_model_name):
        names = ", ".join(seen.served) or "no model"
        return Verdict(FAILED, "models", f"the engine serves {names}, wanted {wanted.served_model_name or 'one'}")
    if seen.generation is None:
        if seen.asking is None:
            return Verdict(WAITING, "generation", "no token was asked for yet")
        return Verdict(WAITING, "generation", f"the first request runs for {seen.asking:.0f} s")
    if seen.generation.error:
        return Verdict(FAILED, "generation", f"/health answers 200, but one generation failed: {seen.generation.error}")
    if seen.generation.tokens < 1:
        return Verdict(FAILED, "generation", "/health answers 200, but one generation gave no token")
    return Verdict(READY, "generation", f"generated {seen.generation.tokens} tokens")


def model_to_ask(served: Sequence[str], wanted: str) -> str:
    """The name to ask for: the wanted one if it is served, the first one when any will do; empty when there is none."""
    if wanted:
        return wanted if wanted in served else ""
    return served[0] if served else ""


def _of_worker(seen: Observation) -> Verdict:
    """A rank without an API: its supervisor hears from rank 0 when the replica serves."""
    if seen.live is None or seen.live.phase == SERVING:
        return Verdict(READY, "container", "the rank runs")
    return Verdict(WAITING, "start", f"the rank runs{_supervision(seen.live)}")


def _status(seen: Observation) -> str:
    return seen.container.status if seen.container is not None else ""


def _ended(container: Container | None) -> str:
    """How the engine ended, or nothing while it has not."""
    if container is None or container.status in ("running", "created", "restarting"):
        return ""
    cause = "was killed for lack of memory" if container.oom_killed else "ended"
    return f"the engine {cause} with exit code {container.exit_code}"


def _supervision(live: Live | None) -> str:
    """What the supervisor does, in brackets; without a reason its peers, for they may be what it waits for."""
    if live is None:
        return ""
    peers = "".join(f", rank {rank} {phase}" for rank, phase in sorted(live.peers.items()) if phase)
    return f" (supervisor: {live.phase}{f', {live.reason}' if live.reason else peers})"


@dataclass(frozen=True)
class Proof:
    """Whether the engine really runs with all ranks: :ivar state: one of three words; :ivar detail: by what"""

    state: str
    detail: str


def prove_world_size(wanted: int, fingerprint: str, logged: int | None) -> Proof:
    """Hold the wanted number of ranks against what a generation and the log say.

    vLLM 0.32 writes ``-tpN`` and ``-ppN`` into ``system_fingerprint`` where they are above 1, unless it is told to
    write something else; then, and with SGLang, the log has to tell.
    """
    # From the right, for the version in front may hold dashes; what stands last is a hash.
    sizes = dict(re.findall(r"-(tp|pp)(\d+)(?=-)", fingerprint))
    if sizes:
        ranks = int(sizes.get("tp", 1)) * int(sizes.get("pp", 1))
        return Proof(PROVEN if ranks == wanted else CONTRADICTED, f"system_fingerprint {fingerprint}: {ranks} ranks")
    if logged is not None:
        return Proof(PROVEN if logged == wanted else CONTRADICTED, f"the log: world_size={logged}")
    if wanted == 1:
        return Proof(PROVEN, "one rank")
    return Proof(UNPROVEN, f"neither the answer nor the log tells the number of ranks, wanted {wanted}")


@dataclass(frozen=True)
class Patience:
    """How long to wait: ``timeout`` seconds from the last progress, ``total`` in all, by one monotonic clock.

    :ivar marks: what was seen; progress is what was not seen before
    """

    timeout: float
    total: float
    began: float
    moved: float
    marks: frozenset[tuple[str, ...]] = frozenset()

    def after(self, now: float, stage: str, percent: int | None, line: str) -> Patience:
        """Patience after a look; words that differ from older ones in their numbers only are no progress."""
        mark = (re.sub(r"\d+", "", stage), "" if percent is None else str(percent), re.sub(r"\d+", "", line))
        if mark in self.marks:
            return self
        return replace(self, moved=now, marks=self.marks | {mark})

    def spent(self, now: float) -> str:
        """Words for the limit that is reached, or nothing."""
        if now - self.moved > self.timeout:
            return f"until replica_ready_timeout ({self.timeout:g} s)"
        if now - self.began > self.total:
            return f"within {self.total:g} s in all"
        return ""


def patience(timeout: float, total: float, now: float) -> Patience:
    """Patience at the beginning of a wait; a ``total`` of 0 stands for four times ``timeout``."""
    return Patience(timeout, total or TOTAL_FACTOR * timeout, now, now)
