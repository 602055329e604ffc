# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Configuration of nginx (1.22 to 1.26) as the gateway of one deployment.

All paths in it are relative, files to the folder of nginx.conf and what nginx makes itself to its prefix (``-p``), so
that one text is checked where it is staged and used where it is installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import paths, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.nginx_text import (
    block,
    literal,
    none_reached,
    pinned_away,
    with_port,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import (
    ENGINE_KEY,
    File,
    Rendered,
    key_placeholder,
)

PACKAGES = ("nginx",)
NAME = "nginx.conf"
KEYS = "nginx-keys.conf"
CERTIFICATE = "tls.pem"
# nginx makes its temporary folders even when it only checks, so it gets a folder of its own for that.
CHECK = ("nginx", "-t", "-q", "-e", "stderr", "-p", "{scratch}/", "-c", f"{{folder}}/{NAME}")

# Seconds that a replica is left out after a request failed there.
FAIL_SECONDS = 5
# Engines close an idle connection after 5 s: nginx has to be first, or the next request meets a closing one (G04).
ENGINE_IDLE_SECONDS = 4
CLIENT_IDLE_SECONDS = 300
# Seconds for a door, which answers within 1 s, to say whether its replica is ready.
DOOR_SECONDS = 2

_TIMES = "first=$upstream_header_time total=$request_time bytes=$bytes_sent"
HEALTHY = '{"status": "ready"}'


def render(description: Mapping[str, Any], host: str) -> Rendered:
    """Return files and unit of nginx; the description has one deployment (``features.faults`` sees to it)."""
    program = units.nginx()
    files = [File(NAME, _configuration(description)), *program.files]
    if description["keys"]:
        files.append(File(KEYS, _keys(description["keys"])))
    return Rendered(tuple(files), (program.unit,), (CHECK,))


def _keys(names: Sequence[str]) -> str:
    """Patterns, for nginx compares plain strings without regard to case."""
    lines = ["# Client key -> its name. Written by dgxspark.serving."]
    lines += [f'"~^\\Q{key_placeholder(name)}\\E$" {name};' for name in names]
    return "\n".join(lines) + "\n"


def _configuration(description: Mapping[str, Any]) -> str:
    deployment = description["deployments"][0]
    lines = [
        "# Written by dgxspark.serving; changes are overwritten.",
        "worker_processes auto;",
        "pid nginx.pid;",
        "error_log stderr error;",
        f"worker_shutdown_timeout {description['timeout']}s;",
        *block("events", ["worker_connections 8192;"]),
        *block(
            "http",
            [
                *_general(description),
                *_key_maps(description["keys"]),
                *_failure_maps(),
                *_upstreams(deployment, description["responses"] != "off"),
                *block("server", _server(description, deployment)),
            ],
        ),
    ]
    return "\n".join(lines) + "\n"


def _general(description: Mapping[str, Any]) -> list[str]:
    key = "$gateway_key" if description["keys"] else "-"
    return [
        "server_tokens off;",
        "default_type application/json;",
        # Neither bodies nor query strings: they hold prompts and may hold keys.
        f"log_format gateway '$remote_addr {key} $request_method $uri $status $upstream_addr {_TIMES}';",
        # The journal: under systemd nginx cannot open its standard output as a file.
        "access_log syslog:server=unix:/dev/log,nohostname,tag=nginx gateway;",
        *(f"{kind}_temp_path {kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")),
        f"client_max_body_size {description['body_limit']};",
        "client_body_buffer_size 1m;",
        "client_header_timeout 30s;",
        f"client_body_timeout {description['timeout']}s;",
        f"send_timeout {description['timeout']}s;",
        f"keepalive_timeout {CLIENT_IDLE_SECONDS}s;",
    ]


def _key_maps(names: Sequence[str]) -> list[str]:
    """Find the name of the key that a client shows, and why it is refused: ``missing``, ``wrong`` or empty."""
    if not names:
        return []
    bearer = '"~^(?i:bearer) +(?<gateway_bearer>.+)$" $gateway_bearer;'
    return [
        *block("map $http_authorization $gateway_shown", ["default $http_x_api_key;", bearer]),
        *block("map $gateway_shown $gateway_key", ['default "";', f"include {KEYS};"]),
        *block("map $gateway_shown $gateway_why", ["default wrong;", '"" missing;']),
        *block("map $gateway_key $gateway_unknown", ['default "";', '"" $gateway_why;']),
        *block("map $uri $gateway_refused", ["default $gateway_unknown;", f'~^{paths.HEALTH}$ "";']),
    ]


def _failure_maps() -> list[str]:
    """Tell a replica that was never reached from one that had the request; only the first may be tried elsewhere."""
    return [
        *block("map $upstream_connect_time $gateway_after_502", ["default @lost;", '"~-$" @unreached;']),
        *block("map $upstream_connect_time $gateway_after_504", ["default @late;", '"~-$" @again;']),
        "limit_conn_zone $server_name zone=in_flight:32k;",
        "limit_conn_status 429;",
    ]


def _upstreams(deployment: Mapping[str, Any], pinned: bool) -> list[str]:
    engines = [with_port(replica["address"], replica["port"]) for replica in deployment["replicas"]]
    doors = [with_port(replica["health_address"], replica["health_port"]) for replica in deployment["replicas"]]
    idle = ["keepalive 64;", f"keepalive_timeout {ENGINE_IDLE_SECONDS}s;"]
    servers = [f"server {engine} max_fails=1 fail_timeout={FAIL_SECONDS}s;" for engine in engines]
    lines = block("upstream replicas", ["zone replicas 256k;", "least_conn;", *servers, *idle])
    if pinned:
        lines += block("upstream pinned", ["zone pinned 64k;", f"server {engines[0]};", *idle])
    return lines + block("upstream doors", [f"server {door} max_fails=0;" for door in doors])


def _server(description: Mapping[str, Any], deployment: Mapping[str, Any]) -> list[str]:
    listen, tls = description["listen"], description["tls"]
    in_flight = deployment["concurrency"] * len(deployment["replicas"]) + deployment["queue"]
    lines = [f"listen {with_port(listen['address'], listen['port'])}{' ssl' if tls else ''} backlog=4096;"]
    lines.append("server_name gateway;")
    if tls:
        lines += [f"ssl_certificate {CERTIFICATE};", f"ssl_certificate_key {CERTIFICATE};"]
        lines.append("ssl_protocols TLSv1.2 TLSv1.3;")
    if description["keys"]:
        for why, text in (("missing", paths.NO_KEY), ("wrong", paths.WRONG_KEY)):
            lines += block(f"if ($gateway_refused = {why})", [f"return 401 {literal(text)};"])
    lines += [f"limit_conn in_flight {in_flight};", *_proxying(description)]
    lines += [*_error_pages("$gateway_after_502", "$gateway_after_504"), "recursive_error_pages on;"]
    lines += _own_answers(deployment["served_model_name"])
    for route in (*paths.GENERATION, *paths.further(description["paths"])):
        lines += _route(route, ["proxy_pass http://replicas;"])
    if description["responses"] != "off":
        to_pinned = [*_error_pages("@pinned_away", "@late"), "proxy_pass http://pinned;"]
        for route in paths.STORED:
            lines += _route(route, to_pinned)
    lines += block("location /", ["return 404;"])
    return [*lines, *_failures(description, deployment)]


def _proxying(description: Mapping[str, Any]) -> list[str]:
    if description["engine_key"]:
        authorization = f'"Bearer {ENGINE_KEY}"'
    else:
        authorization = '""' if description["keys"] else "$http_authorization"
    return [
        "proxy_http_version 1.1;",
        'proxy_set_header Connection "";',
        "proxy_set_header Host $http_host;",
        f"proxy_set_header Authorization {authorization};",
        *(['proxy_set_header X-Api-Key "";'] if description["keys"] else []),
        "proxy_buffering off;",
        f"proxy_connect_timeout {description['connect_timeout']}s;",
        f"proxy_read_timeout {description['timeout']}s;",
        f"proxy_send_timeout {description['timeout']}s;",
        # Elsewhere only when the connection broke before an answer began: after a timeout or an error that the engine
        # itself answered, the first generation may still run.
        "proxy_next_upstream error non_idempotent;",
    ]


def _error_pages(after_502: str, after_504: str) -> list[str]:
    fixed = {400: "@bad", 404: "@no_path", 408: "@slow", 413: "@too_large", 429: "@busy", 500: "@broken"}
    targets = {**fixed, 502: after_502, 504: after_504}
    return [f"error_page {status} = {target};" for status, target in targets.items()]


def _route(route: paths.Route, inside: Sequence[str]) -> list[str]:
    methods = "|".join(route.methods)
    refuse = block(f"if ($request_method !~ ^({methods})$)", ["return 404;"])
    return block(f"location {'^~' if route.prefix else '='} {literal(route.path)}", [*refuse, *inside])


def _own_answers(name: str) -> list[str]:
    """What nginx answers itself: its health, which it asks the doors for, and the models."""
    health = [
        "auth_request /health/doors;",
        "error_page 500 502 504 = @unreached;",
        # Only to get past the question to the doors: there is no file of this name.
        "try_files /none @healthy;",
    ]
    doors = [
        "internal;",
        "proxy_pass http://doors/ready;",
        "proxy_pass_request_body off;",
        'proxy_set_header Content-Length "";',
        'proxy_set_header Authorization "";',
        f"proxy_read_timeout {DOOR_SECONDS}s;",
        "proxy_next_upstream error timeout http_503;",
    ]
    only_get = block("if ($request_method !~ ^(GET|HEAD)$)", ["return 404;"])
    return [
        *block(f"location = {paths.HEALTH}", [*only_get, *health]),
        *block("location = /health/doors", doors),
        *block("location @healthy", [f"return 200 {literal(HEALTHY)};"]),
        *block(f"location = {paths.MODELS}", [*only_get, f"return 200 {literal(paths.models([name]))};"]),
        *block(
            f"location = {literal(f'{paths.MODELS}/{name}')}",
            [*only_get, f"return 200 {literal(paths.model(name))};"],
        ),
        *block(f"location {paths.MODELS}/", [f"return 404 {literal(paths.unknown_model([name]))};"]),
    ]


def _failures(description: Mapping[str, Any], deployment: Mapping[str, Any]) -> list[str]:
    """The gateway's own errors; ``@again`` is the one that tries once more, for nothing had been sent."""
    again = ["error_page 502 504 = @unreached;", "proxy_pass http://replicas;"]
    later = [f"add_header Retry-After {paths.RETRY_AFTER_SECONDS} always;"]
    busy = [*later, f"return 429 {literal(paths.QUEUE_FULL)};"]
    unreached = [*later, f"return 503 {literal(none_reached(deployment))};"]
    lines = [*block("location @again", again), *block("location @busy", busy), *block("location @unreached", unreached)]
    if description["responses"] != "off":
        lines += block("location @pinned_away", [*later, f"return 503 {literal(pinned_away(deployment))};"])
    for name, status, text in (
        ("bad", 400, paths.OWN_ERRORS[400]),
        ("no_path", 404, paths.NO_PATH),
        ("slow", 408, paths.OWN_ERRORS[408]),
        ("too_large", 413, paths.too_large(description["body_limit"])),
        ("broken", 500, paths.OWN_ERRORS[500]),
        ("lost", 502, paths.OWN_ERRORS[502]),
        ("late", 504, paths.OWN_ERRORS[504]),
    ):
        lines += block(f"location @{name}", [f"return {status} {literal(text)};"])
    return lines
