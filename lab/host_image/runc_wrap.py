# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in front of runc where root has no CAP_SYS_RESOURCE (virtual machines and sandboxes).

A privileged container asks for every capability and for limits above the ones that this machine may give; runc then
fails. This takes the capability out of the bundle, clamps the limits to what is allowed here, and becomes runc.
Installed as a program on the machine (runtime of its Docker Engine) and in the host image (in place of runc).
"""

from __future__ import annotations

import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

MISSING_CAPABILITY = "CAP_SYS_RESOURCE"
CAPABILITY_BIT = 24
UNLIMITED = (1 << 64) - 1
# In the host image runc was moved aside; elsewhere it is where the distribution put it.
REAL_RUNC = ("/usr/sbin/runc.real", "/usr/sbin/runc", "/usr/bin/runc")


def lacks_capability(status: str) -> bool:
    """Say whether the text of /proc/PID/status shows a process without CAP_SYS_RESOURCE."""
    line = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    return not int(line.split()[1], 16) >> CAPABILITY_BIT & 1


def hard_limit(name: str) -> int:
    """Return the highest value that this process may set for a limit such as RLIMIT_MEMLOCK."""
    hard = resource.getrlimit(getattr(resource, name))[1]
    return UNLIMITED if hard == resource.RLIM_INFINITY else hard


def allow_process(process: dict[str, Any]) -> None:
    """Edit an OCI process description so that it asks for nothing that needs CAP_SYS_RESOURCE."""
    for kind, names in (process.get("capabilities") or {}).items():
        process["capabilities"][kind] = [name for name in names or [] if name != MISSING_CAPABILITY]
    for limit in process.get("rlimits") or []:
        limit["hard"] = min(limit["hard"], hard_limit(limit["type"]))
        limit["soft"] = min(limit["soft"], limit["hard"])
    if (process.get("oomScoreAdj") or 0) < 0:
        process["oomScoreAdj"] = 0


def option(arguments: list[str], *names: str) -> str | None:
    """Return the value of `--name value` or `--name=value` in a runc command line, or None."""
    for index, argument in enumerate(arguments):
        for name in names:
            if argument == name and index + 1 < len(arguments):
                return arguments[index + 1]
            if argument.startswith(name + "="):
                return argument.split("=", 1)[1]
    return None


def edit_file(path: Path, key: str | None) -> None:
    """Apply allow_process to a JSON file: to the whole document, or to the part under `key`."""
    document = json.loads(path.read_text(encoding="utf-8"))
    allow_process(document[key] if key else document)
    path.write_text(json.dumps(document), encoding="utf-8")


def main(arguments: list[str]) -> None:
    """Where it must be, edit what this runc call is going to read; then become runc."""
    lacking = lacks_capability(Path("/proc/self/status").read_text(encoding="utf-8"))
    if lacking and ("create" in arguments or "run" in arguments):
        edit_file(Path(option(arguments, "--bundle", "-b") or ".", "config.json"), "process")
    elif lacking and "exec" in arguments:
        process_file = option(arguments, "--process", "-p")
        if process_file:
            edit_file(Path(process_file), None)
    real = next(path for path in REAL_RUNC if Path(path).exists())
    os.execv(real, [real, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
