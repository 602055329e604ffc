# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host is the machine that is wanted: architecture, system, Python, name, clock and kernels. Pure."""

from __future__ import annotations

import ipaddress
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import (
    Check,
    failed,
    passed,
    skipped,
    warned,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import kernels, machine
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

ARCHITECTURE = "aarch64"
# The oldest releases whose Docker, systemd and Python are new enough; DGX OS 7 is Ubuntu 24.04 beneath.
OLDEST = {"ubuntu": (24, 4), "debian": (12,)}
PYTHON = (3, 10)
# Output of the Python that runs the modules, its version: it needs no process.
PYTHON_OUTPUT = "python"
IN_CONTAINER = "in a container, where this is the machine's"


def sources(want: Want) -> Sources:
    """What to read and run."""
    return machine.SOURCES | kernels.SOURCES


def facts(raw: Raw, want: Want) -> dict[str, Any]:
    """What is worth knowing of the machine."""
    return {
        "architecture": raw.output(machine.UNAME).out.strip(),
        "os": system(raw),
        "kernel": kernels.running(raw),
        "python": raw.output(PYTHON_OUTPUT).out.strip(),
        "hostname": raw.text(machine.HOSTNAME),
        "container": machine.in_container(raw),
    }


def checks(raw: Raw, want: Want) -> list[Check]:
    """All answers about the machine."""
    found = [architecture(raw), operating_system(raw), python(raw), hostname(raw, want)]
    if machine.in_container(raw):
        words = ("time_sync", "rdma_kernel", "next_kernel")
        return found + [skipped(f"machine.{word}", IN_CONTAINER) for word in words]
    return [*found, time_sync(raw), rdma_kernel(raw, want), next_kernel(raw, want)]


def architecture(raw: Raw) -> Check:
    """A DGX Spark is aarch64, and so are the images for it."""
    name, found = "machine.architecture", raw.output(machine.UNAME).out.strip()
    if not found:
        return skipped(name, "nothing says which")
    if found == ARCHITECTURE:
        return passed(name, found)
    return failed(name, found, ARCHITECTURE, "Take the host out of the inventory: it is no DGX Spark.")


def system(raw: Raw) -> str:
    """Name and version of the operating system."""
    name = machine.assignments(raw.text(machine.OS_RELEASE)).get("PRETTY_NAME", "")
    dgx = machine.dgx_os(raw.text(machine.DGX_RELEASE))
    return f"DGX OS {dgx} ({name})" if dgx else name


def operating_system(raw: Raw) -> Check:
    """DGX OS 7, Ubuntu 24.04 and Debian 12, or newer; another Linux with systemd at the user's risk."""
    name, found = "machine.os", machine.assignments(raw.text(machine.OS_RELEASE))
    if not found:
        return skipped(name, f"{machine.OS_RELEASE} cannot be read")
    shown, wanted = system(raw) or found.get("ID", "a Linux without a name"), "DGX OS 7, Ubuntu 24.04 or Debian 12"
    if machine.SYSTEMD not in raw.links:
        return failed(name, f"{shown} without systemd", wanted, "Boot the host with systemd: it runs the engines.")
    # Debian's testing has no number.
    version = machine.numbers(found.get("VERSION_ID", ""))
    if found.get("ID") in OLDEST and (not version or version >= OLDEST[found["ID"]]):
        return passed(name, shown)
    return warned(name, shown, f"{wanted}, or newer", "Expect gaps, or install one of these.", "It was not tried.")


def python(raw: Raw) -> Check:
    """The modules need Python 3.10 and nothing beside its standard library (field fault A02)."""
    name, found = "machine.python", raw.output(PYTHON_OUTPUT).out.strip()
    if not found:
        return skipped(name, "its version is not known")
    if machine.numbers(found)[: len(PYTHON)] >= PYTHON:
        return passed(name, found)
    return failed(name, found, "3.10 or newer", "Set ansible_python_interpreter to a newer Python of the host.")


def hostname(raw: Raw, want: Want) -> Check:
    """A host's own name that means loopback misleads whoever looks it up for others (field fault N06)."""
    name, own = "machine.hostname", raw.text(machine.HOSTNAME)
    loopback = [one for one in machine.addresses_of(raw.text(machine.HOSTS), own) if _is_loopback(one)]
    if not own or not loopback or want.world_size <= 1:
        return passed(name, own or "no name")
    return warned(
        name,
        f"{own} is {loopback[0]} in {machine.HOSTS}",
        "an address that the other hosts reach",
        f"Give {own} its address in {machine.HOSTS}, or put machine.hostname into preflight_ignore.",
        "Our ranks are told addresses and look up no name; what else runs in the engine's image may.",
    )


def time_sync(raw: Raw) -> Check:
    """Whether the clock is kept in step with others."""
    name, output = "machine.time_sync", raw.output(machine.TIME)
    found = machine.assignments(output.out)
    if "NTPSynchronized" not in found:
        return skipped(name, "timedatectl gave no answer")
    if found["NTPSynchronized"] == "yes":
        return passed(name, "in step")
    if found.get("NTP") == "no":
        return warned(name, "switched off", "a clock in step", "Switch it on with: timedatectl set-ntp true.")
    remedy = "Let the host reach a time server; timedatectl timesync-status or chronyc tracking shows which it asks."
    return warned(name, "no time server answered", "a clock in step", remedy)


def rdma_kernel(raw: Raw, want: Want) -> Check:
    """7.0 kernels do not register memory for RDMA, unless their kexec handover is off."""
    name, release = "machine.rdma_kernel", kernels.running(raw)
    if not release:
        return skipped(name, "the kernel's release is not known")
    if not kernels.breaks_rdma(release):
        return passed(name, release)
    if kernels.kho_off(raw.text(kernels.COMMAND_LINE)):
        return passed(name, f"{release} with kho=off")
    if kernels.kho_holds_memory(raw.text(kernels.MEMINFO)) is False:
        return passed(name, f"{release}, whose kexec handover holds no memory")
    judge = failed if want.transport == "roce" else warned
    return judge(
        name,
        f"{release} without kho=off",
        "a 6.x kernel, or kho=off",
        "Add kho=off to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, run update-grub and reboot.",
        "NCCL fails with ibv_reg_mr_iova2: Cannot allocate memory.",
    )


def next_kernel(raw: Raw, want: Want) -> Check:
    """Kernel and NVIDIA module come in packages of their own, and the next boot can lack the module."""
    name, modules, release = "machine.next_kernel", kernels.modules(raw), kernels.boots_next(raw)
    if not modules or not release:
        return skipped(name, "no kernel with an NVIDIA module was found" if release else "what boots next is not known")
    if release not in modules:
        if release == kernels.running(raw):
            return skipped(name, f"{release} runs, and its NVIDIA module lies elsewhere")
        branch = modules[max(modules, key=machine.numbers)]
        package = f"apt install linux-modules-{branch}-{release}" if branch else f"dkms autoinstall -k {release}"
        found = f"{release} boots next, without an NVIDIA module"
        return warned(name, found, "a module for it", f"Before the next reboot, run: {package}.")
    soon = release != kernels.running(raw) and kernels.breaks_rdma(release)
    if soon and want.transport == "roce" and not kernels.kho_off(kernels.next_command_line(raw)):
        found = f"{release} boots next, without kho=off"
        remedy = (
            "Before the next reboot, add kho=off to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub; run update-grub."
        )
        return warned(name, found, "a 6.x kernel, or kho=off", remedy, "7.0 kernels break RDMA without it.")
    return passed(name, f"{release} boots next")


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
