# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put a host's fabric links back as they were.

A whole program in one file, for it lies on hosts as ``fabric_revert.py`` and must work when nobody can reach them any
more: Python's standard library, the commands of systemd and of the network's manager, nothing of this collection.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

STATE = Path("/var/lib/dgxspark-serving/fabric")
PENDING = STATE / "pending.json"
BEFORE = STATE / "before.json"
REVERTED = STATE / "reverted.json"
TIMER = "dgxspark-fabric-revert"

NETPLAN = "netplan"
NETWORKMANAGER = "networkmanager"
# `netplan generate` ends with a daemon-reload, which takes the GPU from running containers (field fault D08). The
# program behind it does not.
GENERATORS = ("/usr/libexec/netplan/generate", "/usr/lib/netplan/generate", "/lib/netplan/generate")
NETWORKD_FILE = "/run/systemd/network/10-netplan-{}.network"
NM_FILE = "/run/NetworkManager/system-connections/netplan-{}.nmconnection"
# Seconds in which a manager must have settled after it has read its files.
SETTLE = 8.0

# Runs a command; gives its code, standard output and standard error.
Runner = Callable[[Sequence[str]], "tuple[int, str, str]"]


class NotDone(Exception):
    """A command failed; ``str()`` says which and why."""


def run_process(argv: Sequence[str]) -> tuple[int, str, str]:
    """Run a command in English; a missing one has code 127."""
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", **os.environ, "LC_ALL": "C"}
    try:
        done = subprocess.run(
            list(argv), check=False, capture_output=True, text=True, errors="replace", env=environment, timeout=60
        )
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return 127, "", str(error)
    return done.returncode, done.stdout, done.stderr


def must(run: Runner, argv: Sequence[str]) -> str:
    """Run a command that must end well, and give what it printed.

    :raises NotDone: when it does not
    """
    code, out, err = run(argv)
    if code:
        raise NotDone(f"'{' '.join(argv)}' failed with code {code}: {' '.join((err or out).split())[:300]}")
    return out


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object from a file; None when there is no such file."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write_file(path: Path, content: bytes, mode: int) -> None:
    """Write a file so that a power cut leaves all of the old or all of the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.chmod(part, mode)
    os.replace(part, path)


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON object that only root may read."""
    write_file(path, (json.dumps(data, indent=1, sort_keys=True) + "\n").encode(), 0o600)


@contextmanager
def alone() -> Iterator[None]:
    """Let nobody else change the state meanwhile: a run and the timer can be at it together."""
    STATE.mkdir(parents=True, exist_ok=True, mode=0o700)
    with open(STATE / "guard", "w", encoding="utf-8") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def interfaces(text: str) -> dict[str, dict[str, Any]]:
    """Read ``ip -json address``: mac, mtu, up and global addresses with prefix length of each interface."""
    try:
        rows = json.loads(text or "[]")
    except ValueError:
        return {}
    return {
        row["ifname"]: {
            "mac": row.get("address", ""),
            "mtu": row.get("mtu", 0),
            "up": "UP" in row.get("flags", []),
            "addresses": [
                f"{one['local']}/{one['prefixlen']}"
                for one in row.get("addr_info", [])
                if "local" in one and one.get("scope") != "link"
            ],
        }
        for row in rows
        if "ifname" in row
    }


def live(run: Runner) -> dict[str, dict[str, Any]]:
    """The interfaces of this host as they are now."""
    return interfaces(must(run, ["ip", "-json", "address"]))


def file_state(path: Path) -> dict[str, Any] | None:
    """Content and mode of a file; None when there is no such file."""
    try:
        return {"content": base64.b64encode(path.read_bytes()).decode(), "mode": path.stat().st_mode & 0o7777}
    except FileNotFoundError:
        return None


def active(run: Runner, unit: str) -> bool:
    """Whether a unit is active."""
    return run(["systemctl", "is-active", "--quiet", unit])[0] == 0


def restore_files(files: Mapping[str, Mapping[str, Any] | None]) -> None:
    """Give files their content and mode back; those that were not there go."""
    for name, was in files.items():
        path = Path(name)
        if was is None:
            path.unlink(missing_ok=True)
        else:
            write_file(path, base64.b64decode(was["content"]), was["mode"])


def generate(run: Runner) -> None:
    """Make the files of the renderers from those of netplan, where there is netplan."""
    generator = next((path for path in GENERATORS if os.path.exists(path)), "")
    if generator:
        must(run, [generator])


def take_up(run: Runner, names: Iterable[str], networkd: bool) -> None:
    """Have the managers read their files, for these interfaces alone and without a daemon-reload.

    :param networkd: whether systemd-networkd has to run
    """
    if active(run, "NetworkManager.service"):
        must(run, ["nmcli", "connection", "reload"])
    if not networkd:
        if active(run, "systemd-networkd.service"):
            must(run, ["systemctl", "stop", "systemd-networkd.socket", "systemd-networkd.service"])
    elif active(run, "systemd-networkd.service"):
        must(run, ["networkctl", "reload"])
        for name in names:
            # Fails for an interface that no file names: it is none of networkd's then.
            run(["networkctl", "reconfigure", name])
    else:
        must(run, ["systemctl", "start", "systemd-networkd.service"])


def set_live(run: Runner, wanted: Mapping[str, Mapping[str, Any]]) -> bool:
    """Give interfaces their MTU, state and addresses; says whether anything was to be done."""
    there = live(run)
    done = False
    for name, was in wanted.items():
        now = there.get(name)
        if now is None:
            continue
        if now["mtu"] != was["mtu"]:
            run(["ip", "link", "set", "dev", name, "mtu", str(was["mtu"])])
            done = True
        if now["up"] != was["up"]:
            run(["ip", "link", "set", "dev", name, "up" if was["up"] else "down"])
            done = True
        for address in now["addresses"]:
            if address not in was["addresses"]:
                run(["ip", "address", "delete", address, "dev", name])
                done = True
        for address in was["addresses"]:
            if address not in now["addresses"]:
                run(["ip", "address", "add", address, "dev", name, *broadcast(address)])
                done = True
    return done


def broadcast(address: str) -> list[str]:
    """What ``ip address add`` needs so that an IPv4 address gets its network's broadcast address."""
    return [] if ":" in address else ["broadcast", "+"]


def put_back(run: Runner, was: Mapping[str, Any]) -> None:
    """Bring files and live state back.

    :param was: ``files``, ``interfaces`` and ``networkd`` as they were
    :raises NotDone: when a manager does not take its files up
    """
    restore_files(was["files"])
    generate(run)
    take_up(run, was["interfaces"], was["networkd"])
    for state in was["interfaces"].values():
        if state["connection"] and active(run, "NetworkManager.service"):
            run(["nmcli", "connection", "up", "uuid", state["connection"]])
    # The managers go on by themselves for a moment, and may take away what was set here: two quiet looks end it.
    quiet = 0
    until = time.monotonic() + SETTLE
    while quiet < 2 and time.monotonic() < until:
        quiet = 0 if set_live(run, was["interfaces"]) else quiet + 1
        time.sleep(0.5)


def stop_timer(run: Runner) -> None:
    """End the timer's looks."""
    run(["systemctl", "stop", f"{TIMER}.timer"])


def revert(run: Runner, at_boot: bool) -> bool:
    """Take back the change that nobody has confirmed; says whether there was one.

    :param at_boot: whether the network has not started yet, so that files are all there is to put back
    """
    with alone():
        pending = read_json(PENDING)
        if pending is None:
            stop_timer(run)
            return False
        if at_boot:
            restore_files(pending["before"]["files"])
            generate(run)
        else:
            put_back(run, pending["before"])
        write_json(REVERTED, {"at": time.time(), "began": pending["began"]})
        PENDING.unlink()
    if not at_boot:
        stop_timer(run)
    return True


def main(arguments: list[str]) -> int:
    """``due`` is the timer's, ``boot`` that of the unit that runs before the network starts."""
    try:
        reverted = revert(run_process, at_boot=arguments == ["boot"])
    except (NotDone, OSError, ValueError, KeyError) as error:
        sys.stderr.write(f"The fabric's old configuration is not back yet: {error}\n")
        return 1
    if reverted:
        sys.stdout.write("A change of the fabric that nobody confirmed was taken back.\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
