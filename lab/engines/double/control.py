# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control port: tests turn faults on and off, and read counts, over HTTP on the loopback interface."""

from __future__ import annotations

from collections.abc import Callable

from .counts import Counts
from .faults import FAULTS, FaultError, Faults
from .http_server import Request, Response, json_response
from .wishes import ApiError, json_body

FAULT = "fault"
COUNTS = "counts"


class Control:
    """GET /fault, POST /fault/NAME with JSON parameters, DELETE /fault/NAME, DELETE /fault; GET and DELETE /counts."""

    def __init__(self, faults: Faults, counts: Counts, on_change: Callable[[], None]) -> None:
        self._faults = faults
        self._counts = counts
        self._on_change = on_change

    async def handle(self, request: Request) -> Response:
        """Answer any request."""
        path, _slash, name = request.path.lstrip("/").partition("/")
        if path == COUNTS and request.method in ("GET", "DELETE"):
            if request.method == "DELETE":
                self._counts.clear()
            return json_response(self._counts.value())
        if path != FAULT:
            return json_response({"detail": "Not Found"}, 404)
        if request.method == "GET":
            return json_response({"active": self._faults.active(), "known": FAULTS})
        if request.method == "DELETE":
            self._faults.clear(name or None)
        elif request.method == "POST":
            try:
                self._faults.set(name, json_body(request.body or b"{}"))
            except (FaultError, ApiError) as error:
                return json_response({"detail": str(error)}, 400)
        else:
            return json_response({"detail": "Method Not Allowed"}, 405)
        self._on_change()
        return json_response({"active": self._faults.active()})
