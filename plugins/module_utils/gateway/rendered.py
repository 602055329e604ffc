# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a provider's renderer makes of the description of a gateway: files, units and how to check them."""

from __future__ import annotations

from dataclasses import dataclass

FOLDER = "/etc/dgxspark-serving/gateway"
RUN_FOLDER = "/run/dgxspark-gateway"

# Debian packages by which Ansible installs a Python program into a virtual environment.
VENV_PACKAGES = ("python3-packaging", "python3-venv")

# Texts hold these in place of secrets; the host module puts the values in.
ENGINE_KEY = "@ENGINE_KEY@"


def key_placeholder(name: str) -> str:
    """Stand in for the plain client key of this name."""
    return f"@KEY:{name}@"


def key_digest_placeholder(name: str) -> str:
    """Stand in for the SHA-256 of the client key of this name, in lower-case hex digits."""
    return f"@KEY_SHA256:{name}@"


@dataclass(frozen=True)
class File:
    """One file of the gateway.

    :ivar name: relative to FOLDER
    :ivar text: its content, with placeholders for secrets
    """

    name: str
    text: str
    mode: int = 0o640


@dataclass(frozen=True)
class Unit:
    """One systemd unit, e.g. ``dgxspark-gateway.service``."""

    name: str
    text: str


@dataclass(frozen=True)
class Rendered:
    """All of one provider on one host.

    :ivar files: what goes to FOLDER
    :ivar units: in the order in which they start
    :ivar check: commands that check the files before they go live; ``{folder}`` stands for where they are staged
    :ivar venv: the gateway's virtual environment that is needed: "litellm", "vllm-router" or ""
    """

    files: tuple[File, ...]
    units: tuple[Unit, ...]
    check: tuple[tuple[str, ...], ...]
    venv: str = ""
