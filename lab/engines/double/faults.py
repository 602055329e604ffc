# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The faults that the double can show, and which of them are on (README.md lists them)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

STAGES = ("imports", "distributed", "load", "ready", "request")

#: Fault -> its parameters with their defaults; a default's type is the parameter's type.
FAULTS: dict[str, dict[str, Any]] = {
    "slow-load": {"seconds": 60.0},
    "exit": {"stage": "load", "code": 1},
    "oom-kill": {"stage": "load"},
    "api-port-taken": {},
    "master-port-taken": {},
    "generation-500": {"times": 1},
    "hang": {},
    "stream-error": {"after": 2},
    "truncate": {"after": 2},
    "no-usage": {},
    "reasoning": {"field": "reasoning_content", "tokens": 4},
    "tokens-per-chunk": {"count": 3},
    "role-only-first-chunk": {},
    "wrong-name": {"name": "another-model"},
    "health-503": {},
    "models-503": {},
    "no-metrics": {},
    "slow-tokens": {"tokens_per_second": 1.0},
    "kill-worker": {"seconds": 3.0},
    "ignore-sigterm": {"seconds": 12.0},
}


class FaultError(ValueError):
    """No such fault, or parameters that it does not take."""


class Faults:
    """The faults that are on, with their parameters."""

    def __init__(self, initial: str = "") -> None:
        """Start with the faults of a JSON object {name: {parameter: value}}; raises FaultError."""
        self._active: dict[str, dict[str, Any]] = {}
        self._changed = asyncio.Event()
        try:
            given = json.loads(initial or "{}")
        except ValueError as error:
            raise FaultError(f"DOUBLE_FAULTS is no JSON: {error}") from None
        if not isinstance(given, dict):
            raise FaultError("DOUBLE_FAULTS is no JSON object of faults and their parameters")
        for name, parameters in given.items():
            self.set(name, parameters or {})

    def set(self, name: str, parameters: dict[str, Any]) -> None:
        """Turn a fault on, or give it other parameters."""
        known = FAULTS.get(name)
        if known is None:
            raise FaultError(f"no fault {name!r}; there are {', '.join(FAULTS)}")
        if not isinstance(parameters, dict):
            raise FaultError(f"the parameters of {name} are no JSON object")
        for key, value in parameters.items():
            if key not in known:
                raise FaultError(f"{name} has no parameter {key!r}; it has {', '.join(known) or 'none'}")
            wanted = (int, float) if isinstance(known[key], float) else type(known[key])
            if not isinstance(value, wanted) or isinstance(value, bool):
                raise FaultError(f"{name}: {key} is {value!r}, wanted is a value like {known[key]!r}")
        if parameters.get("stage", STAGES[0]) not in STAGES:
            raise FaultError(f"{name}: no stage {parameters['stage']!r}; there are {', '.join(STAGES)}")
        self._active[name] = {**known, **parameters}
        self._tell()

    def clear(self, name: str | None = None) -> None:
        """Turn one fault off, or all."""
        if name is None:
            self._active.clear()
        else:
            self._active.pop(name, None)
        self._tell()

    def get(self, name: str) -> dict[str, Any] | None:
        """Return the parameters of a fault that is on, else None."""
        return self._active.get(name)

    def on(self, name: str) -> bool:
        """Say whether a fault is on."""
        return name in self._active

    def take(self, name: str) -> bool:
        """Say whether a fault with `times` is on, and use it up by one (0 times: it stays on)."""
        parameters = self._active.get(name)
        if parameters is None:
            return False
        if parameters["times"] == 1:
            self.clear(name)
        elif parameters["times"]:
            parameters["times"] -= 1
        return True

    def active(self) -> dict[str, dict[str, Any]]:
        """Return all that are on."""
        return dict(self._active)

    async def change(self) -> None:
        """Wait until a fault is turned on or off."""
        await self._changed.wait()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
