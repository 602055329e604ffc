# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's HTTP API, as far as readiness and status need it. An edge: it does I/O, standard library only."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.readiness import Generation
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.engine import REFUSED, own_words

PROMPT = "Count upwards from one:"
# Answers to /health and the like come at once or not at all, in seconds.
QUICK = 5.0


class EngineApi:
    """The API at one base URL. No proxy is used, whatever the environment says (field fault B11).

    :ivar refused: the status by which the engine refused our key in the last answer; None when it did not
    """

    def __init__(self, base_url: str, key: str = "") -> None:
        """``key`` is sent with every request; with an empty one none is."""
        self.base_url = base_url.rstrip("/")
        self.refused: int | None = None
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def health(self) -> int | None:
        """Status of ``/health``, or None when nothing answers."""
        status, _body = self._get("/health")
        return status

    def served(self) -> list[str] | None:
        """Names in ``/v1/models``, or None when there is no sound answer."""
        answer = self._get_json("/v1/models")
        try:
            return [str(entry["id"]) for entry in answer["data"]]
        except (KeyError, TypeError):
            return None

    def context(self) -> int | None:
        """Tokens of the longest context, where the engine says it."""
        answer = self._get_json("/v1/models")
        try:
            return int(answer["data"][0]["max_model_len"])
        except (KeyError, IndexError, TypeError, ValueError):
            return None

    def version(self) -> str:
        """The engine's version; empty where it has no such endpoint."""
        answer = self._get_json("/version")
        return str(answer.get("version", "")) if isinstance(answer, dict) else ""

    def generate(self, model: str, max_tokens: int, timeout: float) -> Generation:
        """Ask for exactly ``max_tokens`` tokens; ``timeout`` in seconds."""
        payload = {
            "model": model,
            "prompt": PROMPT,
            "max_tokens": max_tokens,
            "temperature": 0,
            "ignore_eos": True,
        }
        request = urllib.request.Request(
            f"{self.base_url}/v1/completions",
            data=json.dumps(payload).encode(),
            headers={"Content-Type": "application/json", **self._headers},
        )
        start = time.monotonic()
        try:
            with self._opener.open(request, timeout=timeout) as response:
                answer = json.loads(response.read())
            seconds = time.monotonic() - start
            return Generation(
                tokens=int(answer["usage"]["completion_tokens"]),
                seconds=seconds,
                fingerprint=str(answer.get("system_fingerprint") or ""),
            )
        except urllib.error.HTTPError as error:
            return Generation(error=f"HTTP {error.code}: {own_words(error.read())}")
        except TimeoutError:
            return Generation(error=f"no answer within {timeout:g} s")
        except (OSError, http.client.HTTPException) as error:
            return Generation(error=str(error) or type(error).__name__)
        except (ValueError, KeyError, TypeError):
            return Generation(error="the answer has no usage.completion_tokens")

    def _get(self, path: str) -> tuple[int | None, bytes]:
        self.refused = None
        request = urllib.request.Request(self.base_url + path, headers=self._headers)
        try:
            with self._opener.open(request, timeout=QUICK) as response:
                return response.status, response.read()
        except urllib.error.HTTPError as error:
            self.refused = error.code if error.code in REFUSED else None
            return error.code, error.read()
        except (OSError, http.client.HTTPException):
            return None, b""

    def _get_json(self, path: str) -> Any:
        status, body = self._get(path)
        if status != 200:
            return None
        try:
            return json.loads(body)
        except ValueError:
            return None
