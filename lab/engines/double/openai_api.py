# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The HTTP API: which path does what, who may, and the answers that are no generation."""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

from . import VERSION, answers
from .command_line import ServeOptions
from .core import EngineCore, EngineError, Generation
from .counts import Counts
from .faults import Faults
from .http_server import CutStream, Request, Response, json_response
from .metrics import Metrics
from .responses_store import ResponsesStore
from .text import chat_text, token_ids
from .wishes import (
    ApiError,
    Wish,
    chat_wish,
    check_model,
    completion_wish,
    json_body,
    responses_messages,
    responses_wish,
)

#: Paths that begin so, and no others, are asked for the key.
GUARDED = ("/v1", "/v2", "/inference", "/cohere")
RESPONSES = "/v1/responses/"


Route = tuple[tuple[str, ...], Callable[[Request], Awaitable[Response]]]


class OpenAiApi:
    """Answers for one engine; `before_request` is told of every generation before it starts."""

    def __init__(
        self,
        options: ServeOptions,
        context: int,
        core: EngineCore,
        faults: Faults,
        metrics: Metrics,
        counts: Counts,
        before_request: Callable[[], None],
    ) -> None:
        self._options = options
        self._context = context
        self._core = core
        self._faults = faults
        self._metrics = metrics
        self._counts = counts
        self._store = ResponsesStore()
        self._before_request = before_request
        parallel = f"-tp{options.tensor_parallel_size}" if options.tensor_parallel_size > 1 else ""
        self._fingerprint = f"vllm-{VERSION}{parallel}-double"
        self._routes: dict[str, Route] = {
            "/health": (("GET",), self._health),
            "/ping": (("GET", "POST"), self._health),
            "/version": (("GET",), self._version),
            "/metrics": (("GET",), self._metrics_page),
            "/tokenize": (("POST",), self._tokenize),
            "/v1/models": (("GET",), self._models),
            "/v1/chat/completions": (("POST",), self._chat),
            "/v1/completions": (("POST",), self._completions),
            "/v1/responses": (("POST",), self._responses),
            "/invocations": (("POST",), self._invocations),
        }

    async def handle(self, request: Request) -> Response:
        """Answer any request."""
        self._counts.request(request.method, request.path)
        # Before there is any talk of paths and methods.
        if request.path.startswith(GUARDED) and request.method != "OPTIONS" and not self._allowed(request):
            self._counts.refuse()
            return json_response({"error": "Unauthorized"}, 401)
        methods, handler = self._route(request.path)
        if not methods:
            return json_response({"detail": "Not Found"}, 404)
        if request.method not in methods:
            return json_response({"detail": "Method Not Allowed"}, 405)
        try:
            return await handler(request)
        except ApiError as error:
            return json_response(error.value(), error.status)
        except EngineError as error:
            return json_response(ApiError(500, str(error), "InternalServerError").value(), 500)

    def _route(self, path: str) -> Route:
        if path.startswith(RESPONSES):
            return (("POST",), self._cancel) if path.endswith("/cancel") else (("GET",), self._stored)
        return self._routes.get(path, ((), self._health))

    def _allowed(self, request: Request) -> bool:
        scheme, _blank, token = request.headers.get("authorization", "").partition(" ")
        keys = self._options.api_keys
        right = any(hmac.compare_digest(token.encode(), key.encode()) for key in keys)
        return not keys or (scheme.lower() == "bearer" and right)

    def _names(self) -> tuple[str, ...]:
        wrong = self._faults.get("wrong-name")
        return (wrong["name"],) if wrong else self._options.served_names

    async def _health(self, request: Request) -> Response:
        broken = self._core.dead.is_set() or self._faults.on("health-503")
        return Response(503 if broken else 200)

    async def _version(self, request: Request) -> Response:
        return json_response({"version": VERSION})

    async def _metrics_page(self, request: Request) -> Response:
        if self._faults.on("no-metrics"):
            return json_response({"detail": "Not Found"}, 404)
        return Response(200, self._metrics.text().encode(), "text/plain; version=1.0.0; charset=utf-8")

    async def _models(self, request: Request) -> Response:
        if self._faults.on("models-503"):
            return Response(503)
        models = [
            {
                "id": name,
                "object": "model",
                "created": int(time.time()),
                "owned_by": "vllm",
                "root": self._options.model,
                "parent": None,
                "max_model_len": self._context,
            }
            for name in self._names()
        ]
        return json_response({"object": "list", "data": models})

    async def _tokenize(self, request: Request) -> Response:
        body = json_body(request.body)
        check_model(body, self._names())
        messages = body.get("messages")
        tokens = token_ids(chat_text(messages) if isinstance(messages, list) else str(body.get("prompt", "")))
        value = {"count": len(tokens), "max_model_len": self._context, "tokens": tokens, "token_strs": None}
        return json_response(value)

    async def _chat(self, request: Request) -> Response:
        return await self._answer(request, chat_wish, answers.Chat)

    async def _completions(self, request: Request) -> Response:
        return await self._answer(request, completion_wish, answers.Completion)

    async def _invocations(self, request: Request) -> Response:
        """What no key protects: vLLM guards paths, and this one does what others do."""
        return await (self._chat if "messages" in json_body(request.body) else self._completions)(request)

    async def _responses(self, request: Request) -> Response:
        body = json_body(request.body)
        check_model(body, self._names())
        self._store.check(body)
        messages = [*self._store.history(body.get("previous_response_id")), *responses_messages(body)]

        def keep(answer: answers.Form) -> None:
            self._store.keep(body, answer.whole(), messages)

        return await self._answer(request, partial(responses_wish, messages=messages), answers.Responses, keep)

    async def _stored(self, request: Request) -> Response:
        return json_response(self._store.get(request.path.removeprefix(RESPONSES)).response)

    async def _cancel(self, request: Request) -> Response:
        self._store.get(request.path.removeprefix(RESPONSES).removesuffix("/cancel"))
        raise ApiError(400, "Cannot cancel a synchronous response.", "invalid_request_error", "response_id")

    async def _answer(
        self,
        request: Request,
        read: Callable[[dict[str, Any], int], Wish],
        form: type[answers.Form],
        keep: Callable[[answers.Form], None] = lambda answer: None,
    ) -> Response:
        body = json_body(request.body)
        model = check_model(body, self._names())
        wish = read(body, self._context)
        self._counts.generation()
        self._before_request()
        try:
            self._core.check()
        except EngineError:
            self._counts.failure()
            raise
        answer = form(os.urandom(8).hex(), model, self._fingerprint, wish, self._faults)
        generations = [Generation(text, count, wish.max_tokens, wish.ignore_eos) for text, count in wish.prompts]
        if wish.stream:
            stream = self._stream(answer, generations, keep)
            return Response(content_type="text/event-stream; charset=utf-8", stream=stream)
        with self._counts.answer():
            for index, generation in enumerate(generations):
                async for tokens in self._core.generate(generation):
                    answer.add(index, tokens)
        keep(answer)
        return json_response(answer.whole())

    async def _stream(
        self, answer: answers.Form, generations: list[Generation], keep: Callable[[answers.Form], None]
    ) -> AsyncIterator[bytes]:
        made = 0
        started = False
        try:
            with self._counts.answer():
                for index, generation in enumerate(generations):
                    async for tokens in self._core.generate(generation):
                        if not started:
                            started = True
                            yield answer.start()
                        self._break_stream(made)
                        made += tokens.count
                        yield answer.piece(index, tokens)
                keep(answer)
                yield answer.end()
        except EngineError as error:
            yield answers.failed(ApiError(500, str(error), "InternalServerError").value())

    def _break_stream(self, made: int) -> None:
        cut = self._faults.get("truncate")
        if cut and made >= cut["after"]:
            raise CutStream
        broken = self._faults.get("stream-error")
        if broken and made >= broken["after"]:
            raise EngineError("a fault was asked for: stream-error")
