# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's systemd units, and the programs that they run. Pure.

A unit's text never changes, whatever the provider: systemd takes up another one with ``daemon-reload`` alone, which
takes the GPU from running containers (field fault D08). What a unit runs is a rendered file.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import FOLDER, RUN_FOLDER, File, Unit

USER = "dgxspark-gateway"
FRONT = "dgxspark-gateway.service"
ROUTER = "dgxspark-gateway-router.service"
START, RELOAD, ROUTER_START = "start", "reload", "router-start"
ENV_FILE = "litellm.env"

_HAPROXY = "/usr/sbin/haproxy"
_NGINX = f"/usr/sbin/nginx -e stderr -p {RUN_FOLDER}/ -c {FOLDER}/nginx.conf"

_HARDENED = f"""\
User={USER}
Group={USER}
Restart=always
RestartSec=1
LimitNOFILE=65536
# It is small, and all replicas hang on it: it is asked to give way late when memory runs out.
OOMScoreAdjust=-900
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectProc=invisible
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
# No MemoryDenyWriteExecute: HAProxy compiles its patterns while it runs, LiteLLM brings native code.
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
"""

_FRONT = f"""\
# Written by dgxspark.serving. What it runs: {FOLDER}/{START}.
[Unit]
Description=dgxspark.serving gateway
Documentation=https://github.com/dgxspark/serving
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=/bin/sh {FOLDER}/{START}
ExecReload=/bin/sh {FOLDER}/{RELOAD}
# The first process tells the others to end.
KillMode=mixed
TimeoutStopSec=30
RuntimeDirectory={RUN_FOLDER.rpartition("/")[2]}
RuntimeDirectoryMode=0750
# Ports below 1024 without root.
AmbientCapabilities=CAP_NET_BIND_SERVICE
CapabilityBoundingSet=CAP_NET_BIND_SERVICE
{_HARDENED}
[Install]
WantedBy=multi-user.target
"""

_ROUTER = f"""\
# Written by dgxspark.serving. What it runs: {FOLDER}/{ROUTER_START}.
[Unit]
Description=dgxspark.serving router behind the gateway
Documentation=https://github.com/dgxspark/serving
Wants=network-online.target {FRONT}
After=network-online.target {FRONT}
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=/bin/sh {FOLDER}/{ROUTER_START}
# Keys of its own, where it has any.
EnvironmentFile=-{FOLDER}/{ENV_FILE}
TimeoutStopSec=30
RuntimeDirectory={RUN_FOLDER.rpartition("/")[2]}-router
RuntimeDirectoryMode=0750
CapabilityBoundingSet=
{_HARDENED}
[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class Program:
    """What a unit runs, and the unit.

    :ivar files: scripts that the unit calls
    """

    files: tuple[File, ...]
    unit: Unit


def haproxy() -> Program:
    """HAProxy in front, with its servers' states kept over a reload (see ``haproxy_states``)."""
    configuration, states = f"{FOLDER}/haproxy.cfg", f"{FOLDER}/servers.state"
    start = [
        f"cp {states} {RUN_FOLDER}/servers.state",
        f"exec {_HAPROXY} -W -f {configuration} -p {RUN_FOLDER}/haproxy.pid",
    ]
    reload = [
        f"{_HAPROXY} -c -q -f {configuration}",
        f"/usr/bin/python3 -I {FOLDER}/keep_states.py {states} {RUN_FOLDER}",
        'kill -USR2 "$MAINPID"',
    ]
    return _front(start, reload)


def nginx() -> Program:
    """Nginx in front."""
    start = [f"exec {_NGINX} -g 'daemon off;'"]
    # With a prefix of its own, for a check makes temporary folders, too.
    check = _NGINX.replace(RUN_FOLDER, "/tmp")
    return _front(start, [f"{check} -t -q", 'kill -HUP "$MAINPID"'])


def _front(start: Sequence[str], reload: Sequence[str]) -> Program:
    return Program((_script(START, start), _script(RELOAD, reload)), Unit(FRONT, _FRONT))


def router(argv: Sequence[str], environment: Mapping[str, str]) -> Program:
    """A router behind the front, with its command line."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    return Program((_script(ROUTER_START, [*lines, f"exec {shlex.join(argv)}"]),), Unit(ROUTER, _ROUTER))


def _script(name: str, lines: Sequence[str]) -> File:
    return File(name, "\n".join(["#!/bin/sh", "# Written by dgxspark.serving.", "set -eu", *lines]) + "\n")


def is_routers(file: str) -> bool:
    """Whether a file is one that only the router reads."""
    return file.startswith(("litellm", "vllm-router", "router"))
