# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway of a host becomes as wanted, or is as it was."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import account, answering, apply, decide, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.apply import Gateway
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.decide import Content, Wanted
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.places import Places
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.removal import Removal
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.gateway.fake_host import FakeHost

LISTEN = {"address": "127.0.0.1", "port": 8080, "tls": False}
CHECK = [["check", "{folder}/haproxy.cfg", "{scratch}"]]


class Spark:
    """A host below a folder."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.places = Places(root)
        self.host = FakeHost(self.places.folder)
        self.gateway = Gateway(self.places, self.host)
        self.has_user = False
        self.children = 0
        monkeypatch.setattr(account, "exists", lambda: self.has_user)
        monkeypatch.setattr(account, "make", lambda run: setattr(self, "has_user", True))
        monkeypatch.setattr(account, "remove", lambda run: setattr(self, "has_user", False))
        monkeypatch.setattr(account, "group", os.getegid)
        monkeypatch.setattr(answering, "answers", lambda listen: True)
        monkeypatch.setattr(answering, "settle", lambda listen, seconds: None)
        monkeypatch.setattr(answering.time, "sleep", lambda seconds: None)
        # A reload makes a new process.
        monkeypatch.setattr(answering, "children", lambda pid: {99})
        monkeypatch.setattr(apply, "children", lambda pid: {5})

    def want(self, text: str, **more: str) -> list[str]:
        """Have a configuration; why it was a change."""
        record = f'{{"listen": {{"address": "127.0.0.1", "port": 8080, "tls": false}}, "text": "{text}"}}'
        files = {"haproxy.cfg": text, "rendered.json": record, **more}
        wanted = Wanted(
            {name: Content(one.encode(), 0o640) for name, one in files.items()}, {units.FRONT: "unit"}, LISTEN
        )
        here = self.gateway.look()
        due = decide.decide(here, wanted)
        self.host.ran.clear()
        if due.reasons:
            self.gateway.change(here, wanted, due, CHECK, None)
        return due.reasons

    def text(self) -> str:
        return (self.places.folder / "haproxy.cfg").read_text(encoding="utf-8")


@pytest.fixture(name="spark")
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spark:
    (tmp_path / "etc/systemd/system").mkdir(parents=True)
    return Spark(tmp_path, monkeypatch)


def test_first_time_and_again(spark: Spark) -> None:
    assert spark.want("one")
    assert spark.host.verbs() == [f"enable --no-reload {units.FRONT}", f"start {units.FRONT}"]
    assert spark.want("one") == []
    assert spark.host.ran == []
    assert stat.S_IMODE(spark.places.folder.stat().st_mode) == 0o750
    assert stat.S_IMODE((spark.places.folder / "haproxy.cfg").stat().st_mode) == 0o640
    assert not spark.places.staged.exists()


def test_a_change_keeps_the_one_before(spark: Spark) -> None:
    spark.want("one")
    spark.want("two")
    assert spark.host.verbs() == [f"reload {units.FRONT}"]
    assert (spark.text(), (spark.places.previous / "haproxy.cfg").read_text()) == ("two", "one")


def test_what_the_check_refuses_never_goes_live(spark: Spark) -> None:
    spark.want("one")
    with pytest.raises(Refused) as refused:
        spark.want("refused")
    live = spark.places.folder / "haproxy.cfg"
    assert str(refused.value) == (
        f"check refuses the new configuration, so that the gateway was left as it is; found: config : {live}: bad word."
    )
    assert (spark.text(), spark.host.verbs()) == ("one", [])
    assert not spark.places.staged.exists()


def test_one_that_does_not_work_gives_way_to_the_one_before(spark: Spark) -> None:
    spark.want("one")
    with pytest.raises(Refused) as refused:
        spark.want("broken")
    assert "cannot bind socket (Address already in use)" in str(refused.value)
    assert str(refused.value).endswith("The gateway that was there before answers again.")
    assert (spark.text(), spark.host.active[units.FRONT]) == ("one", "active")
    assert spark.want("one") == []


def test_a_first_one_that_does_not_work_leaves_nothing(spark: Spark) -> None:
    with pytest.raises(Refused, match="The host is as it was before"):
        spark.want("broken")
    assert Removal(spark.gateway).words() == []
    assert not spark.host.enabled[units.FRONT]


def test_a_program_that_goes_on_with_its_old_configuration(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    spark.want("one")
    monkeypatch.setattr(answering, "children", lambda pid: {5})
    monkeypatch.setattr(apply, "FRONT_SECONDS", 0.0)
    with pytest.raises(Refused, match="does not take up its new configuration"):
        spark.want("two")
    assert spark.text() == "one"


def test_it_is_removed_whole(spark: Spark) -> None:
    spark.want("one")
    spark.want("two")
    (spark.places.root / "opt/dgxspark-serving/gateway-litellm/bin").mkdir(parents=True)
    removal = Removal(spark.gateway)
    removal.note(["nginx"])
    removal.note(["haproxy", "nginx"])
    assert removal.noted() == ["haproxy", "nginx"]
    removal = Removal(spark.gateway)
    assert len(removal.words()) == 5
    removal.remove()
    left = [str(path.relative_to(spark.places.root)) for path in spark.places.root.rglob("*")]
    assert sorted(left) == ["etc", "etc/systemd", "etc/systemd/system", "opt"]
    assert (spark.has_user, spark.host.enabled[units.FRONT]) == (False, False)
    assert Removal(spark.gateway).words() == []


def test_d08_nothing_is_read_anew_while_a_container_runs(spark: Spark) -> None:
    spark.want("one")
    spark.host.containers = ["dgxspark-chat-0-r0"]
    Removal(spark.gateway).remove()
    assert "daemon-reload" not in spark.host.verbs()


def test_a_router_that_waits_for_replicas_is_no_failure(spark: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "listens", lambda port: False)
    wanted = Wanted({"haproxy.cfg": Content(b"one", 0o640)}, {units.FRONT: "unit", units.ROUTER: "unit"}, LISTEN)
    here = spark.gateway.look()
    due = decide.decide(here, wanted)
    with pytest.raises(Refused, match="does not answer within 0 s"):
        spark.gateway.change(here, wanted, due, CHECK, apply.Router(29491, alone=True, seconds=0.0))
    here = spark.gateway.look()
    spark.gateway.change(here, wanted, due, CHECK, apply.Router(29491, alone=False, seconds=0.0))
    assert spark.host.active == {units.FRONT: "active", units.ROUTER: "active"}
