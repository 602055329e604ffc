# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab's hosts are what they are said to be: real systemd, ssh, Docker and links."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import docker
import paramiko
import pytest
import yaml

from lab.docker_engine import ensure_engine
from lab.engine_images import remove_templates
from lab.errors import LabError
from lab.hosts import lab_names
from lab.lab import Lab
from lab.names import LAB_LABEL
from lab.state import remembered_labs

HOSTS = ("spark1", "spark2")
FIRST, SECOND = "enp1s0f0np0", "enP2p1s0f0np0"
TINY = "lab/tiny:1"
# The smallest image that runs something, made of the host's own files: there is no registry.
MAKE_TINY = (
    "tar -ch -C / usr/bin/true usr/bin/cat usr/bin/sleep lib64/ld-linux-x86-64.so.2 lib/x86_64-linux-gnu/libc.so.6"
    f" | docker import - {TINY}"
)


def sh(lab: Lab, host: str, command: str, user: str = "nvidia") -> str:
    """Run a shell command that must work; return what it prints."""
    code, output, error = lab.run(host, ["sh", "-c", command], user=user)
    assert code == 0, f"{command}: {error}"
    return output.strip()


def jumbo_ping(lab: Lab, address: str) -> bool:
    """Say whether spark1 reaches an address with packets of MTU 9000."""
    return lab.run("spark1", ["ping", "-M", "do", "-s", "8972", "-c", "2", "-i", "0.2", "-W", "1", address])[0] == 0


def megabits_per_second(lab: Lab, reverse: bool = False) -> float:
    """Return what TCP moves from spark1 to spark2 over the first twin, or the other way."""
    sender = "iperf3 --server --one-off --daemon --pidfile /tmp/iperf3.pid --bind 10.100.0.2"
    sh(lab, "spark2", sender)
    client = f"iperf3 --client 10.100.0.2 {'--reverse ' if reverse else ''}--time 2 --json > /tmp/iperf3.json"
    until = f"until {client}; do sleep 0.1; done"
    sh(lab, "spark1", f"timeout 60 sh -c '{until}'")
    result = json.loads(sh(lab, "spark1", "cat /tmp/iperf3.json"))
    return result["end"]["sum_received"]["bits_per_second"] / 1e6


@pytest.fixture
def whole_links(lab: Lab) -> Iterator[None]:
    """Restore the links after a test that breaks them."""
    yield
    for host in HOSTS:
        lab.restore(host)


@pytest.fixture(scope="session")
def tiny_image(lab: Lab) -> str:
    """Return an image that spark1's Docker holds."""
    sh(lab, "spark1", MAKE_TINY)
    return TINY


@pytest.mark.parametrize("host", HOSTS)
def test_systemd_is_running(lab: Lab, host: str) -> None:
    assert sh(lab, host, "systemctl is-system-running --wait") == "running"
    assert sh(lab, host, "cat /proc/1/comm") == "systemd"


@pytest.mark.parametrize("host", HOSTS)
def test_nvidia_is_in_docker_and_sudo_without_password(lab: Lab, host: str) -> None:
    assert {"docker", "sudo"} <= set(sh(lab, host, "id -nG").split())
    assert sh(lab, host, "sudo -n id -u") == "0"
    assert sh(lab, host, "docker info --format '{{.Driver}}'") == "overlay2"


def test_root_gets_in_by_key(lab: Lab) -> None:
    assert sh(lab, "spark2", "id -un", user="root") == "root"


def test_inventory_leads_plain_ssh_in_with_host_key_checking(lab: Lab) -> None:
    folder = next(iter(lab.state.inventories()))
    group = yaml.safe_load((folder / "hosts.yml").read_text(encoding="utf-8"))["sparks"]
    for name, entry in group["hosts"].items():
        options = shlex.split(group["vars"]["ansible_ssh_common_args"])
        assert "StrictHostKeyChecking=yes" in options
        command = ["ssh", "-F", "none", "-o", "BatchMode=yes", "-i", group["vars"]["ansible_ssh_private_key_file"]]
        target = f"{group['vars']['ansible_user']}@{entry['ansible_host']}"
        done = subprocess.run([*command, *options, target, "hostname"], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == name


def test_host_with_another_key_is_refused(lab: Lab) -> None:
    known = lab.state.known_hosts
    real = known.read_text(encoding="ascii")
    address = lab.address(lab.host("spark1"))
    stranger = paramiko.ECDSAKey.generate()
    lab.close()
    try:
        known.write_text(f"{address} {stranger.get_name()} {stranger.get_base64()}\n", encoding="ascii")
        with pytest.raises(LabError, match="cannot be reached by ssh as nvidia"):
            lab.run("spark1", ["true"])
    finally:
        known.write_text(real, encoding="ascii")


@pytest.mark.parametrize("host", HOSTS)
def test_host_says_aarch64(lab: Lab, host: str) -> None:
    assert sh(lab, host, "python3 -c 'import platform; print(platform.machine())'") == "aarch64"
    assert sh(lab, host, "uname -m") == "aarch64"


def test_gpu_is_a_gb10(lab: Lab) -> None:
    query = "nvidia-smi --query-gpu=name,memory.total --format=csv,noheader"
    assert sh(lab, "spark1", query) == "NVIDIA GB10, [N/A]"
    assert sh(lab, "spark1", "nvidia-smi -L") != sh(lab, "spark2", "nvidia-smi -L")


def test_kernel_settings_of_a_host_are_its_own(lab: Lab) -> None:
    machine = Path("/proc/sys/vm/swappiness").read_text(encoding="ascii")
    other = sh(lab, "spark2", "sysctl -n net.core.rmem_max")
    sh(lab, "spark1", "sudo sysctl -q -w net.core.rmem_max=67108864 net.core.default_qdisc=fq vm.swappiness=7")
    assert sh(lab, "spark1", "sysctl -n net.core.rmem_max net.core.default_qdisc vm.swappiness").split() == [
        "67108864",
        "fq",
        "7",
    ]
    assert sh(lab, "spark2", "sysctl -n net.core.rmem_max") == other
    assert Path("/proc/sys/vm/swappiness").read_text(encoding="ascii") == machine


def test_nested_container_as_an_engine_is_run(lab: Lab, tiny_image: str) -> None:
    options = "--gpus all --network host --ipc host --shm-size 16g --ulimit memlock=-1 --ulimit stack=67108864"
    limits = sh(lab, "spark1", f"docker run --rm {options} {tiny_image} /usr/bin/cat /proc/self/limits")
    assert "67108864" in next(line for line in limits.splitlines() if line.startswith("Max stack size"))
    assert sh(lab, "spark1", f"docker run --rm --runtime nvidia --privileged {tiny_image} /usr/bin/true") == ""


def test_nvidia_smi_is_in_a_container_that_asks_for_the_gpu(lab: Lab, tiny_image: str) -> None:
    program = sh(lab, "spark1", f"docker run --rm --gpus all {tiny_image} /usr/bin/cat /usr/bin/nvidia-smi")
    assert program == sh(lab, "spark1", "cat /usr/bin/nvidia-smi")
    assert lab.run("spark1", ["docker", "run", "--rm", tiny_image, "/usr/bin/cat", "/usr/bin/nvidia-smi"])[0] != 0


def test_packages_come_from_the_hosts_own_repository(lab: Lab) -> None:
    sh(lab, "spark1", "sudo apt-get --quiet --yes install earlyoom")
    assert sh(lab, "spark1", "systemctl is-active earlyoom") == "active"
    sh(lab, "spark1", "sudo apt-get --quiet --yes purge earlyoom")


def test_swap_of_one_host_is_not_seen_on_another(lab: Lab) -> None:
    lab.plant("spark1", "swap-on")
    try:
        assert "/lab-swap" in sh(lab, "spark1", "cat /proc/swaps; cat /etc/fstab")
        assert len(sh(lab, "spark2", "cat /proc/swaps").splitlines()) == 1
        with pytest.raises(LabError, match="the fault swap-on is there already"):
            lab.plant("spark1", "swap-on")
    finally:
        assert lab.mend("spark1") == ["swap-on"]
    assert lab.mend("spark1", "swap-on") == []
    assert "lab-swap" not in sh(lab, "spark1", "cat /proc/swaps /etc/fstab; ls /var/lib/docker", user="root")


def test_container_of_a_host_is_on_the_fabric(lab: Lab, tiny_image: str) -> None:
    routes = sh(lab, "spark1", f"docker run --rm --network host {tiny_image} /usr/bin/cat /proc/net/route")
    assert {FIRST, SECOND} <= {line.split()[0] for line in routes.splitlines()}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("interface", [FIRST, SECOND])
def test_mtu(lab: Lab, host: str, interface: str) -> None:
    assert sh(lab, host, f"cat /sys/class/net/{interface}/mtu") == "9000"


@pytest.mark.parametrize("address", ["10.100.0.2", "10.100.1.2"])
def test_jumbo_packets_pass_between_twins(lab: Lab, address: str) -> None:
    assert jumbo_ping(lab, address)


def test_cut_and_restore(lab: Lab, whole_links: None) -> None:
    lab.cut("spark2", FIRST)
    assert not jumbo_ping(lab, "10.100.0.2")
    assert jumbo_ping(lab, "10.100.1.2"), "the other twin must not be touched"
    assert sh(lab, "spark2", f"cat /sys/class/net/{FIRST}/operstate") in ("down", "lowerlayerdown")
    assert {row.host.name: row.links[FIRST] for row in lab.status()} == {"spark1": "up", "spark2": "down"}
    lab.restore("spark2", FIRST)
    assert jumbo_ping(lab, "10.100.0.2")


def test_slow_link_is_slow_and_restored(lab: Lab, whole_links: None) -> None:
    assert megabits_per_second(lab) > 200
    lab.slow("spark2", FIRST, rate="20mbit")
    assert jumbo_ping(lab, "10.100.0.2")
    assert megabits_per_second(lab) < 25
    assert megabits_per_second(lab, reverse=True) < 25
    lab.restore("spark2", FIRST)
    assert megabits_per_second(lab) > 200


def test_lossy_link_loses(lab: Lab, whole_links: None) -> None:
    lab.slow("spark2", FIRST, loss="100%")
    assert not jumbo_ping(lab, "10.100.0.2")


def test_stopped_host_comes_back_with_address_links_and_disk(lab: Lab, tiny_image: str) -> None:
    folder = next(iter(lab.state.inventories()))
    inventory = (folder / "hosts.yml").read_text(encoding="utf-8")
    sh(lab, "spark1", "echo kept > ~/mark")
    lab.stop_host("spark1")
    row = lab.status()[0]
    assert (row.state, row.sshd, row.links) == ("exited", False, {FIRST: "missing", SECOND: "missing"})
    with pytest.raises(LabError, match="cannot be reached"):
        lab.run("spark1", ["true"])
    lab.start_host("spark1")
    assert f"ansible_host: {lab.address(lab.host('spark1'))}\n" in inventory
    assert sh(lab, "spark1", "cat ~/mark") == "kept"
    assert tiny_image in sh(lab, "spark1", "docker image ls --format '{{.Repository}}:{{.Tag}}'")
    assert jumbo_ping(lab, "10.100.0.2")
    assert jumbo_ping(lab, "10.100.1.2")


RUN_FOR_LONG = "docker run --detach --name {name} {options} lab/tiny:1 /usr/bin/sleep infinity"


@pytest.fixture
def container(lab: Lab, tiny_image: str) -> Iterator[str]:
    """Return a container that runs on spark1 in the host's network; its Docker starts it again."""
    sh(lab, "spark1", RUN_FOR_LONG.format(name="long", options="--network host --restart always --stop-timeout 1"))
    yield "long"
    sh(lab, "spark1", "docker rm --force long")


def container_state(lab: Lab, container: str) -> str:
    """Return a container's state on spark1, and how often its Docker restarted it."""
    return sh(lab, "spark1", f"docker inspect --format '{{{{.State.Running}}}} {{{{.RestartCount}}}}' {container}")


def test_power_loss_keeps_disks_and_containers_see_the_new_links(lab: Lab, container: str) -> None:
    for host in HOSTS:
        sh(lab, host, "echo kept > ~/mark; sudo touch /run/lost")
    lab.crash_hosts(*HOSTS)
    for host in HOSTS:
        assert sh(lab, host, "cat ~/mark; ls /run/lost 2>/dev/null || echo lost") == "kept\nlost"
    assert jumbo_ping(lab, "10.100.0.2")
    assert jumbo_ping(lab, "10.100.1.2")
    sh(lab, "spark1", f"timeout 30 sh -c 'until docker exec {container} /usr/bin/true; do sleep 0.2; done'")
    assert {FIRST, SECOND} <= set(sh(lab, "spark1", f"docker exec {container} /usr/bin/cat /proc/net/route").split())


def test_reboot(lab: Lab) -> None:
    sh(lab, "spark2", "echo net.core.rmem_max = 7654321 | sudo tee /etc/sysctl.d/zz-test.conf")
    boot = sh(lab, "spark2", "sudo touch /run/lost; cat /proc/sys/kernel/random/boot_id")
    assert boot != sh(lab, "spark1", "cat /proc/sys/kernel/random/boot_id")
    lab.reboot_host("spark2")
    assert sh(lab, "spark2", "cat /proc/sys/kernel/random/boot_id") != boot
    assert sh(lab, "spark2", "ls /run/lost 2>/dev/null || echo lost") == "lost"
    assert sh(lab, "spark2", "sysctl -n net.core.rmem_max; sudo rm /etc/sysctl.d/zz-test.conf") == "7654321"
    assert jumbo_ping(lab, "10.100.0.2")


def test_killed_and_stopped_containers(lab: Lab, container: str) -> None:
    lab.kill_engine("spark1")
    # Docker's restart policies do not apply to what `docker kill` ended.
    assert container_state(lab, container) == "false 0"
    assert sh(lab, "spark1", f"docker inspect --format '{{{{.State.ExitCode}}}}' {container}") == "137"
    with pytest.raises(LabError, match="spark1: no container runs here"):
        lab.kill_engine("spark1")
    sh(lab, "spark1", f"docker start {container}")
    before = sh(lab, "spark1", "systemctl show --property MainPID docker")
    lab.restart_docker("spark1")
    assert sh(lab, "spark1", "systemctl show --property MainPID docker") != before


def test_killed_supervisor(lab: Lab) -> None:
    with pytest.raises(LabError, match="spark2: no supervisor runs here"):
        lab.kill_supervisor("spark2")
    unit = "dgxspark-replica@stand-in.service"
    sh(lab, "spark2", f"sudo systemd-run --unit {unit} --property Restart=always sleep infinity")
    try:
        before = sh(lab, "spark2", f"systemctl show --property MainPID {unit}")
        lab.kill_supervisor("spark2")
        until = f"until systemctl show --property NRestarts {unit} | grep -qx NRestarts=1; do sleep 0.1; done"
        sh(lab, "spark2", f"timeout 30 sh -c '{until}'")
        assert sh(lab, "spark2", f"systemctl show --property MainPID {unit}") != before
    finally:
        sh(lab, "spark2", f"sudo systemctl stop {unit}")


# A service that says it is ready, and nothing more.
SILENT = (
    "import os, socket, time; s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); "
    "s.connect(os.environ['NOTIFY_SOCKET']); s.send(b'READY=1'); time.sleep(60)"
)


def test_systemd_does_what_supervisors_need(lab: Lab) -> None:
    silent = f"/usr/bin/python3 -c {shlex.quote(SILENT)}"
    notify = "--property Type=notify --property WatchdogSec=1 --unit silent"
    sh(lab, "spark1", f"sudo systemd-run {notify} {silent}")  # returns when the unit says that it is ready
    sh(lab, "spark1", "sudo systemd-run --on-active 1 --timer-property AccuracySec=100ms touch /run/rang")
    sh(lab, "spark1", "timeout 30 sh -c 'until [ -e /run/rang ]; do sleep 0.1; done'")
    until = "until systemctl show --property Result silent | grep -qx Result=watchdog; do sleep 0.1; done"
    sh(lab, "spark1", f"timeout 30 sh -c '{until}'")
    sh(lab, "spark1", "sudo systemctl reset-failed silent")


def test_up_repairs_what_is_missing(lab: Lab) -> None:
    lab.stop_host("spark2")
    lab.up(2)
    assert jumbo_ping(lab, "10.100.0.2")
    assert [row.state for row in lab.status()] == ["running", "running"]


def test_up_refuses_another_shape(lab: Lab) -> None:
    with pytest.raises(LabError, match="is there with 2 full hosts, 1 full ones were asked for"):
        lab.up(1)


@pytest.fixture
def tiny_engine(lab: Lab, tiny_image: str, tmp_path: Path) -> object:
    """Return an engine as the lab takes it: an image archive, a model, variables."""
    archive = tmp_path / "tiny.tar"
    sh(lab, "spark1", f"docker save {tiny_image} > /tmp/tiny.tar")
    with archive.open("wb") as stream:
        host = lab.host("spark1").container
        subprocess.run(["docker", "exec", host, "cat", "/tmp/tiny.tar"], stdout=stream, check=True)
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text("{}", encoding="utf-8")

    class TinyEngine:
        """The smallest engine."""

        reference = tiny_image

        def archive(self) -> Path:
            """Return the image."""
            return archive

        def models(self) -> dict[str, Path]:
            """Return one model."""
            return {"tiny": model}

        def host_vars(self) -> dict[str, object]:
            """Return one variable."""
            return {"replica_image": tiny_image}

    return TinyEngine()


def test_second_lab_with_an_engine_and_nothing_left_of_it(lab: Lab, tiny_engine: object, tmp_path: Path) -> None:
    client = ensure_engine()
    second = Lab(client, "labtest-light")
    folder = tmp_path / "inventory"
    try:
        second.up(2, [tiny_engine], folder, light=True)
        images = second.run("spark2", ["docker", "image", "inspect", "--format={{.Id}}", TINY])[1]
        assert images == lab.run("spark1", ["docker", "image", "inspect", "--format={{.Id}}", TINY])[1]
        assert second.run("spark1", ["docker", "run", "--rm", "--gpus", "all", TINY, "/usr/bin/true"])[0] == 0
        assert sh(second, "spark1", "stat -c '%U %a' /srv/models/tiny /srv/models/tiny/config.json").split("\n") == [
            "nvidia 755",
            "nvidia 644",
        ]
        assert sh(second, "spark1", "cat /proc/1/comm") != "systemd"
        assert "replica_image: lab/tiny:1" in (folder / "group_vars" / "sparks.yml").read_text(encoding="utf-8")
        # Both labs use the same fabric addresses, each in its own switch.
        second.cut("spark2")
        assert jumbo_ping(lab, "10.100.0.2")
    finally:
        second.down()
    assert_nothing_left(client, "labtest-light")
    assert not folder.exists()
    assert lab_names(client) >= {lab.name}
    second.down()
    remove_templates(client, "lab/tiny")


def assert_nothing_left(client: docker.DockerClient, name: str) -> None:
    """Fail when the machine still has anything of a lab."""
    label = {"label": f"{LAB_LABEL}={name}"}
    assert client.containers.list(all=True, filters=label) == []
    assert client.volumes.list(filters=label) == []
    assert client.networks.list(filters=label) == []
    names = subprocess.run(
        ["docker", "ps", "-aq", "--filter", f"name={name}"], capture_output=True, text=True, check=True
    )
    assert names.stdout == ""
    assert name not in remembered_labs()
