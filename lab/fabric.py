# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The QSFP switch of a lab: a namespace with one bridge per twin, and two jumbo veth links per host.

The namespace is that of a small container without a network of its own. It sees the machine's processes, so it can put
one end of a link into a host; bridges in the machine's own namespace would be subject to its packet filter.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence, Set

import docker
from docker.errors import NotFound
from docker.models.containers import Container

from lab.errors import LabError
from lab.names import LAB_LABEL, MTU, FabricLink, HostPlan, bridges, fabric_container

Command = list[str]
# A first word that marks a command whose failure is fine: it removes what may not be there.
TOLERATED = "-"
RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)([kmg]?)bit")
LOSS = re.compile(r"([0-9]+(?:\.[0-9]+)?)%")
VOLUMES = "/volumes"
MIN_BURST = 32_000  # bytes; a queue that cannot hold a jumbo packet lets none pass


def bits_per_second(rate: str) -> int:
    """Return a rate such as 100mbit in bit/s; raises LabError."""
    match = RATE.fullmatch(rate)
    bits = int(float(match[1]) * {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}[match[2]]) if match else 0
    if bits < 1000:
        raise LabError(f"--rate '{rate}' is no rate; write it like 100mbit, 1kbit at the least.")
    return bits


def loss_share(loss: str) -> float:
    """Return a share such as 5% as a number from 0 to 1; raises LabError."""
    match = LOSS.fullmatch(loss)
    share = float(match[1]) / 100 if match else 2.0
    if share > 1.0:
        raise LabError(f"--loss '{loss}' is no share of lost packets; write it like 5%.")
    return share


def inward(link: FabricLink) -> str:
    """Return the name of the device through which a slow link's packets from the host are led."""
    return f"{link.far_end}in"


def bridge_commands() -> list[Command]:
    """Return what makes the bridges of a new switch."""
    commands: list[Command] = []
    for bridge in bridges():
        commands.append(["ip", "link", "add", bridge, "mtu", str(MTU), "type", "bridge"])
        commands.append(["ip", "link", "set", bridge, "up"])
    return commands


def look_commands(host: HostPlan, pid: int) -> list[Command]:
    """Return what gives a host's namespace the host's name inside the switch, and prints its links on one line."""
    # A link and no bind mount: it must not keep the namespace, and with it the veths, of a stopped host alive.
    return [
        ["mkdir", "-p", "/run/netns"],
        ["ln", "-sfn", f"/proc/{pid}/ns/net", f"/run/netns/{host.name}"],
        ["ip", "-n", host.name, "-j", "link", "show", "type", "veth"],
    ]


def address_command(host: HostPlan, pid: int, link: FabricLink) -> Command:
    """Return what sets a link's address, unless netplan or NetworkManager of the host has been told to do it."""
    configured = [f"/proc/{pid}/root/etc/{folder}" for folder in ("netplan", "NetworkManager/system-connections")]
    look = shlex.join(["grep", "--quiet", "--recursive", "--no-messages", link.interface, *configured])
    address = shlex.join(["ip", "-n", host.name, "address", "replace", link.address, "dev", link.interface])
    return ["sh", "-c", f"{look} || {address}"]


def link_commands(host: HostPlan, pid: int, interfaces: Set[str]) -> list[Command]:
    """Return what makes the links whose interfaces a running host lacks, and sets addresses (those there stay)."""
    commands: list[Command] = []
    for link in host.links:
        if link.interface not in interfaces:
            peer = ["peer", "name", link.interface, "address", link.mac, "mtu", str(MTU), "netns", str(pid)]
            # The far end of a host that just stopped stays for a moment, until the kernel has cleaned up.
            commands.append([TOLERATED, "ip", "link", "delete", link.far_end])
            commands.append(["ip", "link", "add", link.far_end, "mtu", str(MTU), "type", "veth", *peer])
            commands.append(["ip", "link", "set", link.far_end, "master", link.bridge, "up"])
        commands.append(address_command(host, pid, link))
        commands.append(["ip", "-n", host.name, "link", "set", link.interface, "up"])
    return commands


def cut_commands(links: Sequence[FabricLink]) -> list[Command]:
    """Return what pulls the cables: the hosts lose carrier and keep their addresses."""
    return [["ip", "link", "set", link.far_end, "down"] for link in links]


def unshape_commands(link: FabricLink) -> list[Command]:
    """Return what takes away a link's shaping, as far as there is any."""
    return [
        [TOLERATED, "tc", "qdisc", "delete", "dev", link.far_end, "root"],
        [TOLERATED, "tc", "qdisc", "delete", "dev", link.far_end, "ingress"],
        [TOLERATED, "ip", "link", "delete", inward(link)],
        [TOLERATED, "iptables", "-D", "FORWARD", "-j", link.far_end],
        [TOLERATED, "iptables", "-F", link.far_end],
        [TOLERATED, "iptables", "-X", link.far_end],
    ]


def slow_commands(links: Sequence[FabricLink], rate: str, loss: str | None) -> list[Command]:
    """Return what shapes links in both directions; raises LabError for a rate or loss that is none.

    What goes to the host is shaped where it leaves the far end; what comes from it is led through a device of its own,
    for a queue works on leaving packets only. Nothing of it can be seen in the host. Lost packets are dropped on the
    bridge, for not every kernel has netem.
    """
    bits = bits_per_second(rate)
    share = loss_share(loss) if loss else None
    queue = ["root", "tbf", "rate", f"{bits}bit", "burst", str(max(MIN_BURST, bits // 1600)), "latency", "50ms"]
    commands: list[Command] = []
    for link in links:
        far, back = link.far_end, inward(link)
        commands += unshape_commands(link)
        commands.append(["tc", "qdisc", "add", "dev", far, *queue])
        commands.append(["ip", "link", "add", back, "mtu", str(MTU), "type", "ifb"])
        commands.append(["ip", "link", "set", back, "up"])
        commands.append(["tc", "qdisc", "add", "dev", back, *queue])
        commands.append(["tc", "qdisc", "add", "dev", far, "ingress"])
        everything = ["protocol", "all", "u32", "match", "u32", "0", "0"]
        redirect = ["action", "mirred", "egress", "redirect", "dev", back]
        commands.append(["tc", "filter", "add", "dev", far, "parent", "ffff:", *everything, *redirect])
        if share is not None:
            drop = ["-m", "statistic", "--mode", "random", "--probability", f"{share:.4f}", "-j", "DROP"]
            commands.append(["iptables", "-N", far])
            commands.append(["iptables", "-A", far, "-m", "physdev", "--physdev-out", far, *drop])
            commands.append(["iptables", "-A", far, "-m", "physdev", "--physdev-in", far, *drop])
            commands.append(["iptables", "-A", "FORWARD", "-j", far])
    return commands


def restore_commands(links: Sequence[FabricLink]) -> list[Command]:
    """Return what undoes cut and slow."""
    commands: list[Command] = []
    for link in links:
        commands += unshape_commands(link)
        commands.append(["ip", "link", "set", link.far_end, "up"])
    return commands


def script_of(commands: Sequence[Command]) -> str:
    """Return a shell script of the commands; what starts with TOLERATED may fail."""
    lines = []
    for command in commands:
        if command[0] == TOLERATED:
            lines.append(f"{shlex.join(command[1:])} 2>/dev/null || :")
        else:
            lines.append(shlex.join(command))
    return "\n".join(lines)


class Fabric:
    """The switch of one lab on one Docker Engine."""

    def __init__(self, client: docker.DockerClient, lab: str) -> None:
        self._client = client
        self._lab = lab

    def _container(self) -> Container | None:
        """Return the switch's container, or None."""
        try:
            return self._client.containers.get(fabric_container(self._lab))
        except NotFound:
            return None

    def ensure(self, image: str) -> None:
        """Make the switch if it is not there; one that has stopped lost its links and is made anew.

        It sees the engine's volumes too: hosts' volumes are filled from here (see engine_images.seed_volumes).
        """
        container = self._container()
        if container and container.status == "running":
            return
        if container:
            container.remove(force=True)
        self._client.containers.run(
            image,
            ["sleep", "infinity"],
            name=fabric_container(self._lab),
            labels={LAB_LABEL: self._lab},
            detach=True,
            init=True,
            privileged=True,
            pid_mode="host",
            network_mode="none",
            stop_signal="SIGTERM",
            volumes={self._client.info()["DockerRootDir"] + "/volumes": {"bind": VOLUMES, "mode": "rw"}},
        )
        self.do(bridge_commands())

    def container(self) -> Container:
        """Return the running container of the switch; raises LabError when there is none."""
        container = self._container()
        if not container or container.status != "running":
            raise LabError(f"The fabric of lab '{self._lab}' is not running: `python -m lab up --name {self._lab}`.")
        return container

    def do(self, commands: Sequence[Command]) -> str:
        """Run commands in the switch, in one go, up to the first that fails; return what they print."""
        code, output = self.container().exec_run(["sh", "-ec", script_of(commands)])
        text = output.decode(errors="replace")
        if code != 0:
            raise LabError(f"The fabric of lab '{self._lab}' could not be changed: {text.strip()}")
        return text

    def far_ends(self) -> dict[str, bool]:
        """Return the far ends that exist, and whether each has carrier."""
        links = json.loads(self.do([["ip", "-j", "link", "show", "type", "veth"]]) or "[]")
        return {link["ifname"]: link.get("operstate") == "UP" for link in links}

    def interfaces(self, pids: Mapping[HostPlan, int]) -> dict[HostPlan, set[str]]:
        """Return the link interfaces that running hosts have."""
        lines = self.do([command for host, pid in pids.items() for command in look_commands(host, pid)]).splitlines()
        return {
            host: {link["ifname"] for link in json.loads(line or "[]")} for host, line in zip(pids, lines, strict=True)
        }

    def connect(self, pids: Mapping[HostPlan, int]) -> None:
        """Make missing links and set addresses of running hosts (host -> process id of its first process)."""
        there = self.interfaces(pids)
        self.do([command for host, pid in pids.items() for command in link_commands(host, pid, there[host])])
