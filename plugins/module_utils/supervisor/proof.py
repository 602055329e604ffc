# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proof that an engine serves: it names the model, and one real generation has come back. An edge.

``/health`` answers 200 also where no request ever returns (field fault N10), and before the model is there (G08).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable

from .engine import Engine, own_words, why
from .state import Run

# Seconds that the list of models and the generation may take.
MODELS_TIMEOUT = 5.0
GENERATION_TIMEOUT = 60.0
# Seconds between two tries.
AGAIN = 5.0


class Prover:
    """Proves each run of the container once, by one request for one token, in a thread of its own.

    :param served: name of the model; with an empty one the first that the engine names is asked for
    :param proven: the run that an earlier supervisor has proven
    :param changed: called after each try
    """

    def __init__(self, engine: Engine, served: str, proven: Run | None, changed: Callable[[], None]) -> None:
        self._engine, self._served, self._changed = engine, served, changed
        self._wanted = threading.Condition()
        self._run: Run | None = None
        self._proven = proven
        self._failure = ""

    def begin(self) -> None:
        threading.Thread(target=self._keep_proving, name="proof", daemon=True).start()

    def want(self, run: Run | None) -> None:
        """Prove this run, which serves; nothing is to be proven without one."""
        with self._wanted:
            if run != self._run:
                self._run, self._failure = run, ""
                self._wanted.notify()

    def proven(self) -> Run | None:
        """The run that was proven last."""
        with self._wanted:
            return self._proven

    def failure(self) -> str:
        """Why the last try failed; empty before there was one."""
        with self._wanted:
            return self._failure

    def _keep_proving(self) -> None:
        while True:
            with self._wanted:
                self._wanted.wait_for(lambda: self._run not in (None, self._proven))
                run = self._run
            failure = prove(self._engine, self._served)
            with self._wanted:
                if not failure:
                    self._proven = run
                elif run == self._run:
                    self._failure = failure
            self._changed()
            if failure:
                with self._wanted:
                    self._wanted.wait_for(lambda asked=run: self._run != asked, AGAIN)


def prove(engine: Engine, served: str) -> str:
    """Ask an engine for one token of a model; why that failed, or nothing."""
    try:
        status, body = engine.ask("/v1/models", MODELS_TIMEOUT)
    except OSError as error:
        return f"the engine does not say which models it serves: {why(error)}"
    if status != 200:
        return engine.refusal(status) or f"the engine does not say which models it serves: HTTP {status}"
    names = served_names(body)
    if not names or (served and served not in names):
        return f"the engine serves {', '.join(names) or 'no model'}, wanted {served or 'any'}"
    wish = {"model": served or names[0], "prompt": "1", "max_tokens": 1, "temperature": 0, "ignore_eos": True}
    try:
        status, body = engine.ask("/v1/completions", GENERATION_TIMEOUT, json.dumps(wish).encode())
    except OSError as error:
        return f"the first generation failed: {why(error)}"
    if status != 200:
        return engine.refusal(status) or f"the first generation failed: HTTP {status}: {own_words(body)}"
    return "" if generated(body) else "the first generation failed: the answer has no token"


def served_names(body: bytes) -> list[str]:
    """The names in an answer of ``/v1/models``; none when it is not one."""
    try:
        return [str(entry["id"]) for entry in json.loads(body)["data"]]
    except (ValueError, KeyError, TypeError):
        return []


def generated(body: bytes) -> int:
    """Tokens that an answer says it brought; 0 when it does not say."""
    try:
        return int(json.loads(body)["usage"]["completion_tokens"])
    except (ValueError, KeyError, TypeError):
        return 0
