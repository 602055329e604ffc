# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host has the programs of a gateway: Debian packages and virtual environments. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ansible_collections.dgxspark.serving.plugins.module_utils.host_problems import Problem

NONE = "(none)"


def policy(names: Iterable[str]) -> list[str]:
    """The command whose answer :func:`versions` reads."""
    return ["apt-cache", "policy", *names]


def versions(out: str, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Version installed and version that apt would install of each package, empty text for none."""
    found: dict[str, dict[str, str]] = {name: {"installed": "", "candidate": ""} for name in names}
    name = ""
    for line in out.splitlines():
        key, _colon, value = line.strip().partition(": ")
        if not line.startswith(" "):
            name = line.rstrip(":")
        elif name in found and key.lower() in found[name]:
            found[name][key.lower()] = "" if value.strip() == NONE else value.strip()
    return found


def missing(found: dict[str, dict[str, str]]) -> list[str]:
    """Those that are not installed."""
    return [name for name, one in found.items() if not one["installed"]]


def problems(found: dict[str, dict[str, str]]) -> list[Problem]:
    """Packages that are neither there nor to be had."""
    return [
        Problem(
            "package",
            f"no package {name}, and apt knows none to install",
            f"{name} for the gateway",
            "Run `apt-get update` on the host, or install it from where you have it",
        )
        for name in missing(found)
        if not found[name]["candidate"]
    ]


def is_ready(requirement: str, folders: Sequence[str]) -> bool:
    """Whether a virtual environment has what pip was asked for.

    :param requirement: such as ``litellm[proxy]==1.108.7``
    :param folders: names of the ``.dist-info`` folders in it
    """
    name, _equal, version = requirement.partition("==")
    name = _normal(re.split(r"[\[<>=!~;\s]", name, maxsplit=1)[0])
    for folder in folders:
        there, _dash, its_version = folder.removesuffix(".dist-info").rpartition("-")
        if _normal(there) == name and version.strip() in ("", its_version):
            return True
    return False


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
