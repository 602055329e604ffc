# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers, volumes and the management network of a lab's hosts."""

from __future__ import annotations

import io
import tarfile
import time
from collections.abc import Sequence

import docker
from docker.errors import APIError, NotFound
from docker.models.containers import Container
from docker.models.networks import Network
from docker.types import IPAMConfig, IPAMPool

from lab.cache import cache_root, file_lock
from lab.errors import LabError
from lab.names import HOST_LABEL, LAB_LABEL, LIGHT_LABEL, HostPlan, management_address, network_name

INIT = "/usr/local/lib/dgxspark-lab/spark_init"
STOP_SECONDS = 30
NVIDIA_ID = 1000
HOST_KEY = "/etc/ssh/ssh_host_ed25519_key.pub"
NETWORK_ATTEMPTS = 5
REMOVE_SECONDS = 60.0
CONFLICT = 409


def subnet_of(network: Network) -> str:
    """Return a network's IPv4 subnet as CIDR."""
    return next(pool["Subnet"] for pool in network.attrs["IPAM"]["Config"] if ":" not in pool["Subnet"])


def ensure_network(client: docker.DockerClient, lab: str) -> Network:
    """Return the lab's network, made with a subnet of Docker's choice.

    Docker gives fixed addresses only in a network whose subnet was named, and a host must keep its address when it is
    stopped and started. So Docker is asked for a free subnet first, and the network is made again with that one.
    """
    name = network_name(lab)
    options = {"driver": "bridge", "labels": {LAB_LABEL: lab}}
    with file_lock(cache_root() / ".network.lock"):
        for _attempt in range(NETWORK_ATTEMPTS):
            found = client.networks.list(names=[f"^{name}$"])
            if found:
                return found[0]
            # By a name of its own: left by a killed command, it is not taken for the lab's network; `down` removes it.
            free = client.networks.create(f"{name}.probe", **options)
            free.reload()
            subnet = subnet_of(free)
            free.remove()
            try:
                made = client.networks.create(name, ipam=IPAMConfig(pool_configs=[IPAMPool(subnet=subnet)]), **options)
            except APIError:
                continue  # somebody else took the subnet in between
            made.reload()
            return made
    raise LabError(f"Docker gave no subnet for network {name} in {NETWORK_ATTEMPTS} attempts: remove unused networks.")


def _authorized_keys(public_key: str) -> bytes:
    """Return a tar that lets the lab's key in as root and as nvidia."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for home, owner in (("root", 0), ("home/nvidia", NVIDIA_ID)):
            member = tarfile.TarInfo(f"{home}/.ssh/authorized_keys")
            member.size, member.mode, member.uid, member.gid = len(public_key), 0o600, owner, owner
            archive.addfile(member, io.BytesIO(public_key.encode()))
    return stream.getvalue()


def find_host(client: docker.DockerClient, host: HostPlan) -> Container | None:
    """Return a host's container, or None."""
    try:
        return client.containers.get(host.container)
    except NotFound:
        return None


def get_host(client: docker.DockerClient, host: HostPlan) -> Container:
    """Return a host's container; raises LabError when there is none."""
    container = find_host(client, host)
    if container is None:
        raise LabError(f"There is no host {host.name} (container {host.container}): `python -m lab status` lists them.")
    return container


def ensure_volume(client: docker.DockerClient, lab: str, host: HostPlan) -> bool:
    """Make the volume of a host's own Docker; return whether it is new."""
    try:
        client.volumes.get(host.volume)
    except NotFound:
        client.volumes.create(host.volume, labels={LAB_LABEL: lab})
        return True
    return False


def create_host(
    client: docker.DockerClient, lab: str, host: HostPlan, *, image: str, network: Network, light: bool, public_key: str
) -> Container:
    """Create (not start) a host's container; its volume must be there."""
    address = management_address(subnet_of(network), host.index)
    endpoint = client.api.create_endpoint_config(ipv4_address=address, aliases=[host.name])
    configuration = client.api.create_host_config(
        privileged=True,
        cgroupns="private",
        init=light,
        tmpfs={"/run": "exec,mode=755", "/run/lock": ""},
        shm_size="2g",
        binds={host.volume: {"bind": "/var/lib/docker", "mode": "rw"}},
        network_mode=network.name,
    )
    made = client.api.create_container(
        image,
        command=[INIT, "--light"] if light else [INIT],
        name=host.container,
        hostname=host.name,
        labels={LAB_LABEL: lab, HOST_LABEL: host.name, LIGHT_LABEL: "yes" if light else "no"},
        host_config=configuration,
        networking_config=client.api.create_networking_config({network.name: endpoint}),
        volumes=["/var/lib/docker"],
        stop_signal="SIGTERM" if light else "SIGRTMIN+3",
    )
    container = client.containers.get(made["Id"])
    container.put_archive("/", _authorized_keys(public_key))
    return container


def is_light(container: Container) -> bool:
    """Say whether a host runs without systemd."""
    return container.labels.get(LIGHT_LABEL) == "yes"


def address_of(container: Container, lab: str) -> str:
    """Return the fixed management address of a host, running or not."""
    endpoint = container.attrs["NetworkSettings"]["Networks"][network_name(lab)]
    return endpoint["IPAddress"] or endpoint["IPAMConfig"]["IPv4Address"]


def pid_of(container: Container) -> int:
    """Return the process id, on the machine, of a running host's first process."""
    container.reload()
    pid = container.attrs["State"]["Pid"]
    if not pid:
        raise LabError(f"Host container {container.name} is not running: see `docker logs {container.name}`.")
    return pid


def read_host_key(container: Container, seconds: float) -> str:
    """Return a host's public ssh key line, as soon as the host has made it."""
    until = time.monotonic() + seconds
    while True:
        try:
            blocks, _stat = container.get_archive(HOST_KEY)
            with tarfile.open(fileobj=io.BytesIO(b"".join(blocks))) as archive:
                line = archive.extractfile(archive.getmembers()[0]).read().decode("ascii")  # type: ignore[union-attr]
        except NotFound:
            line = ""
        if line.endswith("\n"):
            return line
        if time.monotonic() > until:
            raise LabError(f"{container.name} made no ssh host key in {seconds:.0f} s: see `docker logs`.")
        time.sleep(0.2)


def lab_containers(client: docker.DockerClient, lab: str) -> list[Container]:
    """Return all containers of a lab, the switch included."""
    return client.containers.list(all=True, filters={"label": f"{LAB_LABEL}={lab}"}, ignore_removed=True)


def lab_names(client: docker.DockerClient) -> set[str]:
    """Return the labs that something in the engine belongs to."""
    things = [
        *client.containers.list(all=True, filters={"label": LAB_LABEL}, ignore_removed=True),
        *client.networks.list(filters={"label": LAB_LABEL}),
        *client.volumes.list(filters={"label": LAB_LABEL}),
    ]
    return {(thing.attrs.get("Labels") or thing.attrs["Config"]["Labels"])[LAB_LABEL] for thing in things}


def _wait_until_gone(container: Container) -> None:
    """Wait until the engine has removed a container; raises LabError when it does not."""
    until = time.monotonic() + REMOVE_SECONDS
    while time.monotonic() < until:
        try:
            container.reload()
        except NotFound:
            return
        time.sleep(0.2)
    raise LabError(f"Docker does not finish the removal of {container.name}: see `docker ps -a`, then run this again.")


def remove_container(container: Container) -> None:
    """Remove a container; one that is gone, or is going, is fine."""
    try:
        container.remove(force=True, v=True)
    except NotFound:
        pass
    except APIError as error:
        if error.status_code != CONFLICT:  # its removal is already in progress
            raise
        _wait_until_gone(container)


def remove_networks_and_volumes(client: docker.DockerClient, lab: str) -> None:
    """Remove what is left of a lab after its containers."""
    for network in client.networks.list(filters={"label": f"{LAB_LABEL}={lab}"}):
        network.remove()
    for volume in client.volumes.list(filters={"label": f"{LAB_LABEL}={lab}"}):
        volume.remove(force=True)


def chosen_host(hosts: Sequence[HostPlan], name: str) -> HostPlan:
    """Return the host of a name; raises LabError when the lab has none of that name."""
    for host in hosts:
        if host.name == name:
            return host
    raise LabError(f"This lab has no host '{name}'; its hosts are {', '.join(host.name for host in hosts) or 'none'}.")
