# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a replica is ready: its container runs, ``/health`` and ``/v1/models`` answer, and it has really generated.

``/health`` alone proves nothing: it stays 200 while a rank is dead or the first request fails (field fault N10).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container

WAITING = "waiting"
READY = "ready"
FAILED = "failed"
# Seconds that an engine has by default: loading tens of gigabytes takes minutes.
DEFAULT_TIMEOUT = 1800


@dataclass(frozen=True)
class Generation:
    """One request for tokens.

    :ivar tokens: completion tokens, from the engine's own ``usage``
    :ivar seconds: from sending the request to the end of its answer
    :ivar error: why there is no answer; empty when there is one
    """

    tokens: int = 0
    seconds: float = 0.0
    error: str = ""

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class Observation:
    """What is known at one moment; later stages are None while an earlier one is not passed.

    :ivar container: None when there is none
    :ivar health: status of ``GET /health``; None when nothing answers
    :ivar served: names in ``/v1/models``
    """

    container: Container | None
    health: int | None = None
    served: Sequence[str] | None = None
    generation: Generation | None = None


@dataclass(frozen=True)
class Verdict:
    """:ivar state: ``waiting``, ``ready`` or ``failed``; :ivar stage: how far it got; :ivar detail: why, in words"""

    state: str
    stage: str
    detail: str


def judge(seen: Observation, served_model_name: str) -> Verdict:
    """Say how far a replica is.

    An engine that ended counts as failed whatever its exit code: vLLM exits with 0 when a peer died.
    """
    container = seen.container
    if container is None:
        return Verdict(FAILED, "container", "there is no such container")
    if container.status not in ("running", "created", "restarting"):
        cause = "was killed for lack of memory" if container.oom_killed else "ended"
        return Verdict(FAILED, "container", f"the engine {cause} with exit code {container.exit_code}")
    if container.status != "running":
        return Verdict(WAITING, "container", f"the container is {container.status}")
    if seen.health is None:
        return Verdict(WAITING, "start", "the engine does not answer yet")
    if seen.health != 200:
        return Verdict(WAITING, "start", f"/health answers {seen.health}")
    if seen.served is None:
        return Verdict(WAITING, "models", "/v1/models does not answer yet")
    if served_model_name not in seen.served:
        names = ", ".join(seen.served) or "no model"
        return Verdict(FAILED, "models", f"the engine serves {names}, wanted {served_model_name}")
    if seen.generation is None:
        return Verdict(WAITING, "generation", "no token was asked for yet")
    if seen.generation.error:
        return Verdict(FAILED, "generation", f"/health answers 200, but one generation failed: {seen.generation.error}")
    if seen.generation.tokens < 1:
        return Verdict(FAILED, "generation", "/health answers 200, but one generation gave no token")
    return Verdict(READY, "generation", f"generated {seen.generation.tokens} tokens")
