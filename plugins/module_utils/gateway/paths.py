# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all providers say alike: the paths that are let through and the JSON of the gateway's own errors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HEALTH = "/health"
MODELS = "/v1/models"
RESPONSES = "/v1/responses"
RETRY_AFTER_SECONDS = 1


@dataclass(frozen=True)
class Route:
    """A path that goes to an engine; a prefix matches itself and all that follows."""

    path: str
    methods: tuple[str, ...] = ("POST",)
    prefix: bool = False


GENERATION = (Route("/v1/chat/completions"), Route("/v1/completions"), Route("/v1/embeddings"))
GENERATION_PATHS = " ".join(route.path for route in GENERATION)
STORED = (Route(RESPONSES), Route(f"{RESPONSES}/", ("GET", "POST", "DELETE"), prefix=True))


def further(paths: Sequence[str]) -> tuple[Route, ...]:
    """Return the routes of the description's own paths: exact ones, or prefixes that end in ``*``."""
    return tuple(Route(path.rstrip("*"), ("GET", "POST"), path.endswith("*")) for path in paths)


def error(message: str, code: str, kind: str = "invalid_request_error", param: str | None = None) -> str:
    """Return the JSON of an error as OpenAI's clients read it."""
    return json.dumps({"error": {"message": message, "type": kind, "param": param, "code": code}})


NO_KEY = error("No API key was given: send the header `Authorization: Bearer KEY`.", "missing_api_key")
WRONG_KEY = error("This API key is wrong or has been revoked.", "invalid_api_key")
NO_PATH = error("This gateway does not serve this method and path.", "unknown_path")
QUEUE_FULL = error(
    "All replicas are busy and the queue is full; ask again after the seconds of Retry-After.",
    "queue_full",
    "rate_limit_error",
)
SHORT_OF_MEMORY = error(
    "The replicas that are up are short of memory and take no new request now; ask again after the seconds of "
    "Retry-After.",
    "memory_pressure",
    "rate_limit_error",
)

#: What a proxy says by itself, status -> JSON.
OWN_ERRORS: dict[int, str] = {
    400: error("The gateway cannot read this HTTP request.", "bad_request"),
    408: error("The request did not arrive in time.", "request_timeout"),
    500: error("The gateway has an internal error; its log says more.", "gateway_error", "server_error"),
    502: error("The replica ended the connection without a valid answer.", "bad_gateway", "server_error"),
    503: error(
        "No replica took the request in time: it waited in the queue too long, or none can be reached.",
        "no_replica",
        "server_error",
    ),
    504: error("The replica gave no answer in time (gateway_timeout).", "gateway_timeout", "server_error"),
}


def too_large(limit: int) -> str:
    """Return the error for a body of more than `limit` bytes."""
    return error(
        f"The body is larger than {limit} bytes, the most that this gateway takes (gateway_body_limit).",
        "body_too_large",
    )


def no_length(most: int) -> str:
    """Return the error for a body of unknown length that is larger than `most` bytes."""
    return error(
        f"A body of more than about {most // 1024} kB needs the header Content-Length (no chunked transfer).",
        "length_required",
    )


def no_model(looked: int, names: Sequence[str]) -> str:
    """Return the error for a body whose model was not found in its first `looked` bytes."""
    return error(
        f"No model was found in the first {looked // 1024} kB of the body: write `model` before the long fields, or "
        f"send the header `x-model: NAME` too. Models: {', '.join(names)}.",
        "model_not_seen",
        param="model",
    )


def model_names(description: Mapping[str, Any]) -> list[str]:
    """Return the served names of all deployments."""
    return [deployment["served_model_name"] for deployment in description["deployments"]]


def unknown_model(names: Sequence[str]) -> str:
    """Return the error for a model that no deployment serves; it lists those that are served."""
    return error(f"There is no such model here. Models: {', '.join(names)}.", "model_not_found", param="model")


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "dgxspark.serving"}


def model(name: str) -> str:
    """Return the answer to GET /v1/models/NAME."""
    return json.dumps(_model(name))


def models(names: Sequence[str]) -> str:
    """Return the answer to GET /v1/models: the models of all deployments."""
    return json.dumps({"object": "list", "data": [_model(name) for name in names]})
