# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ssh to the hosts: a key per lab, and host keys that were read from the hosts themselves. Checking stays on."""

from __future__ import annotations

import os
import shlex
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import paramiko
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from lab.errors import LabError

CONNECT_SECONDS = 10.0
BLOCK = 1 << 20


def ensure_key_pair(private: Path, comment: str) -> str:
    """Make an ed25519 key (0600) if it is not there; return the line of its public half."""
    public = private.with_name(private.name + ".pub")
    if not private.exists() or not public.exists():
        key = Ed25519PrivateKey.generate()
        data = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
        )
        line = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
        private.unlink(missing_ok=True)
        with os.fdopen(os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(data)
        public.write_text(f"{line.decode()} {comment}\n", encoding="ascii")
    return public.read_text(encoding="ascii")


def known_hosts_text(keys: dict[str, str]) -> str:
    """Return a known_hosts file for address -> public key line as in ssh_host_ed25519_key.pub."""
    return "".join(f"{address} {' '.join(line.split()[:2])}\n" for address, line in sorted(keys.items()))


def port_answers(address: str, port: int = 22) -> bool:
    """Say whether something accepts connections there."""
    try:
        with socket.create_connection((address, port), timeout=1.0):
            return True
    except OSError:
        return False


def wait_for_sshd(name: str, address: str, seconds: float) -> None:
    """Wait until a host's sshd accepts connections; raises LabError after `seconds`."""
    until = time.monotonic() + seconds
    while not port_answers(address):
        if time.monotonic() > until:
            raise LabError(f"sshd of {name} ({address}) does not answer after {seconds:.0f} s: see `docker logs`.")
        time.sleep(0.1)


class Connections:
    """Open ssh connections to the hosts of a lab, one per host and user, used by several threads."""

    def __init__(self, key: Path, known_hosts: Path) -> None:
        self._key = key
        self._known_hosts = known_hosts
        self._open: dict[tuple[str, str], paramiko.SSHClient] = {}
        self._lock = threading.Lock()

    def _connect(self, address: str, user: str) -> paramiko.SSHClient:
        """Return a new connection; an unknown or changed host key is refused."""
        client = paramiko.SSHClient()
        client.load_host_keys(str(self._known_hosts))
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
        client.connect(
            address,
            username=user,
            key_filename=str(self._key),
            look_for_keys=False,
            allow_agent=False,
            timeout=CONNECT_SECONDS,
            banner_timeout=CONNECT_SECONDS * 3,
            auth_timeout=CONNECT_SECONDS * 3,
        )
        return client

    def _client(self, address: str, user: str) -> paramiko.SSHClient:
        """Return the open connection, or a new one when there is none that lives."""
        with self._lock:
            client = self._open.get((address, user))
        transport = client.get_transport() if client else None
        if client and transport and transport.is_active():
            return client
        fresh = self._connect(address, user)
        with self._lock:
            self._open[(address, user)] = fresh
        return fresh

    def forget(self, address: str) -> None:
        """Close the connections to one address, whose host stopped or started."""
        with self._lock:
            gone = [self._open.pop(key) for key in list(self._open) if key[0] == address]
        for client in gone:
            client.close()

    def close(self) -> None:
        """Close all connections."""
        for address in {key[0] for key in self._open}:
            self.forget(address)

    def run(
        self, address: str, user: str, argv: Sequence[str], stdin: BinaryIO | None = None, timeout: float | None = None
    ) -> tuple[int, str, str]:
        """Run a command and return (exit code, stdout, stderr).

        `stdin` is sent as a stream; `timeout` is the longest silence in seconds. Raises paramiko.SSHException or
        OSError when the host cannot be reached or its key is not the known one.
        """
        transport = self._client(address, user).get_transport()
        if transport is None:
            raise paramiko.SSHException(f"connection to {address} is closed")
        with transport.open_session(timeout=CONNECT_SECONDS) as channel:
            channel.settimeout(timeout)
            channel.exec_command(shlex.join(argv))
            errors: list[bytes] = []
            reader = threading.Thread(target=lambda: errors.append(channel.makefile_stderr("rb").read()), daemon=True)
            reader.start()
            if stdin:
                while block := stdin.read(BLOCK):
                    channel.sendall(block)
            channel.shutdown_write()
            output = channel.makefile("rb").read()
            reader.join()
            code = channel.recv_exit_status()
        return code, output.decode(errors="replace"), b"".join(errors).decode(errors="replace")
