# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory that a lab writes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from lab.errors import LabError
from lab.inventory import hosts_document, remove_inventory, write_inventory, written_by
from lab.names import plan_hosts

ONE, TWO = plan_hosts("demo", 2)
KEY, KNOWN = Path("/state/id_ed25519"), Path("/state/known_hosts")


def read(path: Path) -> dict:
    """Return a YAML file's content."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_hosts_and_fabric_links() -> None:
    sparks = hosts_document({ONE: "172.18.0.11", TWO: "172.18.0.12"}, KEY, KNOWN)["sparks"]
    assert list(sparks["hosts"]) == ["spark1", "spark2"]
    assert sparks["hosts"]["spark2"] == {
        "ansible_host": "172.18.0.12",
        "fabric_links": [
            {"interface": "enp1s0f0np0", "address": "10.100.0.2/24", "rdma_device": "rocep1s0f0"},
            {"interface": "enP2p1s0f0np0", "address": "10.100.1.2/24", "rdma_device": "roceP2p1s0f0"},
        ],
    }
    assert sparks["vars"]["ansible_user"] == "nvidia"
    assert sparks["vars"]["ansible_python_interpreter"] == "/usr/bin/python3"
    assert sparks["vars"]["preflight_disk_warn"] == sparks["vars"]["preflight_disk_fail"] == 1
    assert sparks["vars"]["benchmark_output_tokens"] == 32


def test_there_is_no_gateway_unless_a_lab_wants_one() -> None:
    hosts = {ONE: "172.18.0.11"}
    assert hosts_document(hosts, KEY, KNOWN)["sparks"]["vars"]["gateway_enabled"] is False
    assert "gateway_enabled" not in hosts_document(hosts, KEY, KNOWN, gateway=True)["sparks"]["vars"]


def test_host_keys_are_checked() -> None:
    arguments = hosts_document({ONE: "172.18.0.11"}, KEY, KNOWN)["sparks"]["vars"]["ansible_ssh_common_args"]
    assert "-o StrictHostKeyChecking=yes" in arguments
    assert "-o UserKnownHostsFile=/state/known_hosts" in arguments


def test_written_files(tmp_path: Path) -> None:
    folder = tmp_path / "inventories" / "lab"
    write_inventory(folder, "demo", hosts_document({ONE: "172.18.0.11"}, KEY, KNOWN), {"replica_image": "lab/x:1"})
    assert read(folder / "hosts.yml")["sparks"]["hosts"]["spark1"]["ansible_host"] == "172.18.0.11"
    assert read(folder / "group_vars" / "sparks.yml") == {"replica_image": "lab/x:1"}
    assert written_by(folder) == "demo"
    assert sorted(path.name for path in folder.rglob("*")) == ["group_vars", "hosts.yml", "sparks.yml"]


def test_written_again(tmp_path: Path) -> None:
    for address in ("172.18.0.11", "172.19.0.11"):
        write_inventory(tmp_path, "demo", hosts_document({ONE: address}, KEY, KNOWN), {})
    assert read(tmp_path / "hosts.yml")["sparks"]["hosts"]["spark1"]["ansible_host"] == "172.19.0.11"


def test_inventory_of_somebody_else_stays(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text("mine: {}\n", encoding="utf-8")
    with pytest.raises(LabError, match="was not written by a lab and stays as it is"):
        write_inventory(tmp_path, "demo", {}, {})
    remove_inventory(tmp_path, "demo")
    assert read(tmp_path / "hosts.yml") == {"mine": {}}


def test_remove_takes_only_the_labs_own_files(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    write_inventory(folder, "demo", {}, {})
    remove_inventory(folder, "other")
    assert written_by(folder) == "demo"
    remove_inventory(folder, "demo")
    assert not folder.exists()
    remove_inventory(folder, "demo")


def test_remove_keeps_a_folder_with_other_files(tmp_path: Path) -> None:
    write_inventory(tmp_path, "demo", {}, {})
    (tmp_path / "group_vars" / "all.yml").write_text("x: 1\n", encoding="utf-8")
    remove_inventory(tmp_path, "demo")
    assert [path.name for path in tmp_path.rglob("*.yml")] == ["all.yml"]
