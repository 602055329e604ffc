# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A lab as a whole: up, down, links, hosts, commands on hosts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

import docker
import paramiko
from docker.models.containers import Container

from lab import hosts as containers
from lab.cache import cache_root, file_lock
from lab.engine_images import EngineArchive, ensure_template, image_id_of, seed_volumes
from lab.errors import LabError
from lab.fabric import VOLUMES, Fabric, cut_commands, restore_commands, slow_commands
from lab.faults import MARKS, SWAP_FILE, fault_of, mend_script, plant_script
from lab.gateway_wheels import gateway_wheels
from lab.host_faults import (
    FREEZE_ENGINE,
    HANG_ENGINE,
    KILL_ENGINE,
    KILL_SUPERVISOR,
    KILL_WORKER,
    RESTART_DOCKER,
    THAW_ENGINE,
)
from lab.hub.container import Hub, lay_wheels
from lab.hub.wheels import wheels
from lab.hub_models import PADDING_SCRIPT, cache_tar, padding_command, read_folder, revision_of
from lab.inventory import hosts_document, remove_inventory, write_inventory
from lab.models import lay_models
from lab.names import HOST_LABEL, HostPlan, check_lab_name, plan_host, plan_hosts
from lab.packages import ensure_programs
from lab.progress import long_step, progress
from lab.spark_image import ensure_image
from lab.ssh import Connections, ensure_key_pair, known_hosts_text, port_answers, wait_for_sshd
from lab.state import LabState

if TYPE_CHECKING:
    from lab.engines.engine import Engine

T = TypeVar("T")
SSHD_SECONDS = 90.0
SWAP_SECONDS = 1200.0
DOCKER_SECONDS = 120
# One command instead of many: the host itself looks every 0.2 s whether its Docker answers.
DOCKER_WAIT = (
    f"timeout {DOCKER_SECONDS} sh -c 'until docker version >/dev/null 2>&1; do sleep 0.2; done' || docker version >&2"
)


def in_parallel(work: Callable[[HostPlan], T], hosts: Iterable[HostPlan]) -> dict[HostPlan, T]:
    """Do something for all hosts at once; the first error is raised after all have ended."""
    with ThreadPoolExecutor(max_workers=16) as pool:
        futures = {host: pool.submit(work, host) for host in hosts}
    return {host: future.result() for host, future in futures.items()}


@dataclass(frozen=True)
class HostStatus:
    """What `status` shows of one host."""

    host: HostPlan
    state: str
    address: str
    sshd: bool
    links: dict[str, str]


class Lab:
    """One lab on one Docker Engine; the engine is the truth, nothing is remembered but keys and inventory paths."""

    def __init__(self, client: docker.DockerClient, name: str) -> None:
        self.name = check_lab_name(name)
        self.state = LabState(name)
        self.fabric = Fabric(client, name)
        self._client = client
        self._connections = Connections(self.state.key, self.state.known_hosts)

    # -- what there is ---------------------------------------------------------------------------------------------

    def hosts(self) -> tuple[HostPlan, ...]:
        """Return the hosts that exist, by number."""
        names = [
            container.labels[HOST_LABEL]
            for container in containers.lab_containers(self._client, self.name)
            if HOST_LABEL in container.labels
        ]
        indices = sorted(int(name.removeprefix("spark")) for name in names)
        return tuple(plan_host(self.name, index) for index in indices)

    def host(self, name: str) -> HostPlan:
        """Return an existing host by name; raises LabError."""
        return containers.chosen_host(self.hosts(), name)

    def _container(self, host: HostPlan) -> Container:
        """Return a host's container; raises LabError."""
        return containers.get_host(self._client, host)

    def address(self, host: HostPlan) -> str:
        """Return a host's management address."""
        return containers.address_of(self._container(host), self.name)

    def status(self) -> list[HostStatus]:
        """Return the state of every host; a link is up, down (cut) or missing (host stopped)."""
        hosts = self.hosts()
        if not hosts:
            return []
        try:
            carrier = self.fabric.far_ends()
        except LabError:
            carrier = {}

        def look(host: HostPlan) -> HostStatus:
            container = self._container(host)
            address = containers.address_of(container, self.name)
            links = {
                link.interface: {True: "up", False: "down", None: "missing"}[carrier.get(link.far_end)]
                for link in host.links
            }
            return HostStatus(host, container.status, address, port_answers(address), links)

        return list(in_parallel(look, hosts).values())

    # -- up --------------------------------------------------------------------------------------------------------

    def up(
        self,
        count: int,
        engines: Sequence[Engine] = (),
        inventory: Path | None = None,
        light: bool = False,
        gateway: bool = False,
    ) -> None:
        """Make the lab, or what is missing of it; the hosts are ready for Ansible afterwards.

        :param gateway: leave it to the collection whether replicas get a gateway; else the inventory says no
        """
        plan = plan_hosts(self.name, count)
        ensure_programs({"ssh": "openssh-client"})  # Ansible's way to the hosts
        image = ensure_image(self._client)
        archives = [EngineArchive(engine.reference, "", engine.archive()) for engine in engines]
        archives = [EngineArchive(entry.reference, image_id_of(entry.path), entry.path) for entry in archives]
        with self.state.lock():
            self._refuse_another_shape(plan, light)
            self.state.make()
            with long_step(f"lab '{self.name}': starting {count} {'light ' if light else ''}hosts"):
                seeded = self._start_all(plan, image, archives, light)
            self._load_engines([host for host in plan if host not in seeded], archives)
            models = {name: folder for engine in engines for name, folder in engine.models().items()}
            if models:
                progress(f"laying models: {', '.join(models)}")
                in_parallel(lambda host: lay_models(self._container(host), models), plan)
            self._write_inventory(inventory, engines[0].host_vars() if engines else {}, gateway)

    def _refuse_another_shape(self, plan: Sequence[HostPlan], light: bool) -> None:
        """Raise LabError when the lab is there with more hosts, or with hosts of the other kind."""
        there = self.hosts()
        surplus = [host.name for host in there if host not in plan]
        other_kind = [host.name for host in there if containers.is_light(self._container(host)) != light]
        if surplus or other_kind:
            found = f"{len(there)} {'light' if light ^ bool(other_kind) else 'full'} hosts"
            raise LabError(
                f"Lab '{self.name}' is there with {found}, {len(plan)} {'light' if light else 'full'} ones were "
                f"asked for: `python -m lab down --name {self.name}` first."
            )

    def _start_all(
        self, plan: Sequence[HostPlan], image: str, archives: Sequence[EngineArchive], light: bool
    ) -> list[HostPlan]:
        """Make network, switch and hosts, connect them, wait for them; return who has the images already."""
        public_key = ensure_key_pair(self.state.key, f"dgxspark-lab-{self.name}")
        self.fabric.ensure(image)
        network = containers.ensure_network(self._client, self.name)
        absent = [host for host in plan if containers.find_host(self._client, host) is None]
        template = ensure_template(self._client, image, archives) if archives and absent else None
        fresh = [host for host in absent if containers.ensure_volume(self._client, self.name, host)]
        seeded = fresh if template else []
        if template and seeded:
            self._seed(template, [host.volume for host in seeded])

        def start(host: HostPlan) -> None:
            container = containers.find_host(self._client, host) or containers.create_host(
                self._client, self.name, host, image=image, network=network, light=light, public_key=public_key
            )
            if container.attrs["Config"]["Image"] != image:
                progress(f"{host.name} keeps the older host image that it was made from, until the lab is made anew")
            if container.status != "running":
                container.start()

        in_parallel(start, plan)
        self._connect(plan)
        keys = in_parallel(lambda host: containers.read_host_key(self._container(host), SSHD_SECONDS), plan)
        addresses = in_parallel(self.address, plan)
        text = known_hosts_text({addresses[host]: key for host, key in keys.items()})
        self.state.known_hosts.write_text(text, encoding="ascii")
        in_parallel(lambda host: self._wait_ready(host, light), plan)
        return seeded

    def _seed(self, template: str, volumes: Sequence[str]) -> None:
        """Fill new volumes; one that was filled in part only must not be taken for a whole one later."""
        try:
            seed_volumes(self.fabric.container(), template, volumes)
        except BaseException:
            for volume in volumes:
                self._client.volumes.get(volume).remove(force=True)
            raise

    def _connect(self, hosts: Sequence[HostPlan]) -> None:
        """Make missing links of running hosts."""
        self.fabric.connect({host: containers.pid_of(self._container(host)) for host in hosts})

    def _wait_ready(self, host: HostPlan, light: bool) -> None:
        """Wait for sshd, and for Docker unless the host is light (there it starts at its first use)."""
        address = self.address(host)
        wait_for_sshd(host.name, address, SSHD_SECONDS)
        if light:
            return
        code, _out, error = self.run(host.name, ["sh", "-c", DOCKER_WAIT], user="root")
        if code != 0:
            raise LabError(f"Docker of {host.name} does not answer after {DOCKER_SECONDS} s: {error.strip()}")

    def _load_engines(self, plan: Sequence[HostPlan], archives: Sequence[EngineArchive]) -> None:
        """Load images into hosts that lack them: hosts that were there before the engine was asked for."""

        def load(host: HostPlan) -> None:
            for archive in archives:
                found = self.run(host.name, ["docker", "image", "inspect", "--format={{.Id}}", archive.reference])[1]
                if found.strip() == archive.image_id:
                    continue
                with long_step(f"{host.name}: loading {archive.reference}"), archive.path.open("rb") as stream:
                    code, _out, error = self.run(host.name, ["docker", "load", "--quiet"], stdin=stream)
                if code != 0:
                    raise LabError(f"{host.name}: {archive.reference} does not load: {error.strip()}")

        in_parallel(load, plan)

    def _write_inventory(self, folder: Path | None, variables: dict[str, object], gateway: bool) -> None:
        """Write the inventory of all hosts, and remember where."""
        target = (folder or self.state.own_inventory).absolute()
        addresses = {host: self.address(host) for host in self.hosts()}
        document = hosts_document(addresses, self.state.key, self.state.known_hosts, gateway=gateway)
        write_inventory(target, self.name, document, variables)
        self.state.remember_inventory(target)
        progress(f"lab '{self.name}' is up: inventory {target}")

    # -- models ----------------------------------------------------------------------------------------------------

    def hub(self) -> Hub:
        """Return the lab's hub, running, and without models when it is new; hosts get what downloads from it."""
        hub = Hub(self._client, self.name)
        hub.up(ensure_image(self._client))
        folder = wheels()
        in_parallel(lambda host: lay_wheels(self._container(host), folder), self.hosts())
        return hub

    def lay_gateway_wheels(self, host: str) -> None:
        """Put the Python packages of the gateways that want some into a host."""
        lay_wheels(self._container(self.host(host)), gateway_wheels())

    def hub_down(self) -> None:
        """Remove the hub; hosts keep what they got."""
        Hub(self._client, self.name).down()

    def lay_hub_model(self, host: str, name: str, folder: Path, padding_bytes: int = 0) -> str:
        """Put a model into the Hugging Face cache of one host's user, padded on request; return its commit."""
        files = read_folder(folder)
        revision = revision_of(files, padding_bytes)
        self._container(self.host(host)).put_archive("/", cache_tar(name, files, revision))
        if padding_bytes:
            with PADDING_SCRIPT.open("rb") as script:
                code, _out, error = self.run(host, padding_command(name, revision, padding_bytes), stdin=script)
            if code != 0:
                raise LabError(f"{host}: {name} could not be padded: {error.strip()}")
        return revision

    # -- down ------------------------------------------------------------------------------------------------------

    def down(self) -> None:
        """Remove the lab, whole or half-made; nothing there is fine."""
        with self.state.lock():
            self._connections.close()
            self._swap_off()
            found = containers.lab_containers(self._client, self.name)
            with ThreadPoolExecutor(max_workers=16) as pool:
                list(pool.map(containers.remove_container, found))
            containers.remove_networks_and_volumes(self._client, self.name)
            for folder in self.state.inventories():
                remove_inventory(folder, self.name)
            self.state.remove()
        progress(f"lab '{self.name}' is down")

    def _swap_off(self) -> None:
        """Take the machine's swap off files of the hosts: it would outlive them."""
        volumes = [host.volume for host in self.hosts()]
        files = [f"{VOLUMES}/{volume}/_data/{Path(SWAP_FILE).name}" for volume in volumes]
        with suppress(LabError):  # no switch: a lab that is half made, or half gone
            self.fabric.do([["sh", "-c", f"test ! -e {file} || swapoff {file} || :"] for file in files])

    # -- faults ----------------------------------------------------------------------------------------------------

    def cut(self, host: str, port: str | None = None) -> None:
        """Pull the cable of one port, or of both."""
        self.fabric.do(cut_commands(self.host(host).chosen_links(port)))

    def slow(self, host: str, port: str | None = None, rate: str = "100mbit", loss: str | None = None) -> None:
        """Make a link slow and, if `loss` is given, lossy, in both directions."""
        self.fabric.do(slow_commands(self.host(host).chosen_links(port), rate, loss))

    def restore(self, host: str, port: str | None = None) -> None:
        """Undo cut and slow."""
        self.fabric.do(restore_commands(self.host(host).chosen_links(port)))

    def stop_host(self, host: str) -> None:
        """Shut a host down, in an orderly way; it keeps its disk and its address."""
        plan = self.host(host)
        with self.state.lock(), long_step(f"stopping {host}"):
            self._power_off(plan, orderly=True)

    def start_host(self, host: str) -> None:
        """Start a stopped host, give it its links again, and wait until it is ready."""
        plan = self.host(host)
        with self.state.lock(), long_step(f"starting {host}"):
            self._boot([plan])

    def reboot_host(self, host: str) -> None:
        """Shut a host down in order and start it again."""
        plan = self.host(host)
        with self.state.lock(), long_step(f"rebooting {host}"):
            self._power_off(plan, orderly=True)
            self._boot([plan])

    def crash_hosts(self, *names: str) -> None:
        """Take the power from hosts, all at once, and start them again: nothing in them is told."""
        plans = [self.host(name) for name in names]
        with self.state.lock(), long_step(f"power loss of {' and '.join(names)}"):
            in_parallel(lambda plan: self._power_off(plan, orderly=False), plans)
            self._boot(plans)

    def _power_off(self, plan: HostPlan, orderly: bool) -> None:
        """Stop a host's container."""
        container = self._container(plan)
        self._connections.forget(self.address(plan))
        if orderly:
            container.stop(timeout=containers.STOP_SECONDS)
        elif container.status == "running":
            container.kill()
            container.wait()

    def _boot(self, plans: Sequence[HostPlan]) -> None:
        """Start hosts, give them their links, wait until they are ready."""
        in_parallel(lambda plan: self._container(plan).start(), plans)
        self._connect(plans)
        in_parallel(lambda plan: self._wait_ready(plan, containers.is_light(self._container(plan))), plans)

    def kill_engine(self, host: str) -> None:
        """Kill the engine containers of a host."""
        self._break(host, KILL_ENGINE)

    def kill_worker(self, host: str) -> None:
        """Kill the engine's worker process on a host, and leave the process that started it alone."""
        self._break(host, KILL_WORKER)

    def kill_supervisor(self, host: str) -> None:
        """Kill the supervisors of the ranks on a host, and leave the engines alone."""
        self._break(host, KILL_SUPERVISOR)

    def freeze_engine(self, host: str) -> None:
        """Stop the processes of the engine on a host, which stay there."""
        self._break(host, FREEZE_ENGINE)

    def thaw_engine(self, host: str) -> None:
        """Let a frozen engine go on."""
        self._break(host, THAW_ENGINE)

    def hang_engine(self, host: str) -> None:
        """Have the double on a host generate nothing, while it says that it is healthy."""
        self._break(host, HANG_ENGINE)

    def restart_docker(self, host: str) -> None:
        """Restart Docker on a host, which ends its containers."""
        self._break(host, RESTART_DOCKER)

    def plant(self, host: str, fault: str) -> None:
        """Plant a fault that stays until it is mended; raises LabError when it is there already."""
        plan, chosen = self.host(host), fault_of(fault)
        if fault in self.planted(host):
            raise LabError(f"{host}: the fault {fault} is there already.")
        with self._turn_of_swap() if chosen.swap else nullcontext():
            self._break(host, plant_script(plan, fault))
        if chosen.cable:
            self.cut(host, plan.links[0].interface)

    def planted(self, host: str) -> list[str]:
        """Return the faults that were planted on a host and not mended."""
        return self.run(host, ["sh", "-c", f"ls {MARKS} 2>/dev/null || :"], user="root")[1].split()

    @contextmanager
    def _turn_of_swap(self) -> Iterator[None]:
        """Wait until no host of any lab has swap on, and keep others from turning it on meanwhile; raises LabError."""
        file = Path(SWAP_FILE).name
        with file_lock(cache_root() / ".swap.lock"):
            until = time.monotonic() + SWAP_SECONDS
            while file in self.fabric.do([["cat", "/proc/swaps"]]):
                if time.monotonic() > until:
                    raise LabError(
                        f"Another host has had swap on for {SWAP_SECONDS:.0f} s: mend its fault swap-on first."
                    )
                time.sleep(1.0)
            yield

    def mend(self, host: str, fault: str | None = None) -> list[str]:
        """Mend one fault of a host, or all; return which. One that is not there is fine."""
        if fault is not None:
            fault_of(fault)
        plan = self.host(host)
        chosen = [name for name in self.planted(host) if fault in (None, name)]
        for name in chosen:
            if fault_of(name).cable:
                self.restore(host, plan.links[0].interface)
            self._break(host, mend_script(plan, name))
        return chosen

    def _break(self, host: str, script: str) -> None:
        """Run a fault's script as root of a host; raises LabError when it fails."""
        code, _out, error = self.run(host, ["sh", "-ec", script], user="root")
        if code != 0:
            raise LabError(f"{host}: {error.strip()}")

    # -- commands --------------------------------------------------------------------------------------------------

    def run(
        self,
        host: str,
        argv: Sequence[str],
        user: str = "nvidia",
        stdin: BinaryIO | None = None,
        timeout: float | None = None,
    ) -> tuple[int, str, str]:
        """Run a command on a host over ssh with host-key checking; return (exit code, stdout, stderr).

        `timeout` is the longest silence in seconds. Raises LabError when the host cannot be reached.
        """
        container = self._container(self.host(host))
        address = containers.address_of(container, self.name)
        if container.status != "running":
            raise LabError(
                f"{host} cannot be reached by ssh: it is {container.status}; `python -m lab host start {host}`."
            )
        try:
            return self._connections.run(address, user, argv, stdin, timeout)
        except (paramiko.SSHException, OSError) as error:
            raise LabError(f"{host} ({address}) cannot be reached by ssh as {user}: {error}") from error

    def close(self) -> None:
        """Close open connections."""
        self._connections.close()
