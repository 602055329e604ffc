# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and known hosts of a lab."""

from __future__ import annotations

from pathlib import Path

import paramiko

from lab.ssh import ensure_key_pair, known_hosts_text


def test_key_pair_is_made_once_and_closed_to_others(tmp_path: Path) -> None:
    private = tmp_path / "id_ed25519"
    line = ensure_key_pair(private, "lab-demo")
    assert line.startswith("ssh-ed25519 ")
    assert line.endswith(" lab-demo\n")
    assert private.stat().st_mode & 0o777 == 0o600
    assert ensure_key_pair(private, "lab-demo") == line
    assert paramiko.Ed25519Key.from_private_key_file(str(private)).get_base64() == line.split()[1]


def test_half_a_pair_is_made_anew(tmp_path: Path) -> None:
    private = tmp_path / "id_ed25519"
    line = ensure_key_pair(private, "x")
    (tmp_path / "id_ed25519.pub").unlink()
    assert ensure_key_pair(private, "x") != line


def test_known_hosts_text() -> None:
    text = known_hosts_text(
        {"172.18.0.12": "ssh-ed25519 BBBB root@spark2\n", "172.18.0.11": "ssh-ed25519 AAAA root@x\n"}
    )
    assert text == "172.18.0.11 ssh-ed25519 AAAA\n172.18.0.12 ssh-ed25519 BBBB\n"
