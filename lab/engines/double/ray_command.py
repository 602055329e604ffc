# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `ray`: start, status, stop."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time

from .ray_cluster import (
    ClusterError,
    Head,
    current_cluster,
    list_nodes,
    read_pids,
    run_node,
    split_address,
    state_folder,
    status_text,
    write_state,
)
from .ray_flags import split_flags

DEFAULT_PORT = 6379
STOP_ATTEMPTS = 50
RETRY = 0.1


def _value(flags: dict[str, str], name: str, default: str) -> str:
    return flags.get(name) or default


def _gpus(flags: dict[str, str]) -> int:
    forced = json.loads(os.environ.get("RAY_OVERRIDE_RESOURCES") or "{}")
    value = str(forced.get("GPU", _value(flags, "num-gpus", "0")))
    if not value.replace(".0", "").isdigit():
        raise ValueError(f"Invalid value for '--num-gpus': {value!r} is not a valid integer.")
    return int(float(value))


async def _run(flags: dict[str, str], ready: int | None) -> int:
    """Be the head, or a node, until SIGTERM or until the head is gone."""
    ip = _value(flags, "node-ip-address", "127.0.0.1")
    gpus = _gpus(flags)
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    if "head" in flags:
        address = f"{ip}:{_value(flags, 'port', str(DEFAULT_PORT))}"
        await Head().serve(*split_address(address))
    else:
        address = _value(flags, "address", "")
        split_address(address)
    write_state("ray_current_cluster", address)
    write_state("pids.json", json.dumps([*read_pids(), os.getpid()]))

    def joined() -> None:
        print("--------------------\nRay runtime started.\n--------------------", flush=True)
        if ready is not None:
            os.write(ready, b"+")

    node = asyncio.ensure_future(run_node(address, ip, gpus, joined))
    stopping = asyncio.ensure_future(stop.wait())
    await asyncio.wait({node, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if stopping.done():
        return 0
    node.result()
    print(f"The Ray head at {address} is gone.", file=sys.stderr)
    return 1


def _guarded(flags: dict[str, str], ready: int | None) -> int:
    try:
        return asyncio.run(_run(flags, ready))
    except (ClusterError, ValueError, OSError) as error:
        print(f"ray start: {error}", file=sys.stderr, flush=True)
        return 1


def start(arguments: list[str]) -> int:
    """`ray start --head|--address HOST:PORT`: in the background unless --block is given."""
    flags = split_flags(arguments)
    if ("head" in flags) == ("address" in flags):
        raise ValueError("Exactly one of --head and --address is wanted.")
    if "block" in flags:
        return _guarded(flags, None)
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.close(reading)
        os._exit(_guarded(flags, writing))
    os.close(writing)
    return 0 if os.read(reading, 1) else 1


def status(arguments: list[str]) -> int:
    """`ray status [--address HOST:PORT]`."""
    flags = split_flags(arguments)
    address = _value(flags, "address", "") or current_cluster()
    if not address:
        print("ConnectionError: Could not find any running Ray instance.", file=sys.stderr)
        return 1
    try:
        print(status_text(asyncio.run(list_nodes(address))))
    except ClusterError as error:
        print(f"ConnectionError: {error}", file=sys.stderr)
        return 1
    return 0


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def stop(arguments: list[str]) -> int:
    """`ray stop`: end what `ray start` left running on this host."""
    pids = [pid for pid in read_pids() if _alive(pid)]
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    for _attempt in range(STOP_ATTEMPTS):
        if not any(map(_alive, pids)):
            break
        time.sleep(RETRY)
    for name in ("pids.json", "ray_current_cluster"):
        try:
            os.unlink(os.path.join(state_folder(), name))
        except FileNotFoundError:
            continue
    print(f"Stopped all {len(pids)} Ray processes." if pids else "Did not find any active Ray processes.")
    return 0


COMMANDS = {"start": start, "status": status, "stop": stop}


def main(arguments: list[str]) -> int:
    """Run one `ray` command; returns the exit code."""
    if arguments == ["--version"]:
        print("ray, version 2.60.0")
        return 0
    command = COMMANDS.get(arguments[0] if arguments else "")
    if command is None:
        print(f"Usage: ray {'|'.join(COMMANDS)} ...", file=sys.stderr)
        return 2
    try:
        return command(arguments[1:])
    except ValueError as error:
        print(f"Usage: ray {arguments[0]} [OPTIONS]\n\nError: {error}", file=sys.stderr)
        return 2
