# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd-logind does with a user's shared memory when he logs out. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import drop_ins
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw, Sources

FOLDERS = tuple(f"{folder}/systemd/logind.conf.d" for folder in ("/etc", "/run", "/usr/local/lib", "/usr/lib"))
MAIN = tuple(f"{folder}/systemd/logind.conf" for folder in ("/etc", "/run", "/usr/local/lib", "/usr/lib"))
LINGER = "/var/lib/systemd/linger"
_REMOVE = re.compile(r"^\s*RemoveIPC\s*=[ \t]*(\S*)", re.MULTILINE)


def sources(user: str) -> Sources:
    """What to read."""
    return Sources((*MAIN, *(f"{folder}/*.conf" for folder in FOLDERS), f"{LINGER}/{user}"))


def configuration(files: Mapping[str, str]) -> str:
    """All of the configuration in the order in which it counts, as ``systemd-analyze cat-config`` shows it."""
    main = [path for path in MAIN if path in files][:1]
    return "\n".join(files[path] for path in main + drop_ins.ordered(files, FOLDERS))


def removes_ipc(text: str) -> bool:
    """Whether shared memory and semaphores of a user go with his last session. The last word counts; default yes.

    :param text: of all files in order
    """
    said = _REMOVE.findall(text)
    return not said or said[-1].lower() not in ("no", "false", "off", "0", "n", "f")


def lingers(raw: Raw, user: str) -> bool:
    """Whether the user counts as there without a session."""
    return f"{LINGER}/{user}" in raw.files or f"{LINGER}/{user}" in raw.denied
