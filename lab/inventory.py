# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ansible inventory of a lab, written where the collection's other inventories are."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from lab.errors import LabError
from lab.names import HostPlan

GROUP = "sparks"
# Docker's data of the hosts lies on the machine's own disk, which is smaller than a Spark's.
SMALL_DISK = {"preflight_disk_warn": 1, "preflight_disk_fail": 1}
# Engines and client share the machine's cores: every suite ends in minutes, and figures mean nothing.
SMALL_BENCHMARK = {
    "benchmark_prompt_tokens": 256,
    "benchmark_output_tokens": 32,
    "benchmark_min_seconds": 1,
    "benchmark_rounds": 2,
    "benchmark_client_lag": {"p99_ms": 1000, "share": 100},
}
HEADER = "# Written by `python -m lab up`, replaced by the next one. Lab: "


def ssh_arguments(known_hosts: Path) -> str:
    """Return ssh's options: only the lab's key and only the host keys that the lab read."""
    options = {
        "UserKnownHostsFile": f'"{known_hosts}"' if " " in str(known_hosts) else str(known_hosts),
        "GlobalKnownHostsFile": "/dev/null",
        "StrictHostKeyChecking": "yes",
        "IdentitiesOnly": "yes",
    }
    return " ".join(f"-o {name}={value}" for name, value in options.items())


def hosts_document(
    hosts: Mapping[HostPlan, str], key: Path, known_hosts: Path, user: str = "nvidia", gateway: bool = False
) -> dict[str, Any]:
    """Return hosts.yml as data for hosts and their management addresses.

    :param gateway: whether a gateway is the collection's own choice; without it the inventory says that there is none
    """
    entries = {
        host.name: {
            "ansible_host": address,
            "fabric_links": [
                {"interface": link.interface, "address": link.address, "rdma_device": link.rdma_device}
                for link in host.links
            ],
        }
        for host, address in hosts.items()
    }
    common: dict[str, Any] = {
        "ansible_user": user,
        "ansible_ssh_private_key_file": str(key),
        "ansible_ssh_common_args": ssh_arguments(known_hosts),
        "ansible_python_interpreter": "/usr/bin/python3",
        **SMALL_DISK,
        **SMALL_BENCHMARK,
    }
    if not gateway:
        common["gateway_enabled"] = False
    return {GROUP: {"hosts": entries, "vars": common}}


def hosts_file(folder: Path) -> Path:
    """Return the inventory's main file."""
    return folder / "hosts.yml"


def written_by(folder: Path) -> str | None:
    """Return the lab that wrote the inventory, "" when somebody else did, None when there is none."""
    try:
        first = hosts_file(folder).read_text(encoding="utf-8").split("\n", 1)[0]
    except FileNotFoundError:
        return None
    return first[len(HEADER) :].strip() if first.startswith(HEADER) else ""


def _write(path: Path, lab: str, document: Mapping[str, Any]) -> None:
    """Write YAML below a line that names the lab; a reader sees the old file or the new one, never half of one."""
    body = yaml.safe_dump(dict(document), sort_keys=False, explicit_start=True, width=10_000)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(f"{HEADER}{lab}\n{body}", encoding="utf-8")
    fresh.rename(path)


def write_inventory(folder: Path, lab: str, hosts: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
    """Write hosts.yml and group_vars/sparks.yml; raises LabError rather than replace what no lab wrote."""
    if written_by(folder) == "":
        raise LabError(f"{hosts_file(folder)} was not written by a lab and stays as it is: give another --inventory.")
    _write(folder / "group_vars" / f"{GROUP}.yml", lab, variables)
    _write(hosts_file(folder), lab, hosts)


def remove_inventory(folder: Path, lab: str) -> None:
    """Remove the inventory if this lab wrote it; other files, and other labs' inventories, stay."""
    if written_by(folder) != lab:
        return
    hosts_file(folder).unlink()
    (folder / "group_vars" / f"{GROUP}.yml").unlink(missing_ok=True)
    for emptied in (folder / "group_vars", folder):
        with suppress(OSError):  # not empty: somebody keeps files of his own there
            emptied.rmdir()
