# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which state HAProxy's servers begin.

HAProxy takes every server for up until its first check has failed: after a start or a reload a replica that loads,
hangs or drains would get requests for a second. So all begin down and with weight 0: the first good answer of the door
brings them up, and the first line of its agent gives them their weight. A reload takes over the states as they are,
of servers whose address has not changed: no request is refused for want of a check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STATES = "servers.state"
KEEP_STATES = "keep_states.py"

# One line of version 1 of the format of HAProxy's `show servers state`: id and name of backend and server, address,
# operational and administrative state, weight now and in the configuration, seconds since the last change, status,
# result, health and state of the check, state of the agent, two ids that are not forced, name that was resolved,
# port, SRV record, TLS, and the check's and the agent's own address and port.
_DOWN = "{id} {backend} {number} {server} {address} 0 0 0 1 0 1 0 0 6 22 0 0 {name} {port} - 0 0 - - 0"

PROGRAM = '''#!/usr/bin/python3
"""Write the states of HAProxy's servers as they are, for the process that a reload starts.

keep_states.py FILE FOLDER: FILE has the state that each server begins with, FOLDER the running HAProxy's admin.sock;
the result is FOLDER/servers.state. A server that is not running yet, or had another address, begins as FILE says.
"""

import os
import socket
import sys


def key(line):
    fields = line.split()
    return fields[1], fields[3], fields[17] if fields[17] != "-" else fields[4], fields[18]


def running(path):
    with socket.socket(socket.AF_UNIX) as asked:
        asked.settimeout(5)
        asked.connect(path)
        asked.sendall(b"show servers state\\n")
        answer = b"".join(iter(lambda: asked.recv(65536), b"")).decode()
    return {key(line): line for line in answer.splitlines() if len(line.split()) > 18 and not line.startswith("#")}


def main(first, folder):
    with open(first, encoding="utf-8") as text:
        lines = text.read().splitlines()
    try:
        now = running(os.path.join(folder, "admin.sock"))
    except OSError as error:
        print("The running HAProxy does not tell the states of its servers, they begin anew:", error, file=sys.stderr)
        now = {}
    lines = [line if len(line.split()) < 19 or line.startswith("#") else now.get(key(line), line) for line in lines]
    new = os.path.join(folder, ".servers.state.new")
    with open(new, "w", encoding="utf-8") as text:
        text.write("\\n".join(lines) + "\\n")
    os.replace(new, os.path.join(folder, "servers.state"))


main(*sys.argv[1:])
'''


def is_address(text: str) -> bool:
    """Say whether this is an IP address; a name has a letter beyond those of hex digits, or no colon."""
    return ":" in text or not any(letter.isalpha() for letter in text)


def states(description: Mapping[str, Any]) -> str:
    """Return the server-state file with which HAProxy starts."""
    lines = ["1", "# all servers are down until they have been looked at"]
    for place, deployment in enumerate(description["deployments"]):
        for number, replica in enumerate(deployment["replicas"], 1):
            known = is_address(replica["address"])
            lines.append(
                _DOWN.format(
                    id=place + 2,
                    backend=deployment["name"],
                    number=number,
                    server=replica["name"],
                    address=replica["address"] if known else "-",
                    name="-" if known else replica["address"],
                    port=replica["port"],
                )
            )
    return "\n".join(lines) + "\n"
