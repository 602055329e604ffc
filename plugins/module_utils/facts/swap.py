# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Swap of a host: what is on, and what switches it on again (field fault P11). Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import fstab
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

SWAPS = "/proc/swaps"
OWN_UNITS = "/etc/systemd/system"
UNIT_FOLDERS = (
    OWN_UNITS,
    "/run/systemd/system",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/run/systemd/generator.late",
)
ZRAM_GENERATOR = "/usr/lib/systemd/system-generators/zram-generator"
ZRAM_FILES = tuple(
    f"{folder}/systemd/zram-generator.{name}"
    for folder in ("/etc", "/run", "/usr/local/lib", "/usr/lib")
    for name in ("conf", "conf.d/*.conf")
)
# Services that make swap of their own: in compressed memory, or in a file of their choice.
SERVICES = ("*zram*.service", "dphys-swapfile.service", "swapspace.service")
LISTED = "swap_units"
_SERVICE = re.compile(r".*zram.*\.service|(?:dphys-swapfile|swapspace)\.service")
_SECTION = re.compile(r"^\[(zram\d+)\][^\[]*", re.MULTILINE)
# What in a section of zram-generator makes of it a file system.
_NO_SWAP = re.compile(r"^\s*(?:mount-point\s*=|fs-type\s*=(?!\s*swap\s*$))", re.MULTILINE)


@dataclass(frozen=True)
class Swap:
    """Swap that is on.

    :ivar device: a device or a file
    :ivar size: bytes
    :ivar used: bytes
    :ivar priority: negative where the kernel chose it
    """

    device: str
    size: int
    used: int
    priority: int


@dataclass(frozen=True)
class Returns:
    """What switches swap on, at boot or before.

    :ivar name: a device in fstab, or a unit of systemd
    :ivar where: the file that says so, in words
    :ivar unit: whether it is a unit, which can be masked
    """

    name: str
    where: str
    unit: bool = True

    def __str__(self) -> str:
        return f"{self.name} ({self.where})"


def sources() -> Sources:
    """What to read; all of it may be read by everybody."""
    links = [ZRAM_GENERATOR]
    for folder in UNIT_FOLDERS:
        links += [f"{folder}/*.{kind}/{name}" for kind in ("wants", "requires") for name in ("*.swap", *SERVICES)]
    links += [f"{OWN_UNITS}/{name}" for name in ("*.swap", *SERVICES)]
    listed = ("systemctl", "list-units", "--all", "--plain", "--no-legend", "--no-pager", "*.swap", *SERVICES)
    files = (SWAPS, fstab.PATH, *ZRAM_FILES, "/run/systemd/generator/*.swap")
    return Sources(files, tuple(links), {LISTED: listed})


def swaps(text: str) -> list[Swap]:
    """Read ``/proc/swaps``; rows that are cut are left out."""
    found = []
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) == 5 and all(field.lstrip("-").isdigit() for field in fields[2:]):
            size, used, priority = (int(field) for field in fields[2:])
            found.append(Swap(fstab.unescaped(fields[0]), size * 1024, used * 1024, priority))
    return found


def active_services(text: str) -> list[str]:
    """Services that make swap and are up, from ``systemctl list-units --plain --no-legend``."""
    return [unit for unit in _active(text) if _SERVICE.fullmatch(unit)]


def _active(text: str) -> list[str]:
    table = [line.split() for line in text.splitlines()]
    return [fields[0] for fields in table if len(fields) >= 3 and fields[2] in ("active", "activating")]


def returns(raw: Raw) -> list[Returns]:
    """All that switches swap on again, each once."""
    rows = [
        Returns(row.device, f"{fstab.PATH} line {row.line}", unit=False)
        for row in fstab.rows(raw.files.get(fstab.PATH, ""))
        if row.at_boot
    ]
    units = {one.name: one for one in [*_listed(raw), *_zram_sections(raw), *_wanted(raw)]}
    return rows + [units[name] for name in sorted(units) if not _masked(raw, name)]


def _listed(raw: Raw) -> list[Returns]:
    # A unit of a swap that is on is there for any swap; only those of zram say how it came about.
    return [
        Returns(unit, "active")
        for unit in _active(raw.output(LISTED).out)
        if _SERVICE.fullmatch(unit) or (unit.endswith(".swap") and "zram" in unit)
    ]


def _zram_sections(raw: Raw) -> list[Returns]:
    if ZRAM_GENERATOR not in raw.links:
        return []
    return [
        Returns(f"dev-{section[1]}.swap", path)
        for path, text in raw.files.items()
        if "/zram-generator.conf" in path
        for section in _SECTION.finditer(text)
        if not _NO_SWAP.search(section[0])
    ]


def _wanted(raw: Raw) -> list[Returns]:
    """Units that are started with another one, less those that stand for a row of fstab."""
    found = []
    for path in raw.links:
        folder, _slash, name = path.rpartition("/")
        made_from = raw.files.get(f"/run/systemd/generator/{name}", "")
        starts = folder.endswith((".wants", ".requires"))
        if starts and (name.endswith(".swap") or _SERVICE.fullmatch(name)) and f"={fstab.PATH}\n" not in made_from:
            found.append(Returns(name, folder))
    return found


def _masked(raw: Raw, name: str) -> bool:
    return raw.links.get(f"{OWN_UNITS}/{name}") == "/dev/null"
