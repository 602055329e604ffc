# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel that runs, the one that boots next, and the NVIDIA modules of each. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from ansible_collections.dgxspark.serving.plugins.module_utils.facts.machine import assignments
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

RELEASE = "/proc/sys/kernel/osrelease"
COMMAND_LINE = "/proc/cmdline"
MEMINFO = "/proc/meminfo"
GRUB = "/etc/default/grub"
GRUB_PARTS = "/etc/default/grub.d/"
GRUB_ENVIRONMENT = "/boot/grub/grubenv"
IMAGES = "/boot/vmlinuz-"

SOURCES = Sources(
    files=(RELEASE, COMMAND_LINE, MEMINFO, GRUB, f"{GRUB_PARTS}*.cfg", GRUB_ENVIRONMENT),
    links=(
        f"{IMAGES}*",
        # Ubuntu's packages, DKMS, and NVIDIA's own installer; compressed or not.
        "/lib/modules/*/kernel/nvidia-*/nvidia.ko*",
        "/lib/modules/*/updates/dkms/nvidia.ko*",
        "/lib/modules/*/updates/nvidia.ko*",
        "/lib/modules/*/extra/nvidia.ko*",
        "/lib/modules/*/kernel/drivers/video/nvidia.ko*",
    ),
)

_MODULE = re.compile(r"^/lib/modules/(?P<release>[^/]+)/(?:kernel/(?P<branch>nvidia-[^/]+)/)?.*nvidia\.ko")
_KHO_OFF = re.compile(r"(^|[\s\"'])kho=(off|0|n)([\s\"']|$)")
_CMA = re.compile(r"^(CmaTotal|CmaFree):\s+(\d+) kB$", re.MULTILINE)


def running(raw: Raw) -> str:
    """The release of the kernel that runs, e.g. ``6.17.0-1021-nvidia``."""
    return raw.text(RELEASE)


def breaks_rdma(release: str) -> bool:
    """Whether it is a 7.0 kernel: their kexec handover breaks the memory registration of RDMA."""
    return re.match(r"7\.0(\D|$)", release) is not None


def kho_off(command_line: str) -> bool:
    """Whether a kernel's command line switches the kexec handover off."""
    return _KHO_OFF.search(command_line) is not None


def kho_holds_memory(meminfo: str) -> bool | None:
    """Whether the kexec handover holds memory, which shows as more free CMA memory than there is; None if unknown.

    Seen on two DGX Sparks: NVIDIA/NV-Kernels pull request 591.
    """
    found = {name: int(kib) for name, kib in _CMA.findall(meminfo)}
    return found["CmaFree"] > found["CmaTotal"] if len(found) == 2 else None


def installed(raw: Raw) -> list[str]:
    """Releases of the kernels in /boot, the newest last."""
    releases = [path[len(IMAGES) :] for path in raw.links if path.startswith(IMAGES) and not path.endswith(".old")]
    return sorted(releases, key=_natural)


def modules(raw: Raw) -> dict[str, str]:
    """For each kernel release with an NVIDIA module its branch, e.g. ``nvidia-580-open``; empty where DKMS built it."""
    found = [match for match in map(_MODULE.match, raw.links) if match]
    return {match["release"]: match["branch"] or "" for match in found}


def boots_next(raw: Raw) -> str:
    """The release of the kernel that the next boot takes, or nothing when GRUB's choice cannot be told."""
    settings, environment = _grub(raw), assignments(raw.text(GRUB_ENVIRONMENT))
    # Ubuntu's GRUB puts kernels of some flavours first, whatever their version.
    flavours = settings.get("GRUB_FLAVOUR_ORDER", "").split()
    kernels = sorted(installed(raw), key=lambda release: -_place(release, flavours))
    entry = environment.get("next_entry") or settings.get("GRUB_DEFAULT", "0")
    if entry == "saved":
        entry = environment.get("saved_entry") or "0"
    if entry == "0":
        return kernels[-1] if kernels else ""
    return max(_named(entry, kernels), key=len, default="")


def next_command_line(raw: Raw) -> str:
    """What GRUB's settings give every kernel."""
    settings = _grub(raw)
    return " ".join(settings.get(key, "") for key in ("GRUB_CMDLINE_LINUX", "GRUB_CMDLINE_LINUX_DEFAULT"))


def _grub(raw: Raw) -> Mapping[str, str]:
    parts = [GRUB, *sorted(path for path in raw.files if path.startswith(GRUB_PARTS))]
    return assignments("\n".join(raw.text(path) for path in parts))


def _place(release: str, flavours: Sequence[str]) -> int:
    return next((place for place, flavour in enumerate(flavours) if release.endswith(f"-{flavour}")), len(flavours))


def _named(entry: str, kernels: Collection[str]) -> list[str]:
    return [release for release in kernels if release in entry]


def _natural(release: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"\d+|\D+", release)]
