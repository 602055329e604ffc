# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HAProxy's configuration, as the gateway itself and as the front of a router.

Runs on HAProxy 2.6, 2.8 and 3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import paths, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.haproxy_backends import (
    BY_ID,
    DEPLOYMENT_PORT,
    LOOPBACK,
    REPLICA_PORT,
    RESPONSES_MAP,
    ROUTER_PORT,
    admission,
    deployment_backend,
    only,
    shown,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.haproxy_front import (
    KEYS_MAP,
    LOGGED,
    MODELS,
    REWRITE,
    front,
    look,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.haproxy_states import (
    KEEP_STATES,
    PROGRAM,
    STATES,
    states,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.haproxy_words import quoted, section
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import (
    RUN_FOLDER,
    File,
    Rendered,
    key_digest_placeholder,
)

PACKAGES = ("haproxy",)
CONFIGURATION = "haproxy.cfg"
CHECK = ("/usr/sbin/haproxy", "-c", "-q", "-f", f"{{folder}}/{CONFIGURATION}")

_CONNECTIONS = 4096
# An old process after a reload lives no longer, in seconds: streams may.
_LONGEST_STREAM = 3600


@dataclass(frozen=True)
class Middle:
    """A router between HAProxy's front and HAProxy's loopback listeners.

    :ivar health: path of its own health check
    :ivar port: where it listens on loopback
    :ivar own_keys: it checks the clients' keys itself
    """

    name: str
    health: str
    port: int = ROUTER_PORT
    own_keys: bool = False


def _global(description: Mapping[str, Any]) -> str:
    lines = [
        f"maxconn {_CONNECTIONS}",
        "nbthread 2",
        "log stdout format short local0 info",
        "default-path config",
        f"stats socket {RUN_FOLDER}/admin.sock mode 600 level user",
        f"server-state-file {RUN_FOLDER}/{STATES}",
        f"tune.bufsize {look(description) + REWRITE}",
        f"hard-stop-after {max(_LONGEST_STREAM, description['timeout'])}s",
    ]
    return section("global", lines)


def _defaults(description: Mapping[str, Any]) -> str:
    timeout = description["timeout"]
    lines = [
        "mode http",
        "load-server-state-from-file global",
        f"timeout connect {description['connect_timeout']}s",
        f"timeout client {timeout}s",
        f"timeout server {timeout}s",
        f"timeout queue {timeout}s",
        "timeout http-request 30s",
        "timeout http-keep-alive 300s",
        "timeout check 1500ms",
        "option http-keep-alive",
        # A new connection for each request costs up to 20 ms when 128 begin at once. One that the engine has closed
        # after its 5 s is noticed by `retry-on`, which can send again what fits into a buffer.
        "http-reuse always",
        "option idle-close-on-response",
        "option http-no-delay",
        "option abortonclose",
        "option dontlognull",
        # While the others are full, the replica that has just died is the least busy one: a request is refused there
        # again and again, for the milliseconds until a check has found it (see `fastinter`).
        "option redispatch 1",
        "retries 1000",
        "retry-on conn-failure empty-response",
        *(
            f"http-error status {status} content-type application/json string {quoted(body)}"
            for status, body in paths.OWN_ERRORS.items()
        ),
    ]
    return section("defaults", lines)


def _metrics(description: Mapping[str, Any]) -> str:
    metrics = description["metrics"]
    address = f"[{metrics['address']}]" if ":" in metrics["address"] else metrics["address"]
    lines = [
        f"bind {address}:{metrics['port']}",
        "http-request use-service prometheus-exporter if { path /metrics }",
        "http-request return status 404",
    ]
    return section("frontend metrics", lines)


def _listeners(description: Mapping[str, Any]) -> list[str]:
    """Return what a router finds on loopback: each deployment, and each replica, whose /health is HAProxy's verdict."""
    found = []
    place = 0
    for number, deployment in enumerate(description["deployments"]):
        name = deployment["name"]
        bind = f"bind {LOOPBACK}:{DEPLOYMENT_PORT + number}"
        found.append(section(f"frontend deployment_{name}", [bind, *LOGGED, f"default_backend {name}"]))
        for replica in deployment["replicas"]:
            lines = [
                f"bind {LOOPBACK}:{REPLICA_PORT + place}",
                *LOGGED,
                f"monitor-uri {paths.HEALTH}",
                f"monitor fail if {{ nbsrv({only(replica)}) eq 0 }} !{{ stopping }}",
                f"monitor fail if {{ srv_uweight({name}/{replica['name']}) eq 0 }}",
                # vllm-router asks engines for their load, which would take a place of a request.
                f"http-request return status 404 unless {{ path -m str {paths.GENERATION_PATHS} }}",
                # A drained one is up, and a router learns of it with its next check only.
                f"http-request set-var(txn.first) str({replica['name']}) if {{ nbsrv({only(replica)}) gt 0 }}",
                f"default_backend {name}",
            ]
            found.append(section(f"frontend replica_{replica['name']}", lines))
            place += 1
    return found


def _to_router(deployment: Mapping[str, Any], middle: Middle) -> str:
    """Return the backend that gives a deployment's requests to the router, if a replica would take them."""
    lines = [*admission(deployment)]
    if not middle.own_keys:
        lines.append("http-request del-header authorization")
    lines += [
        "http-request del-header x-api-key",
        f"option httpchk GET {middle.health}",
        # A busy router answers late; one that hangs for half a minute gets nothing more.
        "timeout check 10s",
        f"server {middle.name} {LOOPBACK}:{middle.port} check inter 2s downinter 500ms fall 15",
        # LiteLLM writes the 429 of the listener behind it anew, and leaves this out.
        (
            f"http-response set-header retry-after {paths.RETRY_AFTER_SECONDS}"
            " if { status 429 } !{ res.hdr(retry-after) -m found }"
        ),
    ]
    return section(f"backend {middle.name}_{deployment['name']}", lines)


def configuration(description: Mapping[str, Any], middle: Middle | None = None) -> str:
    """Return haproxy.cfg: the front, the deployments, and with a router between its loopback listeners."""
    deployments = description["deployments"]
    whole = middle is not None
    backends = {each["name"]: f"{middle.name}_{each['name']}" if middle else each["name"] for each in deployments}
    asks_for_keys = bool(description["keys"]) and not (middle and middle.own_keys)
    parts = [
        _global(description),
        _defaults(description),
        front(description, backends, asks_for_keys=asks_for_keys, routed=whole),
        _metrics(description),
    ]
    for deployment in deployments:
        if middle:
            parts.append(_to_router(deployment, middle))
        parts.append(deployment_backend(deployment, description))
        if whole or description["responses"] != "off":
            parts += shown(deployment, whole or description["responses"] == BY_ID)
    if middle:
        parts += _listeners(description)
    return "\n".join(parts)


def files(description: Mapping[str, Any], middle: Middle | None = None) -> tuple[File, ...]:
    """Return all files of HAProxy."""
    made = [
        File(CONFIGURATION, configuration(description, middle)),
        File(STATES, states(description)),
        File(KEEP_STATES, PROGRAM),
        File(MODELS, paths.models(paths.model_names(description))),
    ]
    if description["keys"]:
        lines = [f"{key_digest_placeholder(name)} {name}\n" for name in description["keys"]]
        made.append(File(KEYS_MAP, "".join(lines)))
    if description["responses"] == BY_ID:
        made.append(File(RESPONSES_MAP, ""))
    return tuple(made)


def render(description: Mapping[str, Any], host: str) -> Rendered:
    """Return the gateway on a host with HAProxy alone."""
    program = units.haproxy()
    return Rendered((*files(description), *program.files), (program.unit,), (CHECK,))
