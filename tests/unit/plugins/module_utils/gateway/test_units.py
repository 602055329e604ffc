# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Units of the gateway and what they run."""

from __future__ import annotations

import subprocess

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import units

PROGRAMS = [
    units.haproxy(),
    units.nginx(),
    units.router(["/opt/x/bin/litellm", "--name", "a b's"], {"HOME": "/run/x y"}),
]


def test_d08_no_provider_changes_the_text_of_a_unit() -> None:
    assert units.haproxy().unit == units.nginx().unit
    other = units.router(["/other", "--flag"], {})
    assert other.unit == PROGRAMS[2].unit
    assert other.files != PROGRAMS[2].files


@pytest.mark.parametrize("program", PROGRAMS, ids=["haproxy", "nginx", "router"])
def test_a_unit_is_hardened_and_without_root(program: units.Program) -> None:
    lines = program.unit.text.splitlines()
    for wanted in (
        "User=dgxspark-gateway",
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "ProtectHome=yes",
        "Restart=always",
    ):
        assert wanted in lines
    assert any(line.startswith("CapabilityBoundingSet=") for line in lines)
    assert "WantedBy=multi-user.target" in lines


@pytest.mark.parametrize("program", PROGRAMS, ids=["haproxy", "nginx", "router"])
def test_the_unit_runs_the_scripts_and_they_are_shell(program: units.Program) -> None:
    for file in program.files:
        assert f"/etc/dgxspark-serving/gateway/{file.name}" in program.unit.text
        assert subprocess.run(["sh", "-n"], input=file.text, text=True, check=False).returncode == 0


def test_a_routers_words_reach_it_whole() -> None:
    text = PROGRAMS[2].files[0].text.replace("exec /opt/x/bin/litellm", 'printf "%s|" "$HOME"')
    done = subprocess.run(["sh"], input=text, text=True, capture_output=True, check=True)
    assert done.stdout == "/run/x y|--name|a b's|"


def test_haproxy_checks_before_it_reloads() -> None:
    reload = units.haproxy().files[1].text.splitlines()
    assert "set -eu" in reload
    assert [line.split()[0] for line in reload[-3:]] == ["/usr/sbin/haproxy", "/usr/bin/python3", "kill"]


@pytest.mark.parametrize(
    ("name", "is_routers"),
    [("haproxy.cfg", False), ("start", False), ("litellm.yaml", True), ("router-start", True), ("litellm.env", True)],
)
def test_files_that_only_the_router_reads(name: str, is_routers: bool) -> None:
    assert units.is_routers(name) == is_routers
