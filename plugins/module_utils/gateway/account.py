# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user that the gateway runs as. An edge: it runs useradd and userdel."""

from __future__ import annotations

import grp
import pwd

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.service import Runner, run
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.units import USER
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused


def exists() -> bool:
    """Whether there is the user."""
    try:
        pwd.getpwnam(USER)
    except KeyError:
        return False
    return True


def group() -> int:
    """Number of its group.

    :raises Refused: when there is none
    """
    try:
        return grp.getgrnam(USER).gr_gid
    except KeyError:
        raise Refused(
            f"found no group {USER}, wanted the one of the user of that name. Add it: groupadd {USER}"
        ) from None


def make(run: Runner = run) -> None:
    """Make the user, which can do nothing but run the gateway.

    :raises Refused: when the host does not let us
    """
    options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
    _must(run, ["useradd", *options, "--shell", "/usr/sbin/nologin", USER])


def remove(run: Runner = run) -> None:
    """Remove it."""
    _must(run, ["userdel", USER])


def _must(run: Runner, argv: list[str]) -> None:
    done = run(argv)
    if done.code:
        raise Refused(f"{argv[0]} {USER} failed: {' '.join(done.err.split()) or f'code {done.code}'}.")
