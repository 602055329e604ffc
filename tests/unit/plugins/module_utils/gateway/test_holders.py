# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds a port."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import host_look
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import holders
from ansible_collections.dgxspark.serving.plugins.module_utils.host_problems import Owner
from ansible_collections.dgxspark.serving.plugins.module_utils.ports import Listener, listeners
from ansible_collections.dgxspark.serving.plugins.module_utils.ports import unit as unit_of

WANTED = [{"address": "0.0.0.0", "port": 8080, "use": "gateway"}]


@pytest.mark.parametrize(
    ("cgroup", "unit"),
    [
        ("0::/system.slice/nginx.service\n", "nginx.service"),
        ("0::/system.slice/system-x.slice/dgxspark-replica@a.service\n", "dgxspark-replica@a.service"),
        ("0::/user.slice/user-0.slice/session-1.scope\n", ""),
        ("", ""),
    ],
)
def test_the_unit_of_a_process(cgroup: str, unit: str) -> None:
    assert unit_of(cgroup) == unit


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        (Owner(123, "nginx", unit="nginx.service"), "nginx (pid 123, unit nginx.service)"),
        (Owner(5, "python3"), "python3 (pid 5)"),
        (Owner(5, "python3", "c" * 64, "docker.service"), "python3 (pid 5, container web)"),
        (Owner(5, "python3", "d" * 64), "python3 (pid 5, container dddddddddddd)"),
        (None, "a process (run with become to see which)"),
    ],
)
def test_a_holder_in_words(owner: Owner | None, words: str) -> None:
    assert holders.holder(owner, {"c" * 64: "web"}) == words


@pytest.mark.parametrize(
    ("unit", "found"),
    [("nginx.service", 1), ("dgxspark-gateway.service", 0), ("dgxspark-gateway-router.service", 0), ("", 1)],
)
def test_a_port_of_our_own_units_is_free(monkeypatch: pytest.MonkeyPatch, unit: str, found: int) -> None:
    taken = Listener(listeners("head\n 0: 00000000:1F90 0 0A 0 0 0 0 0 0 7")[0].address, 8080, 7)
    monkeypatch.setattr(host_look, "listeners", lambda: [taken])
    monkeypatch.setattr(host_look, "owners", lambda inodes: {7: Owner(123, "haproxy", unit=unit)})
    held = holders.held(WANTED, {})
    assert len(held) == found
    for problem in holders.problems(held):
        assert problem.found.startswith("port 8080 taken by haproxy (pid 123")
        assert problem.wanted == "0.0.0.0:8080 free for the gateway"
