# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be seen of a rank when it fails, saved before it is gone. An edge.

No value of an environment variable is kept.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .docker_socket import Docker
from .hostpaths import HostPaths
from .said import say

# Folders of evidence that are kept of a rank.
KEEP = 5
LOG_LINES = 400
DMESG_LINES = 200
# Seconds for all commands together: a broken driver lets nvidia-smi hang, and the restart waits for this.
COMMANDS_TIMEOUT = 3.0
COMMANDS = {
    "dmesg.txt": ("dmesg", "--ctime"),
    "nvidia-smi.txt": ("nvidia-smi",),
    "links.txt": ("ip", "-br", "link"),
    "addresses.txt": ("ip", "-br", "address"),
}
FILES = ("proc/meminfo", "proc/pressure/memory", "proc/pressure/cpu", "proc/pressure/io")
HIDDEN = "(left out)"
_SECRET_FLAG = re.compile(r"--?[\w-]*(?:key|token|secret|password)$")
_SECRET = re.compile(
    r"hf_\w{8,}|(?<=Bearer )\S+"
    r"|((?:api[_-]?key|(?:auth|access|hf)[_-]?token|secret|password)['\"]?\s*[:=]\s*\[?)['\"]?[^\s'\",\])}]+",
    re.IGNORECASE,
)


def collect(paths: HostPaths, docker: Docker, container: str, word: str, why: Mapping[str, Any], now: float) -> Path:
    """Save evidence of a failure in a folder of its own, and remove all but the newest ones.

    :param word: what happened, as a part of the folder's name
    :param why: content of why.json
    :param now: Unix seconds
    :returns: the folder
    """
    folder = folder_of(paths, container, word, now)
    gather(folder, paths, docker, container, why)
    prune(folder.parent)
    return folder


def folder_of(paths: HostPaths, container: str, word: str, now: float) -> Path:
    """Where :func:`collect` saves."""
    return paths.evidence(container) / f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(now))}-{word}"


def gather(folder: Path, paths: HostPaths, docker: Docker, container: str, why: Mapping[str, Any]) -> None:
    """Save what can be seen now into ``folder``. What cannot be had is named in ``errors.txt``; nothing is raised."""
    errors = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "why.json", json.dumps(dict(why), indent=2))
        started = {name: _begin(argv, errors) for name, argv in COMMANDS.items()}
        try:
            inspected = docker.inspect(container)
            if inspected is not None:
                _write(folder / "inspect.json", json.dumps(without_secrets(inspected), indent=2))
                log = docker.logs(container, LOG_LINES).decode(errors="replace")
                _write(folder / "container.log", hide_secrets(log))
        except OSError as error:
            errors.append(f"Docker: {error}")
        for name in FILES:
            try:
                _write(folder / name.removeprefix("proc/").replace("/", "-"), (paths.root / name).read_text())
            except OSError as error:
                errors.append(f"{name}: {error}")
        live = paths.live(container)
        if live.exists():
            shutil.copyfile(live, folder / "live.json")
        deadline = time.monotonic() + COMMANDS_TIMEOUT
        for name, process in started.items():
            if process is not None:
                _write(folder / name, _end(name, process, deadline, errors))
        if errors:
            _write(folder / "errors.txt", "\n".join(errors) + "\n")
    except OSError as error:
        # A full disk must not keep a broken group from its restart.
        say(f"evidence cannot be saved in {folder}: {error}")


def prune(folder: Path, keep: int = KEEP) -> None:
    """Remove all but the newest folders of evidence; their names sort by time."""
    if folder.is_dir():
        for old in sorted(entry for entry in folder.iterdir() if entry.is_dir())[:-keep]:
            shutil.rmtree(old, ignore_errors=True)


def without_secrets(inspected: Mapping[str, Any]) -> dict[str, Any]:
    """Docker's description of a container without values of its environment and of flags that hold secrets."""
    cleaned: dict[str, Any] = json.loads(json.dumps(inspected))
    config = cleaned.get("Config") or {}
    if config.get("Env"):
        config["Env"] = [f"{entry.partition('=')[0]}={HIDDEN}" for entry in config["Env"]]
    for holder, key in ((config, "Cmd"), (config, "Entrypoint"), (cleaned, "Args")):
        if isinstance(holder.get(key), list):
            holder[key] = hide_in_argv(holder[key])
    return cleaned


def hide_in_argv(argv: list[str]) -> list[str]:
    """A command line without the values of flags such as ``--api-key``."""
    hidden, secret = [], False
    for word in argv:
        flag, equals, _value = word.partition("=")
        if equals and _SECRET_FLAG.match(flag):
            hidden.append(f"{flag}={HIDDEN}")
        else:
            hidden.append(HIDDEN if secret and not word.startswith("--") else word)
        secret = not equals and bool(_SECRET_FLAG.match(word))
    return hidden


def hide_secrets(text: str) -> str:
    """A log without what looks like a secret in it."""
    return _SECRET.sub(lambda match: (match.group(1) or "") + HIDDEN, text)


def _begin(argv: tuple[str, ...], errors: list[str]) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        errors.append(f"{' '.join(argv)}: {error.strerror}")
        return None


def _end(name: str, process: subprocess.Popen[bytes], deadline: float, errors: list[str]) -> str:
    try:
        output, _nothing = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        errors.append(f"{name}: no end within {COMMANDS_TIMEOUT:g} s")
        return ""
    lines = output.decode(errors="replace").splitlines(keepends=True)
    return "".join(lines[-DMESG_LINES:])


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
