# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until a unit of the gateway does its work, or find out why it does not. An edge: it asks the gateway."""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Set
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.service import Service, children
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.unit_state import State, cause
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused

# Seconds between two looks.
PAUSE = 0.3
OK = 200
# Seconds for one answer.
PATIENCE = 2.0


def answers(listen: Mapping[str, Any]) -> bool:
    """Whether the front says anything in HTTP: without a ready replica that is a 503.

    :param listen: ``address``, ``port``, and ``tls``, whose certificate is not looked at
    """
    return _health(listen) > 0


def settle(listen: Mapping[str, Any], seconds: float) -> None:
    """Wait until the front takes requests; without a ready replica it does not, and that is no fault of it."""
    end = time.monotonic() + seconds
    while _health(listen) != OK and time.monotonic() < end:
        time.sleep(PAUSE)


def _health(listen: Mapping[str, Any]) -> int:
    """Status of the front's own health; 0 when nobody answers."""
    address, port = _reached(listen["address"]), int(listen["port"])
    if listen["tls"]:
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        asked: http.client.HTTPConnection = http.client.HTTPSConnection(
            address, port, timeout=PATIENCE, context=trusting
        )
    else:
        asked = http.client.HTTPConnection(address, port, timeout=PATIENCE)
    try:
        asked.request("GET", "/health")
        return asked.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        asked.close()


def listens(port: int) -> bool:
    """Whether somebody takes connections at a port of loopback."""
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
    except OSError:
        return False
    return True


def _reached(address: str) -> str:
    """Where one reaches from the host itself what listens on an address."""
    found = ipaddress.ip_address(address)
    if found.is_unspecified:
        return "127.0.0.1" if found.version == 4 else "::1"
    return address


def until(
    service: Service,
    works: Callable[[], bool],
    seconds: float,
    began: float,
    before: Set[int] | None = None,
    must: bool = True,
) -> None:
    """Wait until a unit has worked in two looks, with the same process.

    :param began: Unix seconds since when its journal counts
    :param before: child processes before a reload; then a new one has to stay. A program that does not like its new
        configuration goes on with the old one
    :param must: without that, one that runs and does not work in time is good, too: it waits for something else
    :raises Refused: it ends again and again, or does not work in time, with what it says
    """
    end = time.monotonic() + seconds
    last: tuple[int, frozenset[int]] | None = None
    while True:
        state = service.state()
        if _gives_up(state):
            raise Refused(f"{service.name} ends again and again; it says: {cause(service.said(began))}.")
        new = frozenset(children(state.pid) - before) if before is not None else frozenset()
        if state.active == "active" and (before is None or new) and works():
            if last and last[0] == state.pid and (before is None or last[1] & new):
                return
            last = (state.pid, new)
        else:
            last = None
        if time.monotonic() > end:
            if not must and state.active == "active":
                return
            wanted = "does not take up its new configuration" if before is not None else "does not answer"
            raise Refused(f"{service.name} {wanted} within {seconds:.0f} s; it says: {cause(service.said(began))}.")
        time.sleep(PAUSE)


def _gives_up(state: State) -> bool:
    """Whether a unit that was started has ended. Its count of restarts begins anew at each start by hand."""
    return state.active == "failed" or (state.sub == "auto-restart" and state.restarts > 0)
