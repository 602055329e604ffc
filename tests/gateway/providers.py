# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start a rendered gateway on loopback, in a temporary folder, with the commands of its own units.

$DGXSPARK_HAPROXY is the path of another haproxy than that of the Debian packages.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import local_ports
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.placeholders import filled
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.providers import PROVIDERS
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import (
    ENGINE_KEY,
    FOLDER,
    RUN_FOLDER,
    Rendered,
    key_digest_placeholder,
    key_placeholder,
)
from lab.debian_files import GATEWAYS, Programs
from tests.gateway.engines import free_port, listens, wait_until
from tests.gateway.venvs import FOLDERS

# As the units say it.
RESTART_SECONDS = 1.0
START_SECONDS = 60.0
# Loopback ports of the parts of one gateway among themselves: a test has others.
_INNER_PORT = re.compile(r"\b29(?:49[0-9]|5[0-9][0-9])\b")
VENVS = "/opt/dgxspark-serving"


@cache
def programs() -> Programs:
    """Return the Debian packages' programs."""
    return Programs()


def _program(name: str) -> str:
    """Return the path of the program that stands for one of the system's."""
    if name == "haproxy" and os.environ.get("DGXSPARK_HAPROXY"):
        return os.environ["DGXSPARK_HAPROXY"]
    return programs().path(name)


class Started:
    """A gateway that runs.

    :ivar url: where clients reach it
    :ivar folder: its files
    :ivar run: its run-time folder
    """

    def __init__(
        self,
        description: Mapping[str, Any],
        folder: Path,
        *,
        keys: Mapping[str, str] | None = None,
        engine_key: str = "",
        certificate: str = "",
    ) -> None:
        """Start it and wait until it listens.

        :param keys: client keys by name
        :param certificate: text of tls.pem
        """
        self.folder, self.run = folder / "etc", folder / "run"
        for made in (self.folder, self.run, folder / "venv"):
            made.mkdir(parents=True, exist_ok=True)
        self._keys, self._engine_key, self._certificate = keys or {}, engine_key, certificate
        self._ports: dict[str, str] = {}
        self._venv: Path | None = None
        self._log = (folder / "log").open("ab")
        self.log = folder / "log"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.install(description)
        self.check()
        for unit in self.rendered.units:
            self._start(unit.name, unit.text)
        self._over = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)
        self._keeper.start()
        self._await()

    def install(self, description: Mapping[str, Any]) -> None:
        """Write the files of a description."""
        self.description = description
        self.port = int(description["listen"]["port"])
        scheme = "https" if description["tls"] else "http"
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.rendered: Rendered = PROVIDERS[description["provider"]].render(description, description["hosts"][0])
        if self.rendered.venv:
            self._venv = FOLDERS[self.rendered.venv]()
        for file in self.rendered.files:
            path = self.folder / file.name
            path.write_text(self._local(file.text), encoding="utf-8")
            path.chmod(file.mode)
        if self._certificate:
            (self.folder / "tls.pem").write_text(self._certificate, encoding="utf-8")

    def _local(self, text: str) -> str:
        """Put in the secrets, this test's folders, and free ports for the gateway's inner ones."""
        secrets = {ENGINE_KEY: self._engine_key}
        for name, key in self._keys.items():
            secrets[key_placeholder(name)] = key
            secrets[key_digest_placeholder(name)] = hashlib.sha256(key.encode()).hexdigest()
        text = filled(text, secrets)
        for name in GATEWAYS:
            text = text.replace(f"/usr/sbin/{name}", _program(name))
        text = text.replace(FOLDER, str(self.folder)).replace(RUN_FOLDER, str(self.run))
        if os.geteuid() == 0:
            # Else its workers are somebody who may not enter the temporary folders; the unit has a user of its own.
            text = text.replace("daemon off;", "daemon off; user root;")
        if self._venv:
            text = text.replace(f"{VENVS}/gateway-{self.rendered.venv}", str(self._venv))
        mine = {str(port) for port in self._own_ports()}
        return _INNER_PORT.sub(lambda found: found[0] if found[0] in mine else self._inner(found[0]), text)

    def _own_ports(self) -> list[int]:
        replicas = [each for deployment in self.description["deployments"] for each in deployment["replicas"]]
        found = [each[port] for each in replicas for port in ("port", "health_port")]
        return [*found, self.port, self.description["metrics"]["port"]]

    def _inner(self, port: str) -> str:
        if port not in self._ports:
            self._ports[port] = str(free_port())
        return self._ports[port]

    def _start(self, name: str, text: str) -> None:
        line = next(line for line in self._local(text).splitlines() if line.startswith("ExecStart="))
        command = shlex.split(line.split("=", 1)[1])
        self.processes[name] = subprocess.Popen(
            command, env=programs().environment(), stdout=self._log, stderr=self._log, cwd=self.run
        )

    def _keep(self) -> None:
        """Start what has ended, as its unit says: vllm-router ends when it finds no worker within a second."""
        while not self._over.wait(RESTART_SECONDS):
            for unit in self.rendered.units:
                if self.processes[unit.name].poll() is not None:
                    self._start(unit.name, unit.text)

    def _must(self, command: list[str], **environment: str) -> None:
        variables = {**programs().environment(), **environment}
        done = subprocess.run(
            command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout}"

    def check(self) -> None:
        """Run the check of the files; fails with what the provider says."""
        for command in self.rendered.check:
            words = [word.replace("{folder}", str(self.folder)).replace("{scratch}", str(self.run)) for word in command]
            words[0] = _program(words[0].rsplit("/", 1)[-1])
            self._must(words)

    def _await(self) -> None:
        def ready() -> bool:
            for name, process in self.processes.items():
                kept = bool(self.rendered.venv) or process.poll() is None
                assert kept, f"{name} ended: {self.log.read_text(encoding='utf-8')[-2000:]}"
            # vllm-router listens when one of its workers is there; LiteLLM when it has read its own code.
            router = self.rendered.venv == "litellm" and not listens(int(self._inner(str(local_ports.ROUTER))))
            return listens(self.port) and not router

        wait_until(ready, "the gateway listens", START_SECONDS)

    def reload(self, description: Mapping[str, Any] | None = None) -> None:
        """Reload as the unit does it, with another description if one is given."""
        if description is not None:
            self.install(description)
            self.check()
        for unit in self.rendered.units:
            for line in self._local(unit.text).splitlines():
                if line.startswith("ExecReload="):
                    command = shlex.split(line.split("=", 1)[1])
                    self._must(command, MAINPID=str(self.processes[unit.name].pid))

    @property
    def pids(self) -> list[int]:
        """Return all its processes, children of children too."""
        found = [process.pid for process in self.processes.values()]
        for pid in found:
            children = Path(f"/proc/{pid}/task/{pid}/children")
            found += [int(child) for child in children.read_text(encoding="utf-8").split()] if children.exists() else []
        return found

    def stop(self) -> None:
        """End it."""
        self._over.set()
        self._keeper.join()
        left = self.pids
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._log.close()


def start(
    description: Mapping[str, Any],
    folder: Path,
    *,
    keys: Mapping[str, str] | None = None,
    engine_key: str = "",
    certificate: str = "",
) -> Started:
    """Start the gateway of a description below a folder; see Started."""
    return Started(description, folder, keys=keys, engine_key=engine_key, certificate=certificate)
