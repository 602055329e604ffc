# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway that one writes in an afternoon, for comparison: FastAPI and httpx, engines in turn, no health, no keys.

ENGINES holds their addresses, separated by blanks. The pool of connections has no limit, as the default of 100 would
hold back what is measured.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncIterator

import httpx
from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

app = FastAPI()
client = httpx.AsyncClient(timeout=600, limits=httpx.Limits(max_connections=None, max_keepalive_connections=None))
turn = itertools.cycle(os.environ["ENGINES"].split())


@app.get("/health")
async def health() -> dict[str, str]:
    return {"status": "ok"}


@app.post("/v1/{path:path}")
async def forward(path: str, request: Request) -> Response:
    body = await request.body()
    headers = {"content-type": "application/json"}
    ask = client.build_request("POST", f"{next(turn)}/v1/{path}", content=body, headers=headers)
    reply = await client.send(ask, stream=True)
    kind = reply.headers["content-type"]
    if not kind.startswith("text/event-stream"):
        return Response(await reply.aread(), reply.status_code, media_type=kind)

    async def events() -> AsyncIterator[bytes]:
        async for piece in reply.aiter_raw():
            yield piece
        await reply.aclose()

    return StreamingResponse(events(), reply.status_code, media_type=kind)
