# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environment in which the installed tarball is checked."""

from __future__ import annotations

from pathlib import Path

from tools.tarball import clean_environment, syntax_command


def test_nothing_of_the_checkout_is_seen() -> None:
    source = {"PATH": "/bin", "ANSIBLE_CONFIG": "/checkout/ansible.cfg", "ANSIBLE_ROLES_PATH": "/checkout/roles"}
    environment = clean_environment(source, Path("/t"))
    assert environment["PATH"] == "/bin"
    assert environment["ANSIBLE_COLLECTIONS_PATH"] == "/t/installed"
    assert [value for value in environment.values() if "checkout" in value] == []


def test_playbooks_by_full_name() -> None:
    command = syntax_command("deploy_tp1", Path("/t/hosts.yml"))
    assert command == ["ansible-playbook", "-i", "/t/hosts.yml", "--syntax-check", "dgxspark.serving.deploy_tp1"]
