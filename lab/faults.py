# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of a host that stay until they are mended: what a preflight has to find. Scripts as data.

Each is a pair of shell scripts for root of the host. They know `host`, `interface` and `address` of its first link, and
`mark`, a file of the fault's own that is there as long as the fault is, where a plant may leave what its mend needs.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from lab.errors import LabError
from lab.names import MTU, HostPlan

MARKS = "/var/lib/dgxspark-lab/faults"
#: On the host's volume, for a file on overlayfs cannot be swapped to.
SWAP_FILE = "/var/lib/docker/lab-swap"
API_PORT = 8000
_ANSWERS = "/etc/dgxspark-lab/nvidia-smi.json"
_DAEMON = "/etc/docker/daemon.json"
# The first engine image of the host, by its name and tag; other images that a test made do not count.
_ENGINE_IMAGE = """\
image=$(docker images --filter reference='lab/engine-*' --filter reference='lab/vllm-*' \\
  --format '{{.Repository}}:{{.Tag}}' | head -n 1)
[ -n "$image" ] || { echo 'this needs an engine image on the host' >&2; exit 1; }
"""
_WAIT_FOR_DOCKER = "timeout 60 sh -c 'until docker version >/dev/null 2>&1; do sleep 0.1; done'"
_RESTART_DOCKER = f"systemctl reset-failed docker; systemctl restart docker; {_WAIT_FOR_DOCKER}"


@dataclass(frozen=True)
class Fault:
    """One fault.

    :ivar about: what is wrong then
    :ivar plant: script that breaks
    :ivar mend: script that undoes it, also after somebody else has repaired some of it
    :ivar cable: whether the lab pulls the cable of the host's first link as well
    :ivar swap: whether it turns on swap, which is the machine's: one host at a time
    """

    about: str
    plant: str = ""
    mend: str = ""
    cable: bool = False
    swap: bool = False


def _answers(text: str) -> tuple[str, str]:
    """Return scripts that lay down and take away other answers of nvidia-smi."""
    return f"set -C; echo {shlex.quote(text)} > {_ANSWERS}", f"rm -f {_ANSWERS}"


FAULTS: dict[str, Fault] = {
    # Swap is the machine's; only this host sees it, for the lab hides the list from all others.
    "swap-on": Fault(
        "32 MiB of swap are on, and a row of fstab brings them back at boot",
        f"""\
dd if=/dev/zero of={SWAP_FILE} bs=1M count=32 status=none
chmod 0600 {SWAP_FILE}
mkswap --quiet {SWAP_FILE}
umount /proc/swaps
swapon {SWAP_FILE}
printf '%s\\tnone\\tswap\\tsw\\t0\\t0\\n' {SWAP_FILE} >> /etc/fstab
""",
        f"""\
swapoff {SWAP_FILE} 2>/dev/null || :
rm -f {SWAP_FILE}
sed -i '\\|{SWAP_FILE}|d' /etc/fstab
grep -q ' /proc/swaps ' /proc/self/mountinfo || mount --bind /run/swaps-shim /proc/swaps
""",
        swap=True,
    ),
    "mtu-1500": Fault(
        "this end of the first link has MTU 1500, the other keeps its own",
        "ip link set $interface mtu 1500",
        f"ip link set $interface mtu {MTU}",
    ),
    "link-down": Fault("the first link is switched off", "ip link set $interface down", "ip link set $interface up"),
    "cable-pulled": Fault("the cable of the first link is pulled", cable=True),
    "wrong-subnet": Fault(
        "the first link has an address of another network",
        "ip address flush dev $interface scope global; ip address add 10.100.9.${address#10.100.0.} dev $interface",
        "ip address flush dev $interface scope global; ip address add $address dev $interface",
    ),
    "port-taken": Fault(
        f"a container that is not ours listens on port {API_PORT}",
        f"""\
{_ENGINE_IMAGE}\
docker run --detach --quiet --name lab-port-taken --network host --entrypoint python3 "$image" \\
  -u -m http.server {API_PORT} >/dev/null
timeout 30 sh -c 'until docker logs lab-port-taken 2>/dev/null | grep -q "^Serving"; do sleep 0.1; done' ||
  {{ docker logs --tail 1 lab-port-taken >&2; docker rm --force lab-port-taken >/dev/null; exit 1; }}
""",
        "docker rm --force lab-port-taken >/dev/null 2>&1 || :",
    ),
    "amd64-image": Fault(
        "the first engine image of the host is one for amd64",
        f"""\
{_ENGINE_IMAGE}\
echo "$image" > $mark
docker tag "$image" lab/kept:1
tar --create --files-from /dev/null | docker import --platform linux/amd64 - "$image" >/dev/null
""",
        """\
image=$(cat $mark)
if docker image inspect lab/kept:1 >/dev/null 2>&1; then
  docker image rm --force "$image" >/dev/null
  docker tag lab/kept:1 "$image"
  docker image rm lab/kept:1 >/dev/null
fi
""",
    ),
    "model-incomplete": Fault(
        "a weight file of the first model is not there",
        """\
set -- /srv/models/*
file=$(ls "$1"/*.safetensors | head -n 1)
echo "$file" > $mark
mv "$file" /var/lib/dgxspark-lab/kept-weights
""",
        'if [ -e /var/lib/dgxspark-lab/kept-weights ]; then mv /var/lib/dgxspark-lab/kept-weights "$(cat $mark)"; fi',
    ),
    "docker-stopped": Fault(
        "Docker does not run",
        "systemctl stop docker.socket docker.service",
        f"systemctl start docker.socket docker.service; {_WAIT_FOR_DOCKER}",
    ),
    "no-nvidia-toolkit": Fault(
        "the NVIDIA container toolkit is not installed",
        f"cp -p {_DAEMON} $mark; echo '{{}}' > {_DAEMON}\n"
        f"dpkg --purge nvidia-container-toolkit >/dev/null\n{_RESTART_DOCKER}",
        "dpkg --install /opt/dgxspark-lab/apt/nvidia-container-toolkit_*.deb >/dev/null\n"
        f"cp -p $mark {_DAEMON}\n{_RESTART_DOCKER}",
    ),
    "no-nvidia-runtime": Fault(
        "the toolkit is there, and Docker has no runtime nvidia",
        f"cp -p {_DAEMON} $mark; echo '{{}}' > {_DAEMON}\n{_RESTART_DOCKER}",
        f"cp -p $mark {_DAEMON}\n{_RESTART_DOCKER}",
    ),
    "docker-not-restarted": Fault(
        "Docker's configuration has the runtime nvidia, and Docker runs without it",
        f"cp -p {_DAEMON} $mark; echo '{{}}' > {_DAEMON}\n{_RESTART_DOCKER}\ncp -p $mark {_DAEMON}",
        _RESTART_DOCKER,
    ),
    # A real file system of that size, with what Docker had; its containers are stopped while it moves.
    "disk-nearly-full": Fault(
        "256 MiB are free where Docker keeps its data",
        f"""\
systemctl stop docker.socket docker.service
used=$(du --summarize --block-size=1M --exclude={SWAP_FILE} /var/lib/docker | cut -f 1)
mount -t tmpfs -o size=$((used + 256))m lab-small /mnt
cp --archive /var/lib/docker/. /mnt/
mount --move /mnt /var/lib/docker
systemctl start docker.socket docker.service
{_WAIT_FOR_DOCKER}
""",
        f"""\
systemctl stop docker.socket docker.service
if [ "$(stat --file-system --format %T /var/lib/docker)" = tmpfs ]; then umount /var/lib/docker; fi
systemctl start docker.socket docker.service
{_WAIT_FOR_DOCKER}
""",
    ),
    "sysctl-overridden": Fault(
        "a later file of somebody else sets net.core.rmem_max back",
        """\
sysctl --values net.core.rmem_max > $mark
echo 'net.core.rmem_max = 212992' > /etc/sysctl.d/zzz-other.conf
sysctl --quiet --load /etc/sysctl.d/zzz-other.conf
""",
        'rm -f /etc/sysctl.d/zzz-other.conf; sysctl --quiet --write "net.core.rmem_max=$(cat $mark)"',
    ),
    "gpu-lost": Fault(
        "nvidia-smi finds another driver than the loaded one",
        *_answers('{"failure": {"text": "Failed to initialize NVML: Driver/library version mismatch", "code": 18}}'),
    ),
    "gpu-slow": Fault(
        "the GPU stays at 650 MHz under load",
        *_answers('{"clocks.current.sm": "650 MHz", "clocks.current.graphics": "650 MHz", "utilization.gpu": "96 %"}'),
    ),
    "gpu-in-use": Fault(
        "a process that is not ours holds 20 GB of the GPU's memory",
        f"""\
systemd-run --quiet --unit lab-gpu-in-use sleep infinity
pid=$(systemctl show --property MainPID --value lab-gpu-in-use)
printf '{{"processes": [{{"pid": "%s", "process_name": "sleep", "used_gpu_memory": "20480 MiB"}}]}}' $pid > {_ANSWERS}
""",
        f"rm -f {_ANSWERS}; systemctl stop lab-gpu-in-use",
    ),
    "hostname-loopback": Fault(
        "the host's own name is that of the loopback interface",
        'hosts=$(cat /etc/hosts); printf "127.0.1.1 %s\\n%s\\n" "$host" "$hosts" > /etc/hosts',
        "hosts=$(grep -v '^127\\.0\\.1\\.1 ' /etc/hosts); echo \"$hosts\" > /etc/hosts",
    ),
}


def fault_of(name: str) -> Fault:
    """Return a fault; raises LabError when there is none of that name."""
    if name not in FAULTS:
        raise LabError(f"There is no fault '{name}'; there are {', '.join(FAULTS)}.")
    return FAULTS[name]


def _variables(plan: HostPlan, name: str) -> str:
    """Return the lines that set what every script knows."""
    link = plan.links[0]
    values = {"host": plan.name, "interface": link.interface, "address": link.address, "mark": f"{MARKS}/{name}"}
    return "".join(f"{key}={shlex.quote(value)}\n" for key, value in values.items())


def plant_script(plan: HostPlan, name: str) -> str:
    """Return the script that plants a fault; raises LabError."""
    return f"{_variables(plan, name)}mkdir -p {MARKS}\n: > $mark\n{fault_of(name).plant}\n"


def mend_script(plan: HostPlan, name: str) -> str:
    """Return the script that mends a fault, and does nothing when it is not there; raises LabError."""
    return f"{_variables(plan, name)}[ -e $mark ] || exit 0\n{fault_of(name).mend}\nrm -f $mark\n"
