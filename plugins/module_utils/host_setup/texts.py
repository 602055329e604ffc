# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts of the files that the role host lays on a host, and where they lie. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

HEAD = "# Written by dgxspark.serving; `ansible-playbook teardown.yml --tags host` takes it away.\n"

LIMITS_PATH = "/etc/security/limits.d/zz-dgxspark-serving.conf"
CLOCK_UNIT = "dgxspark-gpu-clock.service"
CLOCK_PATH = f"/etc/systemd/system/{CLOCK_UNIT}"

# RDMA locks the memory that it sends from. `*` does not mean root.
LIMITS = HEAD + "* - memlock unlimited\nroot - memlock unlimited\n"


def drop_in_path(unit: str) -> str:
    """Where our settings of a unit lie."""
    return f"/etc/systemd/system/{unit}.d/50-dgxspark-serving.conf"


def drop_in(settings: Mapping[str, str]) -> str:
    """A drop-in that sets these keys of ``[Service]``."""
    return HEAD + "[Service]\n" + "".join(f"{key}={value}\n" for key, value in settings.items())


def read_drop_in(text: str) -> dict[str, str]:
    """What :func:`drop_in` was given."""
    lines = [line for line in text.splitlines() if "=" in line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def command_drop_in(argv: Sequence[str]) -> str:
    """A drop-in that starts a service with this command instead of its own."""
    # The empty assignment takes away the command that the package gives.
    return HEAD + "[Service]\nExecStart=\nExecStart=" + " ".join(quoted(word) for word in argv) + "\n"


def quoted(word: str) -> str:
    """A word of ``ExecStart=`` that reaches the program as it is: systemd expands ``$``, ``%`` and backslashes.

    >>> quoted("^(a|b)$")
    '"^(a|b)$$"'
    """
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$").replace("%", "%%")
    return escaped if escaped.replace("-", "").replace(",", "").replace("/", "").isalnum() else f'"{escaped}"'


def clock_unit(program: str, megahertz: int) -> str:
    """A unit that caps the GPU's clock at boot, for the driver forgets the cap, and lets it go when it is stopped."""
    return (
        HEAD
        + "[Unit]\nDescription=Cap the clock of the GPU\nAfter=nvidia-persistenced.service\n\n"
        + "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
        + f"ExecStart={program} -lgc 0,{megahertz}\nExecStop={program} -rgc\n\n"
        + "[Install]\nWantedBy=multi-user.target\n"
    )
