# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes on a host: whatever interrupts them, what ran before runs again, or what is new is there as a whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import change, journal, lease, lock
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.pretended_host import (
    PowerCut,
    PretendedHost,
)

NEW = "dgxspark-big-0-r0"
OTHER = "dgxspark-chat-0-r0"
FILES = change.Files(b"program", b"ray", b"unit", change.spec_text({"generation": "new"}))
REQUEST = change.Request("run-1", "ann@laptop", 180, NEW, FILES, 60)
# Commands after which every interruption has been tried; the longest way has fewer.
MOST = 60


def served(root: Path) -> tuple[PretendedHost, list[change.Present]]:
    """A host with the old version of the rank, another deployment's rank, and a stranger's container."""
    pretended = PretendedHost(root)
    host = pretended.host()
    for identity, name in (("id-old", NEW), ("id-other", OTHER)):
        pretended.add(identity, name)
        pretended.units[name] = "active"
        pretended.enabled.add(name)
        host.put(host.paths.spec(name), change.spec_text({"generation": "old", "name": name}))
    pretended.add("id-web", "web", ours=False)
    return pretended, [
        change.Present(NEW, "id-old", True, container_changed=True),
        change.Present(OTHER, "id-other", True, container_changed=True),
    ]


def virgin(root: Path) -> tuple[PretendedHost, list[change.Present]]:
    pretended = PretendedHost(root)
    pretended.add("id-web", "web", ours=False)
    return pretended, []


def by_hand(root: Path) -> tuple[PretendedHost, list[change.Present]]:
    """An engine that an older version of the collection started, without a unit."""
    pretended = PretendedHost(root)
    pretended.add("id-old", OTHER)
    return pretended, [change.Present(OTHER, "id-old", True, container_changed=True)]


def down(root: Path) -> tuple[PretendedHost, list[change.Present]]:
    """A rank as wanted whose unit is not up."""
    pretended, present = served(root)
    pretended.boxes["id-old"].running = False
    pretended.units[NEW] = "failed"
    return pretended, [change.Present(NEW, "id-old", False, container_changed=False), present[1]]


def beside(root: Path) -> tuple[PretendedHost, list[change.Present]]:
    """A rank as wanted that serves, and one of another deployment that must go."""
    pretended, present = served(root)
    return pretended, [change.Present(NEW, "id-old", True, container_changed=False, keep_running=True), present[1]]


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of small files, and no power to lose."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(change, "PAUSE", 0)


HOSTS = [served, virgin, by_hand, down, beside]
Start = Callable[[Path], tuple[PretendedHost, list[change.Present]]]


def finish(step: Callable[[], str]) -> None:
    for _turn in range(20):
        if not step():
            return
    raise AssertionError("it waits for ever")


def forward(pretended: PretendedHost, present: list[change.Present]) -> None:
    """The whole change but for the commit."""
    host = pretended.host()
    lock.take(host.paths, lock.Lock("run-1", "ann@laptop", 7, 1000.0, 1000.0), 180)
    finish(lambda: change.begin(host, REQUEST, present))
    if host.container(NEW) is None:
        pretended.add("id-new", NEW, running=False)
    change.start(host, "run-1", NEW)


def after_a_cut(pretended: PretendedHost, number: int, late: bool, work: Callable[[], object]) -> bool:
    """Let the power go at a command. Says whether the work came that far; what was stopping has stopped then."""
    pretended.commands.clear()
    pretended.cut_at, pretended.cut_late = number, late
    try:
        work()
    except PowerCut:
        return True
    finally:
        pretended.cut_at = 0
        for name, state in pretended.units.items():
            if state == "deactivating":
                pretended.run(["systemctl", "is-active", f"dgxspark-replica@{name}.service"])
    return False


@pytest.mark.parametrize("start", HOSTS)
def test_the_whole_way(tmp_path: Path, start: Start) -> None:
    pretended, present = start(tmp_path)
    forward(pretended, present)
    assert pretended.timer
    assert change.commit(pretended.host(), "run-1")
    after = pretended.snapshot()
    assert [box[0] for box in after["boxes"].values() if box[2]] == [NEW]
    assert (after["enabled"], list(after["units"]), list(after["specs"])) == ({NEW}, [NEW], [f"{NEW}.json"])
    assert after["specs"][f"{NEW}.json"] == FILES.spec
    assert (after["change"], after["timer"]) == (False, False)
    assert ("id-web" in after["boxes"]) == (start in (served, virgin, down, beside))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("start", HOSTS)
def test_an_interrupted_change_is_taken_back_whole(tmp_path: Path, start: Start, late: bool) -> None:
    """A crash at every command of the way there, and then one at every command of the way back."""
    for number in range(1, MOST):
        pretended, present = start(tmp_path / f"there-{number}")
        before = pretended.snapshot()
        reached = after_a_cut(
            pretended, number, late, lambda pretended=pretended, present=present: forward(pretended, present)
        )
        finish(lambda pretended=pretended: change.revert(pretended.host()))
        assert pretended.snapshot() == before, number
        if not reached:
            break
    else:
        raise AssertionError("MOST is too small")
    for number in range(1, MOST):
        pretended, present = start(tmp_path / f"back-{number}")
        before = pretended.snapshot()
        forward(pretended, present)

        def back(pretended: PretendedHost = pretended) -> None:
            finish(lambda: change.revert(pretended.host()))

        reached = after_a_cut(pretended, number, late, back)
        back()
        # What is left of the timer finds nothing to do, and ends itself.
        change.revert_if_expired(pretended.host())
        assert pretended.snapshot() == before, number
        if not reached:
            return
    raise AssertionError("MOST is too small")


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("start", HOSTS)
def test_an_interrupted_commit_is_finished_by_whoever_comes(tmp_path: Path, start: Start, late: bool) -> None:
    for number in range(1, MOST):
        pretended, present = start(tmp_path / str(number))
        forward(pretended, present)
        reached = after_a_cut(
            pretended, number, late, lambda pretended=pretended: change.commit(pretended.host(), "run-1")
        )
        finish(lambda pretended=pretended: change.revert(pretended.host()))
        change.revert_if_expired(pretended.host())
        after = pretended.snapshot()
        assert [box[:2] for box in after["boxes"].values() if box[2]] == [(NEW, True)], number
        assert (after["enabled"], after["change"], after["timer"]) == ({NEW}, False, False), number
        if not reached:
            return
    raise AssertionError("MOST is too small")


def test_a_strangers_container_is_not_removed_by_a_way_back_d06(tmp_path: Path) -> None:
    pretended, present = virgin(tmp_path)
    finish(lambda: change.begin(pretended.host(), REQUEST, present))
    pretended.add("id-stranger", NEW, ours=False)
    finish(lambda: change.revert(pretended.host()))
    assert "id-stranger" in pretended.boxes


def test_no_daemon_reload_while_engines_run_d08(tmp_path: Path) -> None:
    """The pretended host refuses one while an engine of ours runs."""
    for start, reloads in ((served, True), (beside, False)):
        pretended, present = start(tmp_path / start.__name__)
        pretended.stale_unit_file = True
        forward(pretended, present)
        change.commit(pretended.host(), "run-1")
        assert any("daemon-reload" in command for command in pretended.commands) == reloads
        changes = [c for c in pretended.commands if c.startswith(("systemctl enable", "systemctl disable"))]
        assert changes
        assert all("--no-reload" in command for command in changes)


def test_an_engine_without_a_unit_is_asked_once_and_then_killed(tmp_path: Path) -> None:
    pretended, present = by_hand(tmp_path)
    stubborn = pretended.boxes["id-old"]
    run = pretended.run

    def ignoring(argv: list[str]) -> tuple[int, str, str]:
        answer = run(argv)
        if "SIGTERM" in argv:
            stubborn.running = True
        return answer

    host = pretended.host()
    host.run = ignoring
    assert change.begin(host, REQUEST, present) == f"{OTHER} stops"
    assert change.begin(host, REQUEST, ()) == f"{OTHER} stops"
    assert [command for command in pretended.commands if " kill " in command] == [
        "docker container kill --signal SIGTERM id-old"
    ]
    pretended.now += 61
    assert change.begin(host, REQUEST, ()) == f"{OTHER} stops"
    assert change.begin(host, REQUEST, ()) == ""


def test_another_runs_change_is_refused(tmp_path: Path) -> None:
    pretended, present = served(tmp_path)
    finish(lambda: change.begin(pretended.host(), REQUEST, present))
    with pytest.raises(Refused, match="^a change to dgxspark-big-0-r0 that ann@laptop began at .* is not finished"):
        change.begin(pretended.host(), replace(REQUEST, run="run-2"), present)


def test_a_run_whose_change_was_taken_back_does_not_start_the_old_rank(tmp_path: Path) -> None:
    pretended, present = virgin(tmp_path)
    finish(lambda: change.begin(pretended.host(), REQUEST, present))
    finish(lambda: change.revert(pretended.host()))
    with pytest.raises(Refused, match="took the change back. Deploy again.$"):
        change.start(pretended.host(), "run-1", NEW)


def test_a_unit_that_does_not_start_says_why(tmp_path: Path) -> None:
    pretended, present = virgin(tmp_path)
    finish(lambda: change.begin(pretended.host(), REQUEST, present))
    pretended.host().paths.spec(NEW).unlink()
    with pytest.raises(Refused, match=f"{NEW}.service did not start: no such spec. Read more with: journalctl -u"):
        change.start(pretended.host(), "run-1", NEW)


def test_the_hosts_timer_waits_for_the_lease(tmp_path: Path) -> None:
    pretended, present = served(tmp_path)
    before = pretended.snapshot()
    forward(pretended, present)
    pretended.now += 100
    assert lease.renew("run-1", 180, HostPaths(tmp_path), pretended.now)
    pretended.now += 100
    assert not change.revert_if_expired(pretended.host())
    pretended.now += 100
    assert change.revert_if_expired(pretended.host())
    assert pretended.snapshot() == before


def test_a_sign_of_life_is_not_lost_while_the_journal_is_written(tmp_path: Path) -> None:
    pretended, present = by_hand(tmp_path)
    host = pretended.host()
    run = host.run

    def renewing(argv: list[str]) -> tuple[int, str, str]:
        lease.renew("run-1", 500, HostPaths(tmp_path), pretended.now)
        return run(argv)

    host.run = renewing
    assert change.begin(host, REQUEST, present) == f"{OTHER} stops"
    noted = journal.read(host.paths)
    assert (noted.deadline, noted.stop_asked) == (1500.0, 1000.0)


def test_a_reboot_ends_the_lease(tmp_path: Path) -> None:
    pretended, present = served(tmp_path)
    forward(pretended, present)
    assert not change.ask_revert_if_expired(pretended.host())
    pretended.timer = False
    assert change.ask_revert_if_expired(pretended.host())
    assert pretended.commands[-1].count("--on-active=180") == 1
    # A reboot empties /run.
    pretended.timer = False
    pretended.host().paths.lock.unlink()
    assert change.ask_revert_if_expired(pretended.host())
    assert pretended.commands[-1].count("--on-active=1 ") == 1
    assert change.revert_if_expired(pretended.host())


LIVE = {"phase": "loading", "peers": {"0": {"phase": "loading", "heard": 990.0}}}


@pytest.mark.parametrize(
    ("deadline", "locked", "live", "expected"),
    [
        (1001.0, True, None, False),
        (1000.0, True, None, True),
        (1001.0, False, LIVE, True),
        (900.0, True, LIVE, False),
        (900.0, True, {**LIVE, "phase": "down"}, True),
        (900.0, True, {"phase": "loading", "peers": {"0": {"heard": 900.0}}}, True),
        (900.0, True, {"phase": "loading", "peers": {"1": {"heard": 999.0}}}, True),
    ],
    ids=["in time", "over", "rebooted", "rank 0 is heard", "down", "rank 0 was heard", "rank 0 itself"],
)
def test_when_a_run_counts_as_dead(deadline: float, locked: bool, live: dict | None, expected: bool) -> None:
    began = journal.Change("run-1", "ann@laptop", 800.0, deadline, NEW)
    assert journal.expired(began, 1000.0, locked, live) is expected


def test_remove(tmp_path: Path) -> None:
    pretended, _present = served(tmp_path)
    host = pretended.host()
    host.paths.evidence(NEW).mkdir(parents=True)
    host.put(host.paths.drain, b"{}")
    finish(lambda: change.remove(host, [], 60, evidence=False))
    assert host.paths.drain.exists()
    finish(lambda: change.remove(host, [(NEW, "id-old")], 60, evidence=False))
    assert not host.paths.drain.exists(), "what comes next is not kept out of rotation"
    assert list(pretended.snapshot()["specs"]) == [f"{OTHER}.json"]
    assert host.paths.evidence(NEW).is_dir()
    finish(lambda: change.remove(host, [(NEW, ""), (OTHER, "id-other")], 60, evidence=True))
    assert set(pretended.boxes) == {"id-web"}
    assert not host.paths.state_folder(NEW).exists()
    assert change.shared_paths(host)
    undo = host.paths.states / "host" / "swap.json"
    undo.parent.mkdir()
    undo.touch()
    change.remove_shared(host)
    assert not change.shared_paths(host)
    assert undo.exists(), "what the undo of another role needs stays"
    assert not host.paths.library.exists()


def test_remove_leaves_no_empty_folder(tmp_path: Path) -> None:
    pretended, _present = served(tmp_path)
    host = pretended.host()
    change.remove_shared(host)
    assert not any(path.exists() for path in (host.paths.library, host.paths.specs.parent, host.paths.states))


def test_renew_only_ones_own(tmp_path: Path) -> None:
    paths = HostPaths(tmp_path)
    assert not lease.renew("run-1", 180, paths, 10)
    lock.take(paths, lock.Lock("run-1", "ann@laptop", 7, 5.0, 5.0), 180)
    assert lease.renew("run-1", 180, paths, 10)
    assert lock.read(paths) == lock.Lock("run-1", "ann@laptop", 7, 5.0, 10)
    assert not lease.renew("run-2", 180, paths, 20)
    assert lock.read(paths).seen == 10
