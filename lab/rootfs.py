# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plain Debian root file system below the host image, made by mmdebstrap and cached."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from lab.cache import cached, content_key
from lab.errors import LabError
from lab.packages import ensure_programs, may_install, system_environment
from lab.progress import long_step

SUITE = "trixie"
PACKAGES = (
    "acl",
    "ca-certificates",
    "curl",
    "dbus",
    "docker-cli",
    "docker.io",
    "ethtool",
    "iperf3",
    "iproute2",
    "iptables",
    "iputils-ping",
    "jq",
    "kmod",
    "netplan.io",
    "network-manager",
    "openssh-server",
    "pciutils",
    "procps",
    "python3",
    "python3-apt",
    "python3-requests",
    "rsync",
    "sudo",
    "systemd",
    "systemd-sysv",
    "zstd",
)
# What roles install for real, from a repository of the host's own, for a host has no other: packages that are not
# there, with what they depend on, and some that are, so that they can be taken away and come back.
APT_ARCHIVE = "/opt/dgxspark-lab/apt"
ABSENT = ("docker-registry", "earlyoom", "haproxy", "nginx", "perftest", "python3-packaging", "python3-venv")
PRESENT = ("containerd", "docker-cli", "docker.io", "runc", "tini")
FETCH = (
    'cd "$1"/var/cache/apt/archives; export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"; rm -f *.deb; '
    f"apt-get --quiet --yes --download-only install {' '.join(ABSENT)} && "
    f"apt-get --quiet download {' '.join(PRESENT)} && "
    f'mkdir -p "$1"{APT_ARCHIVE} && mv *.deb "$1"{APT_ARCHIVE}/ && rm -rf "$1"/etc/apt/sources.list*'
)
OPTIONS = (
    "--quiet",
    "--mode=root",
    "--variant=minbase",
    '--aptopt=APT::Install-Recommends "false"',
    "--dpkgopt=path-exclude=/usr/share/man/*",
    "--dpkgopt=path-exclude=/usr/share/doc/*",
    "--dpkgopt=path-exclude=/usr/share/locale/*",
    # Every host makes keys and a machine id of its own.
    '--customize-hook=rm -f "$1"/etc/ssh/ssh_host_* "$1"/var/lib/dbus/machine-id && : > "$1"/etc/machine-id',
    f"--customize-hook={FETCH}",
    '--customize-hook=rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin',
    '--customize-hook=rm -rf "$1"/var/log/apt "$1"/usr/lib/udev/hwdb.bin "$1"/etc/udev/hwdb.bin',
)
SOURCE_DATE_EPOCH = "1767225600"  # one fixed date for the files' times, so that equal inputs give equal layers


def rootfs_key() -> str:
    """Return the cache key: everything that decides what is in the file system but the archive's own updates."""
    return content_key(json.dumps([SUITE, PACKAGES, OPTIONS, SOURCE_DATE_EPOCH]))


def _build(target: Path) -> None:
    """Run mmdebstrap; raises LabError with its last lines when it fails."""
    if not may_install():
        raise LabError(
            "The host image is not cached yet and making it needs root on Debian or Ubuntu (mmdebstrap): run "
            "`python -m lab up` once as root."
        )
    ensure_programs({"mmdebstrap": "mmdebstrap"})
    command = ["mmdebstrap", *OPTIONS, "--format=tar", f"--include={','.join(PACKAGES)}", SUITE, str(target)]
    environment = {**system_environment(), "SOURCE_DATE_EPOCH": SOURCE_DATE_EPOCH, "DEBIAN_FRONTEND": "noninteractive"}
    with long_step(f"making the root file system of the hosts ({SUITE}, about 80 s)"):
        done = subprocess.run(
            command,
            env=environment,
            cwd=os.sep,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        last = "\n".join(done.stderr.splitlines()[-5:])
        raise LabError(f"mmdebstrap failed (is Debian's archive reachable?); its last lines:\n{last}")


def rootfs() -> Path:
    """Return the cached tar file, making it if needed."""
    return cached("rootfs", rootfs_key(), _build)
