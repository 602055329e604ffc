# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HAProxy's backends: the replicas of a deployment, whom they take and whom not, and what a router between needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import paths
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.haproxy_words import literal, returned, section
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import ENGINE_KEY

# A router that stands between has a loopback port, and behind it each replica and each deployment has one.
LOOPBACK = "127.0.0.1"
ROUTER_PORT = 29491
REPLICA_PORT = 29510
DEPLOYMENT_PORT = 29560

BY_ID = "by_id"
PINNED = "pinned"
RESPONSES_MAP = "responses.map"

# A refused connection calls for two checks at once. It does not mark the replica down by itself: that would end the
# sessions which are about to go to another one.
_SERVER = (
    "default-server check agent-check inter 1s fastinter 20ms fall 2 rise 1 agent-inter 1s weight 1 maxconn {limit}"
    " observe layer4 error-limit 1 on-error fastinter pool-purge-delay 4s"
    " on-marked-down shutdown-sessions init-addr last,libc,none"
)
_NONE_TAKES = "{ var(txn.none_takes) -m bool }"
_PINNED = "{ var(txn.pin) -m found }"
# A request that must stay at its replica is sent there or nowhere. HAProxy decides on this before it runs the rules of
# the backend, so the condition must hold before them.
_KEPT = {
    PINNED: f"force-persist if {{ path -m beg {paths.RESPONSES} }}",
    BY_ID: f"force-persist if {_PINNED}",
}
_RETRY = f"hdr retry-after {paths.RETRY_AFTER_SECONDS}"


def only(replica: Mapping[str, Any]) -> str:
    """Return the name of the backend that only shows whether a replica takes new requests."""
    return f"only_{replica['name']}"


def _host(address: str) -> str:
    """Return an address as it stands before a port."""
    return f"[{address}]" if ":" in address else address


def _state_message(before: str, deployment: Mapping[str, Any]) -> str:
    """Return the JSON, a log-format string, that names each replica's state."""
    states = ", ".join(
        f"{replica['name']} %[var(txn.state{number})]" for number, replica in enumerate(deployment["replicas"])
    )
    # Names of replicas are plain words: what HAProxy puts in needs no escapes of JSON.
    there = "STATES"
    return literal(paths.error(f"{before}: {there}.", "no_replica", "server_error")).replace(
        f": {there}.", f": {states}."
    )


def admission(deployment: Mapping[str, Any]) -> list[str]:
    """Return the rules that refuse a request which no replica of the deployment would take.

    A drained server and one of weight 0 are up and yet take no new request; only a weight of 0, which the door's agent
    gives under memory pressure, can be seen by itself.
    """
    name = deployment["name"]
    # A process that a reload has told to end counts no server, and yet serves the connections that it has.
    lines = [f"http-request set-var(txn.none_takes) bool(true) if {{ nbsrv({name}) eq 0 }} !{{ stopping }}"]
    for number, replica in enumerate(deployment["replicas"]):
        server = f"{name}/{replica['name']}"
        is_up = f"if {_NONE_TAKES} {{ srv_is_up({server}) }}"
        pressed = f"{is_up} {{ srv_uweight({server}) eq 0 }}"
        lines += [
            f'http-request set-var(txn.state{number}) str("is not ready") if {_NONE_TAKES}',
            f'http-request set-var(txn.state{number}) str("is draining") {is_up}',
            f'http-request set-var(txn.state{number}) str("is short of memory") {pressed}',
            f"http-request set-var(txn.pressed) bool(true) {pressed}",
        ]
    message = _state_message(f"No replica of {deployment['served_model_name']} takes requests now", deployment)
    return [
        *lines,
        returned(429, paths.SHORT_OF_MEMORY, f"if {_NONE_TAKES} {{ var(txn.pressed) -m bool }}", headers=_RETRY),
        returned(503, message, f"if {_NONE_TAKES}", headers=_RETRY, formatted=True),
        returned(429, paths.QUEUE_FULL, f"if {_is_full(deployment)}", headers=_RETRY),
    ]


def _is_full(deployment: Mapping[str, Any]) -> str:
    name, most = deployment["name"], deployment["queue"]
    return f"{{ queue({name}) ge {most} }}" if most else f"{{ be_conn_free({name}) le 0 }}"


def _pins(deployment: Mapping[str, Any], whole: bool) -> list[str]:
    """Return the rules that keep a request with txn.pin at one replica, without fail-over.

    :param whole: any replica may be the one, not the first alone
    """
    lines = []
    for replica in deployment["replicas"] if whole else deployment["replicas"][:1]:
        is_it = f"{{ var(txn.pin) -m str {replica['name']} }}"
        message = paths.error(
            f"This request belongs to the replica {replica['name']}, which takes no requests now; another one does not "
            "know its earlier responses.",
            "replica_not_ready",
            "server_error",
        )
        pressed = f"{{ srv_uweight({deployment['name']}/{replica['name']}) eq 0 }}"
        lines += [
            returned(503, message, f"if {is_it} {{ nbsrv({only(replica)}) eq 0 }} !{{ stopping }}", headers=_RETRY),
            returned(429, paths.SHORT_OF_MEMORY, f"if {is_it} {pressed}", headers=_RETRY),
        ]
    return lines


def _learning() -> list[str]:
    """Return the rules that note which replica made a response, streamed or not."""
    kinds = {
        "application/json": "res.body,json_query('$.id')",
        "text/event-stream": '\'res.body,regsub("(?s)^.*?\\"id\\": ?\\"(resp_[A-Za-z0-9_-]+)\\".*$","\\1")\'',
    }
    lines = ["http-request set-var(txn.stored) bool(true) if { path -m beg /v1/responses }"]
    for kind, found in kinds.items():
        matches = f"if {{ var(txn.stored) -m bool }} {{ res.hdr(content-type) -m beg {kind} }}"
        lines += [
            f"http-response wait-for-body time 10s at-least 512 {matches}",
            f"http-response set-var(txn.id) {found} {matches}",
        ]
    return [
        *lines,
        f"http-response set-map({RESPONSES_MAP}) %[var(txn.id)] %[srv_name] if {{ var(txn.id) -m beg resp_ }}",
    ]


def _server(replica: Mapping[str, Any]) -> str:
    """Return the line of a replica; a door at the engine's own address may have a name that is not resolved yet."""
    door, port = _host(replica["health_address"]), replica["health_port"]
    words = [f"server {replica['name']} {_host(replica['address'])}:{replica['port']} port {port} agent-port {port}"]
    if replica["health_address"] != replica["address"]:
        words.append(f"addr {door} agent-addr {door}")
    return " ".join([*words, 'agent-send "agent\\n"'])


def deployment_backend(deployment: Mapping[str, Any], description: Mapping[str, Any]) -> str:
    """Return the backend with the replicas of a deployment, by least connections.

    A router's choice, txn.first, is taken as long as that replica takes requests, and given up when it refuses one.
    """
    responses = description["responses"]
    # So that the journal has a line, with its level, for each change of a server's state.
    lines = ["log global", "balance leastconn", f"timeout queue {deployment['queue_timeout']}s"]
    if responses == PINNED:
        first = deployment["replicas"][0]["name"]
        lines.append(f"http-request set-var(txn.pin) str({first}) if {{ path -m beg {paths.RESPONSES} }}")
    lines += admission(deployment)
    if responses in _KEPT:
        lines += _pins(deployment, responses == BY_ID)
    if responses == BY_ID:
        lines += _learning()
    if description["engine_key"]:
        lines.append(f'http-request set-header authorization "Bearer {ENGINE_KEY}"')
    elif description["keys"]:
        lines.append("http-request del-header authorization")
    lines += [
        "http-request del-header x-api-key",
        *((f"use-server %[var(txn.pin)] if {_PINNED}", _KEPT[responses]) if responses in _KEPT else ()),
        "use-server %[var(txn.first)] if { var(txn.first) -m found }",
        "option httpchk",
        "http-check send meth GET uri /ready ver HTTP/1.1 hdr host door hdr connection close",
        "http-check expect status 200",
        _SERVER.format(limit=deployment["concurrency"]),
    ]
    lines += [_server(replica) for replica in deployment["replicas"]]
    return section(f"backend {deployment['name']}", lines)


def shown(deployment: Mapping[str, Any], whole: bool) -> list[str]:
    """Return the backends that tell of one replica whether it takes new requests; nothing is sent to them."""
    return [
        section(
            f"backend {only(replica)}",
            [
                (
                    f"server {replica['name']} {_host(replica['address'])}:{replica['port']}"
                    f" track {deployment['name']}/{replica['name']} init-addr last,libc,none"
                )
            ],
        )
        for replica in (deployment["replicas"] if whole else deployment["replicas"][:1])
    ]
