# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""First program of a test host: make kernel settings writable, then become systemd (or, light, run sshd and Docker).

In a network namespace of its own net.core.rmem_max and others are read-only, net.core.default_qdisc and others do not
exist, and vm.swappiness belongs to the whole machine. Plain files are laid over them, so that `sysctl` can set and
read them on one host without touching another. net.ipv4.tcp_* of the namespace stay real. Swap is the machine's, too: a
host sees none until a fault of the lab takes the empty list away.
"""

from __future__ import annotations

import ctypes
import grp
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

MS_BIND = 4096
SHIM_ROOT = Path("/run/sysctl-shim")
BOOT_ID_SHIM = Path("/run/boot-id-shim")
SWAPS, SWAPS_SHIM = Path("/proc/swaps"), Path("/run/swaps-shim")
NET_CORE = {
    "rmem_max": "212992",
    "wmem_max": "212992",
    "rmem_default": "212992",
    "wmem_default": "212992",
    "default_qdisc": "fq_codel",
    "netdev_max_backlog": "1000",
    "netdev_budget": "300",
    "optmem_max": "131072",
}
VM = (
    "swappiness",
    "nr_hugepages",
    "overcommit_memory",
    "max_map_count",
    "min_free_kbytes",
    "dirty_ratio",
    "dirty_background_ratio",
    "zone_reclaim_mode",
)
DOCKER_SOCKET = Path("/run/docker.sock")


def bind(source: Path, target: Path) -> None:
    """Bind-mount source over target; raises OSError with the kernel's reason."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(os.fsencode(source), os.fsencode(target), None, MS_BIND, None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount --bind {source} {target}: {os.strerror(number)}")


def copy_readable(source: Path, target: Path) -> None:
    """Copy the text of one kernel setting; one that may not be read is left out."""
    try:
        text = source.read_text(encoding="ascii")
    except OSError:
        return
    target.write_text(text, encoding="ascii")


def lay_over_kernel_settings() -> None:
    """Lay files over /proc/sys/net/core as a whole and over single files of /proc/sys/vm."""
    core, shim = Path("/proc/sys/net/core"), SHIM_ROOT / "net/core"
    shim.mkdir(parents=True)
    for setting in core.iterdir():
        if setting.is_file():
            copy_readable(setting, shim / setting.name)
    for name, value in NET_CORE.items():
        if not (shim / name).exists():
            (shim / name).write_text(value + "\n", encoding="ascii")
    bind(shim, core)
    memory = SHIM_ROOT / "vm"
    memory.mkdir()
    for name in VM:
        setting = Path("/proc/sys/vm", name)
        if setting.exists():
            copy_readable(setting, memory / name)
            bind(memory / name, setting)


def lay_over_boot_id() -> None:
    """Give this boot an id of its own: the machine's stays the same when a host boots again."""
    BOOT_ID_SHIM.write_text(f"{uuid.uuid4()}\n", encoding="ascii")
    bind(BOOT_ID_SHIM, Path("/proc/sys/kernel/random/boot_id"))


def lay_over_swaps() -> None:
    """Hide the machine's swap, and that of other hosts, behind a list that has a title only."""
    title = SWAPS.read_text(encoding="ascii").split("\n", 1)[0]
    SWAPS_SHIM.write_text(f"{title}\n", encoding="ascii")
    bind(SWAPS_SHIM, SWAPS)


def run_light() -> None:
    """Run sshd in the foreground; Docker starts at its first use, which keeps 40 idle hosts small."""
    Path("/run/sshd").mkdir(exist_ok=True)
    key = "/etc/ssh/ssh_host_ed25519_key"
    if not Path(key).exists():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    with Path("/var/log/dockerd.log").open("ab") as log:
        activator = subprocess.Popen(
            ["systemd-socket-activate", f"--listen={DOCKER_SOCKET}", "dockerd", "--host=fd://"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    while not DOCKER_SOCKET.exists():
        if activator.poll() is not None:
            sys.exit("systemd-socket-activate ended: see /var/log/dockerd.log")
        time.sleep(0.02)
    os.chown(DOCKER_SOCKET, 0, grp.getgrnam("docker").gr_gid)
    DOCKER_SOCKET.chmod(0o660)
    os.execv("/usr/sbin/sshd", ["/usr/sbin/sshd", "-D", "-e"])


def main(arguments: list[str]) -> None:
    """Prepare, then become the init that was asked for."""
    lay_over_kernel_settings()
    lay_over_boot_id()
    lay_over_swaps()
    # The machine may have bbr as its default; a fresh DGX Spark has not, and a role that sets it must change something.
    Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text("reno\n", encoding="ascii")
    if arguments == ["--light"]:
        run_light()
    os.execv("/lib/systemd/systemd", ["/lib/systemd/systemd", *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
