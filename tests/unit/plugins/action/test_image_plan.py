# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each host is told its own part, from what all hosts said."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import image_plan
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import Image

NAME = "acme/vllm:1"
ONE = asdict(Image("sha256:1", ("acme/vllm@sha256:aaaa",), "arm64", ("l1",), size=7))
TWO = asdict(Image("sha256:2", ("acme/vllm@sha256:bbbb",), "arm64", ("l2",), size=7))
VERSIONS = {"vllm": "0.32.0"}


def link(number: int) -> list[dict[str, str]]:
    return [{"interface": "enp1s0f0np0", "address": f"192.0.2.{number}/24"}]


class Hosts:
    """Hosts ``a``, ``b`` and so on with what they said."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **here: Any) -> None:
        self.shown: list[str] = []
        self.here = here
        self.first: dict[str, Any] = {}
        self.before: dict[str, Any] = {}
        self.links = {host: link(number) for number, host in enumerate(here, 11)}
        monkeypatch.setattr(image_plan.Display, "display", lambda display, text: self.shown.append(text))

    def run(self, host: str, stage: str = "first", check: bool = False, **options: Any) -> dict[str, Any]:
        hostvars = {
            name: {
                "fabric_links": self.links[name],
                "here": here,
                "first": self.first.get(name),
                "before": self.before.get(name),
                "ansible_host": f"203.0.113.{name}",
            }
            for name, here in self.here.items()
        }
        arguments = {
            "stage": stage,
            "plan": {"ranks": {name: {"container": {"image": NAME}} for name in self.here}},
            "info_variable": "here",
            "part_variable": "first",
            "before_variable": "before",
            **options,
        }
        task = MagicMock(args=arguments, check_mode=check, async_val=0)
        plugin = image_plan.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())
        return plugin.run(
            task_vars={
                "inventory_hostname": host,
                "hostvars": hostvars,
                "ansible_play_hosts": list(self.here),
                "groups": {"sparks": list(self.here)},
            }
        )

    def both(self, **options: Any) -> dict[str, dict[str, Any]]:
        self.first = {host: self.run(host, **options) for host in self.here}
        return {host: self.run(host, "second", **options) for host in self.here}


def test_all_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts(monkeypatch, a={"image": ONE}, b={"image": ONE})
    assert [hosts.run(host)["settled"] for host in "ab"] == [True, True]


def test_d10_one_gives_and_all_others_receive(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts(monkeypatch, a={"image": None}, b={"image": ONE}, c={"image": None})
    found = hosts.both()
    assert [answer["copies"] for answer in found.values()] == [True] * 3
    assert found["b"]["receivers"] == ["a", "c"]
    assert {host: offer["source"] for host, offer in found["a"]["offers"].items()} == {
        "a": False,
        "b": True,
        "c": False,
    }
    assert found["a"]["layers"] == ["l1"]
    assert hosts.shown == ["b: gives image acme/vllm:1 to a, c"]


@pytest.mark.parametrize(("network", "actions"), [("fabric", ["", "pull"]), ("any", ["", ""])])
def test_a_host_that_the_fabric_does_not_reach(
    monkeypatch: pytest.MonkeyPatch, network: str, actions: list[str]
) -> None:
    hosts = Hosts(monkeypatch, a={"image": ONE}, b={"image": None})
    hosts.links["b"] = []
    assert [hosts.run(host, network=network)["part"]["action"] for host in "ab"] == actions


def test_a_host_without_a_rank_comes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts(monkeypatch, a={"image": ONE}, b={"image": None}, z={})
    plan = {"ranks": {host: {"container": {"image": NAME}} for host in "ab"}}
    hosts.first = {host: hosts.run(host, plan=plan) for host in "abz"}
    found = hosts.run("z", "second", plan=plan)
    assert (found["copies"], found["part"]["source"], found["receivers"]) == (True, "", [])
    assert list(found["offers"]) == ["a", "b"]


def test_a_fault_names_its_host(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts(monkeypatch, a={"image": {**ONE, "architecture": "amd64"}}, b={"image": ONE})
    found = hosts.run("a")
    assert found["failed"]
    assert found["msg"].startswith("a: image acme/vllm:1 is for amd64, wanted arm64.")
    assert "failed" not in hosts.run("b")


def test_an_update_shows_what_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts(monkeypatch, a={"image": TWO, "versions": {"vllm": "0.33.0"}}, b={"image": ONE})
    hosts.before = {"a": {"image": ONE, "versions": VERSIONS}}
    found = hosts.both(update=True)
    assert found["a"]["changes"] == ["sha256:aaaa -> sha256:bbbb", "vllm 0.32.0 -> 0.33.0"]
    assert "a: image acme/vllm:1: vllm 0.32.0 -> 0.33.0" in hosts.shown
    assert found["b"]["part"]["receives"]
    hosts.before = {"a": hosts.here["a"]}
    hosts.here["b"] = {"image": TWO}
    assert hosts.run("a", "second", update=True)["changes"] == []
    assert hosts.shown[-1] == "a: image acme/vllm:1: the registry has nothing newer"


def test_check_mode_says_who_would_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = Hosts(monkeypatch, a={"image": None}, b={"image": None})
    hosts.first = {host: hosts.run(host) for host in "ab"}
    assert hosts.run("b", "second", check=True)["part"]["receives"]


def test_the_lock_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "image.lock.yml"
    path.write_text(f"{NAME}: {{architecture: arm64, digests: ['sha256:aaaa'], layers: '', versions: {{}}}}\n")
    hosts = Hosts(monkeypatch, a={"image": ONE}, b={"image": TWO})
    assert hosts.run("a", lock_file=str(path))["settled"]
    assert f"b: found image {NAME} with sha256:bbbb, wanted sha256:aaaa" in hosts.run("b", lock_file=str(path))["msg"]


@pytest.mark.parametrize(
    ("text", "said"), [("a: b: c", "it is not YAML"), ("[]", "it is no mapping of image names"), ("x: {}", "x has no")]
)
def test_a_lock_that_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "image.lock.yml"
    path.write_text(text, encoding="utf-8")
    found = Hosts(monkeypatch, a={"image": ONE}).run("a", lock_file=str(path))
    assert found["failed"]
    assert found["msg"].startswith(f"image_lock_file {path} cannot be used: {said}")
