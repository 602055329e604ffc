# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HAProxy's front: who may ask for what, and which deployment the request goes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import paths
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.haproxy_backends import BY_ID, RESPONSES_MAP
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.haproxy_words import quoted, returned, section

# One line a request: who asked for what and how it went. Never bodies, queries or keys.
LOGGED = (
    "log global",
    "log-format "
    + quoted(
        "client=%ci:%cp key=%[var(txn.key)] method=%HM path=%HPO deployment=%b server=%s status=%ST wait_ms=%Tw"
        " connect_ms=%Tc first_byte_ms=%Tr total_ms=%Ta bytes_in=%U bytes_out=%B end=%tsc retries=%rc queue=%sq/%bq"
    ),
)
KEYS_MAP = "keys.map"
MODELS = "models.json"
CERTIFICATE = "tls.pem"

# Bytes of a body that are held in a buffer: looked into for its model, and sent again to another replica. A running
# stream has up to one buffer: 128 streams take 8 MB with the small ones, 150 MB with the large ones, which are only
# needed where the model decides on the way.
SMALL_LOOK = 64 << 10
LARGE_LOOK = 1 << 20
REWRITE = 4096  # of a buffer, for the headers
_BODY_SECONDS = 60
_CHAINED = "{ var(txn.response) -m found }"
_TOKEN = {"bearer": "http_auth_bearer", "plain": "req.hdr(x-api-key)"}


def look(description: Mapping[str, Any]) -> int:
    """Return how many bytes of a body are looked into for the model."""
    return LARGE_LOOK if len(description["deployments"]) > 1 else SMALL_LOOK


def _health(backends: Mapping[str, str]) -> list[str]:
    """Return the gateway's own health: some deployment has a replica, and the router that leads there is up, too."""
    return [
        *(
            returned(200, '{"status": "ok"}', f"if {{ path {paths.HEALTH} }} {' '.join(takes)}")
            for takes in (
                ["{ stopping }"],
                *(
                    [f"{{ nbsrv({name}) gt 0 }}" for name in dict.fromkeys((deployment, backend))]
                    for deployment, backend in backends.items()
                ),
            )
        ),
        returned(503, '{"status": "no replica takes requests"}', f"if {{ path {paths.HEALTH} }}"),
    ]


def _keys() -> list[str]:
    """Return the check of the client's key: its digest is looked up, so no comparison's time tells of a key."""
    lines = [
        f"http-request set-var(txn.key) {token},sha2(256),hex,lower,map_str({KEYS_MAP}) if {{ {token} -m found }}"
        for token in _TOKEN.values()
    ]
    found = " or ".join(f"{{ {token} -m found }}" for token in _TOKEN.values())
    return [
        *lines,
        returned(401, paths.NO_KEY, f"unless {found}"),
        returned(401, paths.WRONG_KEY, "unless { var(txn.key) -m found }"),
    ]


def _models(names: Sequence[str]) -> list[str]:
    """Return the answers to GET /v1/models and to GET /v1/models/NAME, in which a slash may be written %2F."""
    of_all = f"http-request return status 200 content-type application/json file {MODELS}"
    lines = [f"{of_all} if METH_GET {{ path {paths.MODELS} }}"]
    for name in names:
        match = f"if METH_GET {{ path,url_dec -m str {quoted(f'{paths.MODELS}/{name}')} }}"
        lines.append(returned(200, paths.model(name), match))
    lines.append(returned(404, paths.unknown_model(names), f"if METH_GET {{ path -m beg {paths.MODELS}/ }}"))
    return lines


def _allowed(description: Mapping[str, Any]) -> list[str]:
    routes = [*paths.GENERATION, *paths.further(description["paths"])]
    if description["responses"] != "off":
        routes += paths.STORED
    lines = []
    for route in routes:
        how = "beg" if route.prefix else "str"
        methods = f"{{ method {' '.join(route.methods)} }}"
        match = f"if {methods} {{ path -m {how} {quoted(route.path)} }}"
        lines.append(f"http-request set-var(txn.allowed) bool(true) {match}")
    return [
        *lines,
        # A prefix must not be left again by dots.
        returned(404, paths.NO_PATH, "if { path,url_dec -m sub /.. }"),
        returned(404, paths.NO_PATH, "unless { var(txn.allowed) -m bool }"),
    ]


def _body(description: Mapping[str, Any]) -> list[str]:
    """Return the limit of the body; one without a length is taken as far as it can be looked into."""
    most = look(description)
    limit = description["body_limit"]
    return [
        returned(413, paths.too_large(limit), f"if {{ req.hdr_val(content-length) gt {limit} }}"),
        f"http-request wait-for-body time {_BODY_SECONDS}s if METH_POST",
        returned(
            411,
            paths.no_length(most),
            f"if METH_POST !{{ req.hdr(content-length) -m found }} {{ req.body_len ge {most - REWRITE} }}",
        ),
    ]


def _routes(description: Mapping[str, Any]) -> list[str]:
    """Return the choice of the deployment by the model of the body."""
    deployments = description["deployments"]
    names = paths.model_names(description)
    lines = ["http-request set-var(txn.model) req.body,json_query('$.model') if METH_POST"]
    known = " ".join(quoted(name) for name in names)
    if len(deployments) == 1:
        unknown = f"if {{ var(txn.model) -m found }} !{{ var(txn.model) -m str {known} }}"
        return [*lines, returned(404, paths.unknown_model(names), unknown)]
    lines += [
        "http-request set-var(txn.model) req.hdr(x-model) unless { var(txn.model) -m found }",
        returned(400, paths.no_model(LARGE_LOOK, names), "unless { var(txn.model) -m found }"),
        returned(404, paths.unknown_model(names), f"unless {{ var(txn.model) -m str {known} }}"),
    ]
    return lines


def _choices(description: Mapping[str, Any], backends: Mapping[str, str], routed: bool) -> list[str]:
    """Return the backends: of a router for what it knows, the engines' own for the stored responses."""
    deployments = description["deployments"]
    lines = []
    for deployment in deployments:
        match = f"{{ var(txn.model) -m str {quoted(deployment['served_model_name'])} }}"
        if len(deployments) == 1:
            match = ""
        if routed and not description["litellm"]["own_keys"]:
            others = f"!{{ path -m str {paths.GENERATION_PATHS} }}"
            lines.append(f"use_backend {deployment['name']} if {others} {match}".rstrip())
        if match:
            lines.append(f"use_backend {backends[deployment['name']]} if {match}")
    if len(deployments) == 1:
        lines.append(f"default_backend {backends[deployments[0]['name']]}")
    return lines


def front(description: Mapping[str, Any], backends: Mapping[str, str], *, asks_for_keys: bool, routed: bool) -> str:
    """Return the frontend that clients talk to.

    :param backends: deployment -> the backend for its requests
    :param asks_for_keys: whether HAProxy checks the client's key
    :param routed: a router stands between; stored responses go past it
    """
    listen = description["listen"]
    address = f"[{listen['address']}]" if ":" in listen["address"] else listen["address"]
    tls = f" ssl crt {CERTIFICATE} alpn h2,http/1.1 ssl-min-ver TLSv1.2" if description["tls"] else ""
    lines = [f"bind {address}:{listen['port']} backlog 4096{tls}", *LOGGED, *_health(backends)]
    if asks_for_keys:
        lines += _keys()
    lines += _models(paths.model_names(description)) + _allowed(description) + _body(description)
    if description["responses"] == BY_ID:
        lines += [
            "http-request set-var(txn.response) req.body,json_query('$.previous_response_id') if METH_POST",
            f"http-request set-var(txn.response) path,field(4,/) if {{ path -m beg {paths.RESPONSES}/ }}",
            f"http-request set-var(txn.pin) var(txn.response),map_str({RESPONSES_MAP}) if {_CHAINED}",
        ]
    lines += _routes(description) + _choices(description, backends, routed)
    return section("frontend gateway", lines)
