# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Docker Engine of the machine: use the one that answers, else install and start one, and stop only that one."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import docker
from docker.errors import DockerException

from lab.cache import cache_root, file_lock
from lab.errors import LabError
from lab.host_image.runc_wrap import lacks_capability
from lab.packages import ensure_programs, may_install, system_environment
from lab.process import Process
from lab.programs import write_program
from lab.progress import long_step, progress

START_SECONDS = 60.0
STOP_SECONDS = 60.0
API_SECONDS = 600
ENGINE_PACKAGES = {
    "dockerd": "docker.io",
    "containerd": "containerd",
    "runc": "runc",
    "docker-init": "tini",
    "iptables": "iptables",
    "ip": "iproute2",
    "docker": "docker.io",
}


def engine_folder() -> Path:
    """Return the folder that holds data, log and record of an engine that the lab started."""
    return cache_root() / "engine"


def connect() -> docker.DockerClient | None:
    """Return a client of the engine that answers (DOCKER_HOST or the default socket), or None."""
    try:
        client = docker.from_env(timeout=API_SECONDS, max_pool_size=64)
    except DockerException:
        return None
    try:
        client.ping()
    except DockerException:
        client.close()
        return None
    return client


def _daemon_arguments(folder: Path) -> list[str]:
    """Return the command line of a daemon of our own."""
    arguments = ["dockerd", f"--data-root={folder / 'data'}", f"--pidfile={folder / 'dockerd.pid'}", "--log-level=warn"]
    if lacks_capability(Path("/proc/self/status").read_text(encoding="utf-8")):
        wrapper = folder / "runc-wrap"
        write_program("runc_wrap", wrapper)
        arguments += [f"--add-runtime=lab-runc={wrapper}", "--default-runtime=lab-runc"]
    return arguments


def _systemd_runs() -> bool:
    """Say whether systemd is this machine's init."""
    return Path("/run/systemd/system").is_dir()


def _start_by_systemd() -> dict[str, object]:
    """Start docker.service; return the record for stop_engine."""
    done = subprocess.run(["systemctl", "start", "docker"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"`systemctl start docker` failed: {done.stderr.strip()} See `journalctl -u docker`.")
    return {"by": "systemd"}


def _start_by_hand(folder: Path) -> tuple[subprocess.Popen[bytes], dict[str, object]]:
    """Start dockerd in a session of its own; return it and the record for stop_engine."""
    with (folder / "dockerd.log").open("ab") as log:
        daemon = subprocess.Popen(
            _daemon_arguments(folder),
            env=system_environment(),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    process = Process.now(daemon.pid)
    return daemon, {"by": "hand", "pid": process.pid, "started": process.started}


def _wait_for_engine(daemon: subprocess.Popen[bytes] | None, folder: Path) -> docker.DockerClient:
    """Return a client as soon as the engine answers; raises LabError when it ends or does not answer in time."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        client = connect()
        if client:
            return client
        if daemon and daemon.poll() is not None:
            break
        time.sleep(0.1)
    log = folder / "dockerd.log"
    last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-3:] if log.exists() else []
    raise LabError(f"The Docker Engine does not answer; its log is {log}" + "".join(f"\n  {line}" for line in last))


def ensure_engine() -> docker.DockerClient:
    """Return a client of a Docker Engine that answers, after starting (and installing) one where that is allowed.

    Raises LabError with one sentence that says what to do.
    """
    folder = engine_folder()
    with file_lock(cache_root() / ".engine.lock"):
        client = connect()
        if client:
            return client
        if not may_install():
            raise LabError(
                "No Docker Engine answers and the lab may not start one: start Docker (`systemctl start docker`) as "
                "its user, set DOCKER_HOST, or run as root on Debian or Ubuntu."
            )
        ensure_programs(ENGINE_PACKAGES)
        client = connect()  # a package's scripts start the service where systemd runs
        if client:
            return client
        folder.mkdir(parents=True, exist_ok=True)
        with long_step("starting the Docker Engine"):
            daemon = None
            if _systemd_runs():
                record = _start_by_systemd()
            else:
                daemon, record = _start_by_hand(folder)
            (folder / "engine.json").write_text(json.dumps(record), encoding="utf-8")
            return _wait_for_engine(daemon, folder)


def stop_engine() -> bool:
    """Stop the engine if the lab started it; return whether one was stopped. Raises LabError when it will not end."""
    record_file = engine_folder() / "engine.json"
    with file_lock(cache_root() / ".engine.lock"):
        if not record_file.exists():
            progress("the Docker Engine was not started by the lab: left alone")
            return False
        record = json.loads(record_file.read_text(encoding="utf-8"))
        stopped = True
        if record["by"] == "systemd":
            subprocess.run(["systemctl", "stop", "docker.socket", "docker.service"], check=True)
        else:
            process = Process(record["pid"], record["started"])
            stopped = process.alive()
            if not process.stop(STOP_SECONDS):
                raise LabError(f"The Docker Engine (pid {process.pid}) does not end; look at it and stop it by hand.")
        record_file.unlink()
        progress("the Docker Engine is stopped" if stopped else "the Docker Engine was not running any more")
        return stopped
