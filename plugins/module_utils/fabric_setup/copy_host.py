# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric's ssh keys on this host: an edge."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import copy_keys, revert

FOLDER = Path("/etc/dgxspark-serving/fabric")
KEY = FOLDER / "id_ed25519"
PUBLIC = FOLDER / "id_ed25519.pub"
KNOWN_HOSTS = FOLDER / "known_hosts"
# What authorized_keys was like before: which file, whether it was there, whether it ended with a line's end.
ACCOUNT = FOLDER / "account.json"
SSH_FOLDER = Path("/etc/ssh")
HOST_KEYS = "ssh_host_*_key.pub"


def account(name: str) -> pwd.struct_passwd:
    """The account that peers read as: the one asked for, else the one that Ansible came in as.

    :raises revert.NotDone: when there is no such account
    """
    name = name or os.environ.get("SUDO_USER") or pwd.getpwuid(os.getuid()).pw_name
    try:
        return pwd.getpwnam(name)
    except KeyError as error:
        raise revert.NotDone(f"There is no account {name}. Correct fabric_ssh_user.") from error


def make_key(host: str, check: bool) -> bool:
    """Have a key pair of this host; says whether that is a change."""
    if KEY.exists() and PUBLIC.exists():
        return False
    if not check:
        FOLDER.mkdir(parents=True, exist_ok=True, mode=0o700)
        KEY.unlink(missing_ok=True)
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", copy_keys.comment(host), "-f", str(KEY)]
        revert.must(revert.run_process, argv)
    return True


def own_keys() -> dict[str, Any]:
    """The public halves: this host's key for copies, and the keys by which sshd shows who it is."""
    return {
        "public_key": PUBLIC.read_text(encoding="utf-8").strip() if PUBLIC.exists() else "",
        "host_keys": [path.read_text(encoding="utf-8").strip() for path in sorted(SSH_FOLDER.glob(HOST_KEYS))],
    }


def authorize(user: str, folder: str, peers: Sequence[Mapping[str, Any]], check: bool) -> list[dict[str, str]]:
    """Know the peers, and let them read one folder; gives what changes of the files.

    :raises copy_keys.NotSafe: when the folder cannot be written into authorized_keys
    :raises revert.NotDone: when there is no such account, or no rrsync
    """
    rrsync = shutil.which("rrsync", path="/usr/bin:/usr/local/bin")
    if not rrsync:
        raise revert.NotDone("There is no rrsync, which comes with the package rsync from 3.2.4 on. Install it.")
    owner = account(user)
    folder = os.path.expanduser(folder.replace("~", f"~{owner.pw_name}", 1) if folder.startswith("~") else folder)
    able = [peer for peer in peers if peer["public_key"]]
    lines = [copy_keys.authorized(peer, rrsync, folder) for peer in able]
    path = Path(owner.pw_dir) / ".ssh/authorized_keys"
    diff = []
    known = copy_keys.known_hosts(peers)
    before = KNOWN_HOSTS.read_text(encoding="utf-8") if KNOWN_HOSTS.exists() else ""
    if before != known:
        diff.append(_difference(KNOWN_HOSTS, before, known))
        if not check:
            revert.write_file(KNOWN_HOSTS, known.encode(), 0o644)
    with _acting_as(owner):
        text = _read(path)
    wanted = copy_keys.with_ours(text or "", lines)
    if (text or "") != wanted:
        diff.append(_difference(path, text or "", wanted))
        if not check:
            if not ACCOUNT.exists():
                was = {"path": str(path), "user": owner.pw_name, "there": text is not None}
                revert.write_json(ACCOUNT, {**was, "ended": not text or text.endswith("\n")})
            with _acting_as(owner):
                _write(path, wanted)
    return diff


def forget(check: bool) -> bool:
    """Remove the keys and our lines; says whether that is a change."""
    if not FOLDER.exists():
        return False
    if not check:
        was = revert.read_json(ACCOUNT)
        if was:
            path = Path(was["path"])
            with _acting_as(pwd.getpwnam(was["user"])):
                text = copy_keys.without_ours(_read(path) or "")
                if not was["ended"]:
                    text = text.removesuffix("\n")
                if text or was["there"]:
                    _write(path, text)
                else:
                    path.unlink(missing_ok=True)
        shutil.rmtree(FOLDER)
        with contextlib.suppress(OSError):
            FOLDER.parent.rmdir()
    return True


def _difference(path: Path, before: str, after: str) -> dict[str, str]:
    return {"before_header": str(path), "after_header": str(path), "before": before, "after": after}


@contextlib.contextmanager
def _acting_as(owner: pwd.struct_passwd) -> Iterator[None]:
    """Touch a home with its owner's rights alone: a link in it must not lead root elsewhere."""
    if os.getuid() != 0 or owner.pw_uid == 0:
        yield
        return
    groups = os.getgroups()
    os.setgroups([owner.pw_gid])
    os.setegid(owner.pw_gid)
    os.seteuid(owner.pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True, mode=0o700)
    mode = path.stat().st_mode & 0o7777 if path.exists() else 0o600
    revert.write_file(path, text.encode(), mode)
