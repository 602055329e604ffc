# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of a group, as sequences of what happens and what the ranks do about it."""

from __future__ import annotations

import random

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.decide import waiting_for
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB, Memory
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.progress import Progress, Sample, look
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.supervisor.pretended_group import (
    Group,
    make_spec,
)

RESTART = ["r1 start", "r0 start"]


@pytest.fixture
def pair() -> Group:
    """A replica over two hosts that serves."""
    group = Group()
    group.boot()
    group.serve()
    group.story.clear()
    return group


def memory(available: float) -> Memory:
    """Memory of a host with 120 GiB."""
    return Memory(120 * GIB, int(available * GIB))


def reason(group: Group, rank: int) -> str:
    last = group.hosts[rank].state.last_restart
    return last.reason if last else ""


# Starts


@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_boot_of_all_starts_workers_first_and_rank_0_last(world_size: int) -> None:
    group = Group(world_size)
    group.boot()
    assert group.serve() < 10
    assert sorted(group.story[:-1]) == [f"r{rank} start" for rank in range(1, world_size)]
    assert group.story[-1] == "r0 start"
    assert [host.state.restarts for host in group.hosts] == [0] * world_size


@pytest.mark.parametrize("late", [0, 1])
def test_a_late_host_is_waited_for(late: int) -> None:
    group = Group()
    group.boot(1 - late)
    group.run(40)
    assert group.story == []
    assert group.hosts[1 - late].state.phase == "waiting-for-peers"
    group.boot(late)
    group.serve()
    assert group.story == RESTART


def test_waiting_is_told_in_words() -> None:
    group = Group(3)
    group.boot(0, 1)
    group.run(10)
    host = group.hosts[0]
    seen = group._seen(host)
    assert waiting_for(host.spec, host.state, seen) == (
        "waits for rank 1 at 10.100.0.2 (waiting-for-peers), rank 2 at 10.100.0.3 (silent)"
    )


def test_an_engine_that_does_not_become_ready_is_started_anew() -> None:
    group = Group(start_timeout=100)
    group.hosts[0].healthy = False
    group.boot()
    group.run(90)
    assert group.phases() == ["loading", "loading"]
    group.hosts[1].lingers = 12
    group.run_until(lambda: group.story.count("r0 start") == 2)
    assert group.story[2:5] == ["r0 evidence start-timeout", "r0 stop 3", "r1 evidence group-failed"]
    assert reason(group, 0) == "the engine is not ready 100 s after its start"


def test_docker_that_refuses_the_start_is_a_failure() -> None:
    group = Group(1, restart_limit=1)
    group.hosts[0].refuses = "no such runtime: nvidia"
    group.boot()
    group.run(30)
    assert group.story == ["r0 start", "r0 evidence start-refused"] * 2
    assert group.phases() == ["down"]
    assert "no such runtime: nvidia" in group.hosts[0].state.reason


# The failures that were seen with TP=2, each with what the engines themselves do


def test_rank_1_killed_while_idle(pair: Group) -> None:
    """Rank 0 answers /health with 200 for ever."""
    pair.end(1, 137)
    assert pair.serve() < 15
    assert pair.story == ["r1 evidence ended", "r0 evidence peer-failed", "r0 stop 3", *RESTART]
    assert reason(pair, 1) == "the engine ended with exit code 137"
    assert reason(pair, 0) == "rank 1 at 10.100.0.2: the engine ended with exit code 137"


def test_rank_1_killed_during_a_request(pair: Group) -> None:
    """Rank 0 ends by itself after 4 seconds, with code 0; it is not waited for."""
    pair.end(1, 137)
    pair.hosts[0].lingers = 4
    assert pair.serve() < 15
    assert pair.story == ["r1 evidence ended", "r0 evidence peer-failed", "r0 stop 3", *RESTART]


def test_only_the_worker_process_of_rank_1_killed(pair: Group) -> None:
    """Its container ends 3 seconds later with code 0: code 0 is no wanted stop."""
    pair.run(3)
    pair.end(1, 0)
    assert pair.serve() < 15
    assert reason(pair, 1) == "the engine ended with exit code 0"


def test_fabric_link_down_during_a_request(pair: Group) -> None:
    """Both hang, and do not recover when the link is back."""
    pair.cut = {0}
    pair.run(10)
    assert sorted(pair.story) == ["r0 evidence peer-lost", "r0 stop 3", "r1 evidence peer-lost", "r1 stop 3"]
    assert pair.phases() == ["waiting-for-peers"] * 2
    pair.story.clear()
    pair.cut = set()
    assert pair.serve() < 10
    assert pair.story == RESTART
    assert reason(pair, 0).startswith("no word from rank 1 at 10.100.0.2 for 5 s")
    assert reason(pair, 1).startswith("no word from rank 0 at 10.100.0.1 for 5 s")


def test_fabric_link_down_with_a_distributed_timeout(pair: Group) -> None:
    """Rank 0 ends with code 0 after a while, rank 1 keeps running; here the link is down for the control, too."""
    pair.cut = {0, 1}
    pair.run(3)
    pair.end(0, 0)
    pair.run(20)
    assert not pair.hosts[1].running
    pair.cut = set()
    assert pair.serve() < 10


def test_engines_link_lost_while_supervisors_hear_each_other(pair: Group) -> None:
    """Only the engines' connections broke: rank 0 has requests and no tokens, and is called hung."""
    pair.hosts[0].hung = "hung: 1 requests running and 0 waiting, and no token for 120 s"
    pair.turn()
    pair.hosts[0].hung = ""
    assert pair.serve() < 15
    assert pair.story == ["r0 evidence hung", "r0 stop 3", "r1 evidence group-failed", "r1 stop 3", *RESTART]


@pytest.mark.parametrize("code", [0, 1, 137])
def test_rank_0_killed_or_stopped(pair: Group, code: int) -> None:
    """Rank 1 notices nothing and ignores SIGTERM for 12 seconds: it is killed after 3."""
    pair.hosts[1].lingers = 12
    pair.end(0, code)
    assert pair.serve() < 15
    assert pair.story == ["r0 evidence ended", "r1 evidence group-failed", "r1 stop 3", *RESTART]


@pytest.mark.parametrize("rank", [0, 1])
def test_one_rank_restarted_alone(pair: Group, rank: int) -> None:
    pair.start_by_hand(rank)
    pair.turn()
    assert pair.serve() < 15
    assert pair.story[0] == f"r{rank} evidence foreign-restart"
    assert pair.story[-2:] == RESTART
    assert sorted(entry for entry in pair.story if "stop" in entry) == ["r0 stop 3", "r1 stop 3"]


def test_rank_1_late_by_40_s_in_a_start(pair: Group) -> None:
    pair.power_off(1)
    pair.run(40)
    assert pair.phases() == ["waiting-for-peers", "-"]
    pair.boot(1)
    pair.serve()


@pytest.mark.parametrize(("rank", "code"), [(1, 1), (0, 1)])
def test_engine_that_ends_at_once_goes_down_when_the_budget_is_spent(rank: int, code: int) -> None:
    """Wrong master address: rank 1 ends with code 1. API port taken: rank 0 does."""
    group = Group()
    group.boot()
    starts = 0
    for _turn in range(600):
        group.turn()
        if group.hosts[rank].starts > starts:
            starts = group.hosts[rank].starts
            group.end(rank, code)
    assert starts == 4
    assert group.phases() == ["down", "down"]
    assert group.hosts[0].state.reason.endswith(
        "4 failures within 600 s use up the budget of 3 restarts, so the replica stays down"
    )
    assert "exit code 1" in group.hosts[1].state.reason


def test_master_port_taken_makes_the_start_too_long() -> None:
    """Rank 0 logs EADDRINUSE and the group waits for ever; other hosts do, too."""
    group = Group(start_timeout=60, restart_limit=0)
    group.hosts[0].healthy = False
    group.boot()
    group.run(80)
    assert group.phases() == ["down", "down"]
    assert "not ready 60 s after its start" in group.hosts[1].state.reason


def test_n09_the_worker_of_a_dead_head_is_recycled_too(pair: Group) -> None:
    """vllm-rank0 exited(1), vllm-rank1 runs on and logs that a connection was closed."""
    before = [host.starts for host in pair.hosts]
    pair.end(0, 1)
    pair.serve()
    assert [host.starts for host in pair.hosts] == [start + 1 for start in before]


def test_n01_one_rank_busy_and_one_idle_without_a_token_is_hung(pair: Group) -> None:
    """Another build of PyTorch on rank 1: one GPU at 100 %, the other at 0, and no new token for 120 s."""
    progress = Progress()
    for second in range(0, 126, 5):
        progress = look(progress, Sample(running=1, waiting=0, tokens=4711.0, generated=4711.0), float(second))
        pair.hosts[0].hung = progress.hung(pair.hosts[0].spec.limits.hung_after)
        if second < 120:
            assert not pair.hosts[0].hung
    pair.turn()
    assert pair.story[0] == "r0 evidence hung"
    pair.run(10)
    assert "r1 evidence group-failed" in pair.story


# Hosts and supervisors


@pytest.mark.parametrize("rank", [0, 1])
def test_a_host_is_rebooted(pair: Group, rank: int) -> None:
    pair.power_off(rank)
    pair.run(40)
    assert not any(host.running for host in pair.hosts)
    pair.boot(rank)
    assert pair.serve() < 10
    assert pair.story[-2:] == RESTART


@pytest.mark.parametrize("rank", [0, 1])
def test_a_host_is_rebooted_faster_than_anybody_notices(pair: Group, rank: int) -> None:
    pair.power_off(rank)
    pair.run(2)
    pair.boot(rank)
    assert pair.serve() < 15
    assert reason(pair, rank) == "the host was restarted"
    assert sorted(pair.story[-2:]) == sorted(RESTART)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_reboot_before_the_start_is_not_the_reason_of_a_later_failure(rank: int) -> None:
    group = Group()
    group.boot(rank)
    group.run(5)
    group.power_off(rank)
    group.boot()
    group.serve()
    group.end(rank, 1)
    group.run(2)
    assert reason(group, rank) == "the engine ended with exit code 1"


@pytest.mark.parametrize("first", [0, 1])
def test_power_loss_of_both(pair: Group, first: int) -> None:
    pair.power_off(0)
    pair.power_off(1)
    pair.run(20)
    pair.boot(first)
    pair.run(60)
    assert not any(host.running for host in pair.hosts)
    pair.boot(1 - first)
    pair.serve()
    assert pair.story[-2:] == RESTART


@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_supervisor_adopts_the_engine(pair: Group, rank: int) -> None:
    pair.crash_supervisor(rank)
    pair.run(2)
    pair.boot(rank)
    pair.run(60)
    assert pair.story == []
    assert pair.serves()


@pytest.mark.parametrize("rank", [0, 1])
def test_a_supervisor_killed_while_engines_load_adopts_too(rank: int) -> None:
    group = Group()
    group.hosts[0].healthy = False
    group.boot()
    group.run_until(lambda: group.phases() == ["loading", "loading"])
    group.crash_supervisor(rank)
    group.run(2)
    group.boot(rank)
    group.run(30)
    assert group.story == RESTART
    group.hosts[0].healthy = True
    group.serve(5)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_supervisor_killed_during_the_start_begins_a_new_epoch(rank: int) -> None:
    group = Group()
    group.boot()
    group.run_until(lambda: f"r{rank} start" in group.story)
    group.crash_supervisor(rank)
    group.run(1)
    # Docker went on with it.
    group.start_by_hand(rank)
    group.boot(rank)
    group.serve()
    assert group.hosts[0].started_in > 1
    assert (group.hosts[0].state.failures == ()) == (rank == 0)
    assert ("the supervisor was restarted during the start" in reason(group, 0)) == (rank == 1)


@pytest.mark.parametrize("rank", [0, 1])
def test_an_engine_that_ended_while_nobody_looked(pair: Group, rank: int) -> None:
    pair.crash_supervisor(rank)
    pair.end(rank, 0)
    pair.run(2)
    pair.boot(rank)
    assert pair.serve() < 15
    assert pair.story[0] == f"r{rank} evidence ended"


@pytest.mark.parametrize("rank", [0, 1])
def test_a_supervisor_that_stays_away_ends_the_epoch(pair: Group, rank: int) -> None:
    """Its engine runs on; the supervisor that comes back stops it."""
    pair.crash_supervisor(rank)
    pair.run(20)
    assert not pair.hosts[1 - rank].running
    pair.boot(rank)
    pair.serve()
    assert pair.story[-2:] == RESTART


@pytest.mark.parametrize("rank", [0, 1])
def test_a_lost_state_file_does_not_bring_back_an_old_epoch(pair: Group, rank: int) -> None:
    pair.end(0)
    pair.run(1)
    pair.serve()
    epoch = pair.hosts[0].state.epoch
    pair.power_off(rank)
    pair.hosts[rank].disk = ""
    pair.run(2)
    pair.boot(rank)
    pair.serve()
    assert pair.hosts[0].state.epoch > epoch


def test_docker_restarted_with_its_containers(pair: Group) -> None:
    pair.hosts[1].docker_answers = False
    pair.run(4)
    assert pair.story == []
    pair.end(1, 0)
    pair.hosts[1].docker_answers = True
    assert pair.serve() < 15


def test_docker_restarted_under_containers_that_live_on(pair: Group) -> None:
    for host in pair.hosts:
        host.docker_answers = False
    pair.run(60)
    for host in pair.hosts:
        host.docker_answers = True
    pair.run(10)
    assert pair.story == []
    assert pair.serves()


def test_a_container_that_is_gone_takes_the_group_down_with_advice(pair: Group) -> None:
    pair.hosts[1].exists = False
    pair.run(10)
    assert pair.phases() == ["down", "down"]
    assert pair.hosts[0].state.reason == ("rank 1 at 10.100.0.2: there is no container dgxspark-big-0-r1; deploy again")
    assert not pair.hosts[0].running


@pytest.mark.parametrize("rank", [0, 1])
def test_a_container_that_is_missing_from_the_beginning(rank: int) -> None:
    group = Group()
    group.hosts[rank].exists = False
    group.boot()
    group.run(10)
    assert group.story == []
    assert group.phases() == ["down", "down"]
    assert f"there is no container dgxspark-big-0-r{rank}; deploy again" in group.hosts[0].state.reason


def test_a_container_that_was_started_by_hand_is_stopped() -> None:
    group = Group()
    group.boot(1)
    group.run(10)
    group.start_by_hand(1)
    group.run(10)
    assert group.story == ["r1 stop 3"]
    assert not group.hosts[1].running


def test_an_engine_that_does_not_end_is_killed_again(pair: Group) -> None:
    pair.end(0)
    pair.hosts[1].lingers = 1000
    host = pair.hosts[1]
    pair.run_until(lambda: "r1 stop 3" in pair.story)
    # Docker gave up on the stop, as with a process that waits for a driver.
    host.job = None
    pair.run_until(lambda: "r1 kill" in pair.story, 10)
    pair.serve()


# Operators


@pytest.mark.parametrize("rank", [0, 1])
def test_stopping_a_unit_is_no_failure(pair: Group, rank: int) -> None:
    pair.hosts[rank].lingers = 20
    pair.hosts[rank].leaving = True
    pair.run(40)
    assert f"r{rank} stop 60" in pair.story
    assert f"r{1 - rank} stop 3" in pair.story
    assert f"r{rank} exit" in pair.story
    assert pair.phases()[1 - rank] == "waiting-for-peers"
    pair.boot(rank)
    assert pair.serve() < 10
    assert pair.hosts[0].state.restarts == 0
    assert pair.hosts[0].state.failures == ()


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("told", [True, False])
def test_restarting_a_unit_fast_restarts_the_group(pair: Group, rank: int, told: bool) -> None:
    """Also when no datagram told the others that it was away."""
    if not told:
        pair.cut = {rank}
    pair.hosts[rank].leaving = True
    pair.run_until(lambda: f"r{rank} exit" in pair.story)
    pair.boot(rank)
    pair.cut = set()
    assert pair.serve() < 15
    assert {"r0 start", "r1 start"} <= set(pair.story)
    # The other rank can tell later, when the one that was away has forgotten.
    assert reason(pair, 1 - rank).endswith("was stopped" if told else f"rank {rank} was started anew")


def test_restarting_a_unit_of_a_group_that_waits_for_another_host() -> None:
    group = Group(3)
    group.boot(0, 1)
    group.run(10)
    group.hosts[1].leaving = True
    group.run_until(lambda: "r1 exit" in group.story)
    group.boot(1)
    group.run(10)
    group.boot(2)
    assert group.serve() < 10
    assert group.hosts[0].state.failures == ()


@pytest.mark.parametrize("rank", [0, 1])
def test_restarting_a_unit_brings_a_group_back_that_is_down(rank: int) -> None:
    group = Group(restart_limit=0)
    group.boot()
    group.serve()
    group.end(1)
    group.run(10)
    assert group.phases() == ["down", "down"]
    group.hosts[rank].leaving = True
    group.run(2)
    group.boot(rank)
    group.serve()
    assert group.hosts[0].state.failures == ()


def test_a_group_that_is_down_stays_down_without_help() -> None:
    group = Group(restart_limit=0)
    group.boot()
    group.serve()
    group.end(0)
    group.run(10)
    group.story.clear()
    group.crash_supervisor(0)
    group.run(2)
    group.boot(0)
    group.run(700)
    assert group.story == []
    assert group.phases() == ["down", "down"]


def test_a_reboot_of_rank_0_brings_a_group_back_that_is_down() -> None:
    group = Group(restart_limit=0)
    group.boot()
    group.serve()
    group.end(0)
    group.run(10)
    assert group.phases() == ["down", "down"]
    group.power_off(0)
    group.run(20)
    group.boot(0)
    group.serve()


def test_leaving_does_not_wait_for_a_docker_that_never_answers() -> None:
    group = Group(1, stop_timeout=10)
    group.boot()
    group.serve()
    group.hosts[0].docker_answers = False
    group.hosts[0].leaving = True
    group.run(20)
    assert "r0 exit" not in group.story
    group.run(10)
    assert "r0 exit" in group.story


# Deployments


def test_the_first_failure_of_an_uncommitted_change_is_final() -> None:
    group = Group()
    for host in group.hosts:
        host.changing, host.healthy = True, False
    group.boot()
    group.run_until(lambda: group.phases()[0] == "loading")
    group.end(1, 1)
    group.run(10)
    assert group.phases() == ["down", "down"]
    assert group.hosts[0].state.reason == "rank 1 at 10.100.0.2: the engine ended with exit code 1"
    assert group.story.count("r1 start") == 1


def test_a_peer_that_never_comes_ends_an_uncommitted_change() -> None:
    group = Group()
    group.hosts[0].changing = True
    group.boot(0)
    group.run(55)
    assert group.phases()[0] == "waiting-for-peers"
    group.run(10)
    assert group.phases()[0] == "down"
    assert "no word from rank 1 at 10.100.0.2" in group.hosts[0].state.reason


def test_two_generations_do_not_work_together() -> None:
    group = Group()
    group.hosts[1].spec = make_spec(1, generation="ba9876543210")
    group.boot()
    group.run(60)
    assert group.story == []
    host = group.hosts[0]
    assert waiting_for(host.spec, host.state, group._seen(host)) == (
        "waits for rank 1 at 10.100.0.2 (it is of another generation, ba9876543210)"
    )


def test_a_peer_that_becomes_another_generation_counts_as_not_heard(pair: Group) -> None:
    pair.crash_supervisor(1)
    pair.hosts[1].spec = make_spec(1, generation="ba9876543210")
    pair.boot(1)
    pair.run(10)
    assert not any(host.running for host in pair.hosts)
    assert reason(pair, 0) == "rank 1 at 10.100.0.2 is of another generation (ba9876543210); deploy again"


def test_a_new_generation_starts_with_a_new_budget(pair: Group) -> None:
    pair.end(0)
    pair.run(1)
    pair.serve()
    epoch = pair.hosts[0].state.epoch
    for rank, host in enumerate(pair.hosts):
        host.leaving = True
        pair.run(5)
        host.spec = make_spec(rank, generation="ba9876543210")
    pair.boot()
    pair.serve()
    assert (pair.hosts[0].state.restarts, pair.hosts[0].state.failures) == (0, ())
    assert pair.hosts[0].state.epoch > epoch


# Memory


def test_u02_memory_under_the_floor_stops_the_engine_on_the_host_itself() -> None:
    group = Group(restart_limit=0)
    group.hosts[0].healthy = False
    group.boot()
    group.run_until(lambda: group.phases() == ["loading", "loading"])
    group.story.clear()
    for available in (88, 61, 33, 14, 7):
        group.hosts[1].memory = memory(available)
        group.run(1)
        assert group.story == []
    group.hosts[1].memory = memory(5)
    group.cut = {1}
    group.turn()
    assert group.story[:2] == ["r1 kill", "r1 evidence memory-floor"]
    assert reason(group, 1) == "memory available 5.0 GiB is under the floor of 6.0 GiB"


def test_u05_a_start_waits_until_the_memory_of_the_old_engine_is_back() -> None:
    group = Group(1, memory_floor=2 * GIB)
    group.boot()
    group.serve()
    group.end(0)
    group.story.clear()
    start = group.now
    # 0.7 of 120 GiB and the floor of 2 GiB: 86 GiB.
    for seconds, available in ((20, 9), (45, 31), (60, 74)):
        group.hosts[0].memory = memory(available)
        group.run(start + seconds - group.now)
        assert "r0 start" not in group.story
        assert group.phases() == ["memory"]
    group.hosts[0].memory = memory(104)
    group.turn()
    assert group.story[-1] == "r0 start"


def test_a_start_is_tried_when_memory_does_not_come_back_in_time() -> None:
    group = Group(1, memory_wait=30)
    group.hosts[0].memory = memory(50)
    group.boot()
    group.run(29)
    assert group.story == []
    group.run(2)
    assert group.story == ["r0 start"]


# Budget and back-off


def test_restarts_wait_longer_each_time() -> None:
    group = Group(1, restart_limit=10, restart_window=10_000)
    group.boot()
    group.serve()
    waits = []
    for _failure in range(6):
        group.end(0)
        group.turn()
        waits.append(group.serve())
    assert [round(wait, -1) if wait > 10 else wait // 5 for wait in waits] == [0, 1, 20, 30, 60, 60]


def test_old_failures_do_not_count() -> None:
    group = Group(1, restart_limit=1, restart_window=100)
    group.boot()
    for _failure in range(5):
        group.serve()
        group.run(200)
        group.end(0)
        group.turn()
    group.serve()
    assert group.hosts[0].state.restarts == 5


# Anything, in any order


@pytest.mark.parametrize("world_size", [2, 3])
@pytest.mark.parametrize("seed", range(10))
def test_whatever_happens_the_group_comes_back(seed: int, world_size: int) -> None:
    """Random faults; the pretended group itself checks that epochs grow and that rank 0 starts last."""
    chance = random.Random(seed)
    group = Group(world_size, restart_limit=10_000, memory_wait=20, start_timeout=60)
    group.boot()
    for _fault in range(40):
        rank = chance.randrange(world_size)
        host = group.hosts[rank]
        fault = chance.choice(["end", "power", "crash", "cut", "docker", "hand", "linger", "leave", "memory", "disk"])
        if fault == "end":
            group.end(rank, chance.choice([0, 1, 137]))
        elif fault == "power":
            group.power_off(rank)
        elif fault == "crash":
            group.crash_supervisor(rank)
        elif fault == "cut":
            group.cut ^= {rank}
        elif fault == "docker":
            host.docker_answers = not host.docker_answers
        elif fault == "hand":
            group.start_by_hand(rank)
        elif fault == "linger":
            host.lingers = chance.choice([0, 2, 12, 100])
        elif fault == "leave":
            host.leaving = True
        elif fault == "memory":
            host.memory = memory(chance.choice([3, 50, 110]))
        elif chance.random() < 0.2:
            host.disk = ""
        group.run(chance.choice([0.25, 0.5, 1, 2, 4, 8, 20]))
        for dead in [host for host in group.hosts if not host.supervised]:
            if chance.random() < 0.5:
                group.boot(dead.spec.rank)
    for host in group.hosts:
        host.docker_answers, host.memory, host.lingers = True, memory(110), 0
    group.cut = set()
    group.run(1)
    for host in group.hosts:
        if not host.supervised or host.leaving:
            group.boot(host.spec.rank)
    assert group.serve(400) <= 300
