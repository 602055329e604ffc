# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that make, cut, slow and restore links."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.fabric import (
    address_command,
    bits_per_second,
    bridge_commands,
    cut_commands,
    link_commands,
    loss_share,
    restore_commands,
    script_of,
    slow_commands,
)
from lab.names import plan_host

HOST = plan_host("demo", 1)


def lines(commands: list[list[str]]) -> list[str]:
    """Return commands as text."""
    return [" ".join(command) for command in commands]


def test_one_jumbo_bridge_per_twin() -> None:
    assert lines(bridge_commands())[::2] == [
        "ip link add twin0 mtu 9000 type bridge",
        "ip link add twin1 mtu 9000 type bridge",
    ]


def test_new_host_gets_both_links_and_addresses() -> None:
    made = lines(link_commands(HOST, 4711, {"eth0"}))
    assert (
        "ip link add spark1p0 mtu 9000 type veth peer name enp1s0f0np0 address 02:53:50:00:00:01 mtu 9000 netns 4711"
        in made
    )
    assert (
        "ip link add spark1p1 mtu 9000 type veth peer name enP2p1s0f0np0 address 02:53:50:00:01:01 mtu 9000 netns 4711"
        in made
    )
    assert any(line.endswith("|| ip -n spark1 address replace 10.100.1.1/24 dev enP2p1s0f0np0") for line in made)


def test_links_that_are_there_are_not_made_again() -> None:
    made = lines(link_commands(HOST, 4711, {"eth0", "enp1s0f0np0"}))
    assert [line.split()[3] for line in made if line.startswith("ip link add")] == ["spark1p1"]
    assert [line for line in made if "delete" in line] == ["- ip link delete spark1p1"]
    assert any(line.endswith("|| ip -n spark1 address replace 10.100.0.1/24 dev enp1s0f0np0") for line in made)


@pytest.mark.parametrize(
    ("configured", "printed"), [("", "10.100.0.1/24"), ("enp1s0f0np0", ""), ("enp1s0f1np1", "10.100.0.1/24")]
)
def test_address_is_left_to_a_host_that_configures_it(tmp_path: Path, configured: str, printed: str) -> None:
    if configured:
        folder = tmp_path / "proc/4711/root/etc/netplan"
        folder.mkdir(parents=True)
        (folder / "90-fabric.yaml").write_text(f"network: {{ethernets: {{{configured}: {{mtu: 9000}}}}}}\n")
    shell, option, script = address_command(HOST, 4711, HOST.links[0])
    script = script.replace("/proc/4711", f"{tmp_path}/proc/4711").replace("ip -n spark1 address replace", "echo")
    done = subprocess.run([shell, option, script], capture_output=True, text=True, check=False)
    assert done.stdout == (f"{printed} dev enp1s0f0np0\n" if printed else "")


def test_cut_of_one_port() -> None:
    assert lines(cut_commands(HOST.links[:1])) == ["ip link set spark1p0 down"]


def test_slow_shapes_both_directions() -> None:
    made = lines(slow_commands(HOST.links[:1], "100mbit", None))
    shaped = [line.split()[4] for line in made if "tbf" in line]
    assert shaped == ["spark1p0", "spark1p0in"]
    assert not any("iptables -A" in line for line in made)


def test_loss_is_for_both_directions() -> None:
    made = lines(slow_commands(HOST.links[:1], "100mbit", "5%"))
    drops = [line for line in made if "DROP" in line]
    assert len(drops) == 2
    assert all("--probability 0.0500" in line for line in drops)


def test_restore_takes_away_what_slow_made_even_if_there_was_nothing() -> None:
    script = script_of(restore_commands(HOST.links[:1])).splitlines()
    assert script[-1] == "ip link set spark1p0 up"
    assert all(line.endswith("|| :") for line in script[:-1])


def test_commands_that_must_work_stop_the_script() -> None:
    assert script_of([["ip", "link"], ["-", "tc", "x y"]]) == "ip link\ntc 'x y' 2>/dev/null || :"


@pytest.mark.parametrize(("rate", "bits"), [("100mbit", 10**8), ("1.5gbit", 15 * 10**8), ("64kbit", 64000)])
def test_rates(rate: str, bits: int) -> None:
    assert bits_per_second(rate) == bits


@pytest.mark.parametrize("rate", ["", "100", "100MB", "fast", "1bit", "-1mbit", "1mbit; reboot"])
def test_what_is_no_rate(rate: str) -> None:
    with pytest.raises(LabError, match="is no rate; write it like 100mbit"):
        bits_per_second(rate)


def test_loss() -> None:
    assert loss_share("2.5%") == pytest.approx(0.025)


@pytest.mark.parametrize("loss", ["5", "101%", "x%", ""])
def test_what_is_no_loss(loss: str) -> None:
    with pytest.raises(LabError, match="write it like 5%"):
        loss_share(loss)
