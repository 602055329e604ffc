# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done on a host, from how it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import earlyoom, runtime, texts
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.decide import decide, missing
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.packages import Offer
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.state import (
    CONTAINERD,
    DOCKER,
    EARLYOOM,
    SSH,
    Container,
    Due,
    Seen,
    Wanted,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.units import Unit

COMMAND = tuple(earlyoom.command(3))
WANTED = Wanted(earlyoom=COMMAND, user="dev")
ENGINE, WEB = Container("vllm", gpu=True), Container("web", gpu=False)
MIB = 1024**2
PROGRAMS = {name: f"/usr/bin/{name}" for name in ("docker", "nvidia-ctk", "nvidia-smi")}
# A Spark as it comes: Docker with its runtime, no earlyoom.
FRESH = Seen(
    units={
        SSH: Unit(there=True, active=True, enabled="enabled", pid=10, oom_policy="stop", memlock=8 * MIB),
        DOCKER: Unit(
            True, active=True, enabled="enabled", pid=11, oom_score=-500, oom_policy="continue", memlock=8 * MIB
        ),
        CONTAINERD: Unit(True, active=True, enabled="enabled", pid=12, oom_score=-999, oom_policy="continue"),
    },
    programs=PROGRAMS,
    runtimes=("runc", "nvidia"),
    scores={DOCKER: -500, CONTAINERD: -999},
    groups=("dev",),
    all_groups=("dev", "docker"),
)
OFFER = Offer(new=("earlyoom",))


def prepared(seen: Seen, due: Due) -> Seen:
    """The host after the role has done what was due."""
    settings = {unit: texts.read_drop_in(due.files.get(texts.drop_in_path(unit), "")) for unit in seen.units}
    units = {
        name: replace(
            unit,
            oom_score=int(settings[name].get("OOMScoreAdjust", unit.oom_score)),
            oom_policy=settings[name].get("OOMPolicy", unit.oom_policy),
            memlock=float("inf") if "LimitMEMLOCK" in settings[name] else unit.memlock,
        )
        for name, unit in seen.units.items()
    }
    units[EARLYOOM] = Unit(there=True, active=True, enabled="enabled", pid=13)
    units[texts.CLOCK_UNIT] = Unit(there=True, active=True, enabled="enabled")
    return replace(
        seen,
        units=units,
        files={**seen.files, **due.files},
        programs={**PROGRAMS, "earlyoom": earlyoom.PROGRAM},
        earlyoom=COMMAND,
        scores={**seen.scores, **due.scores},
        groups=("dev", "docker"),
        runtimes=("runc", "nvidia"),
    )


def with_(seen: Seen, name: str, **changes: Any) -> Seen:
    """The host with a changed unit."""
    return replace(seen, units={**seen.units, name: replace(seen.unit(name), **changes)})


def test_a_fresh_host() -> None:
    due = decide(WANTED, FRESH, OFFER)
    assert due.packages == ["earlyoom"]
    assert due.files == {
        texts.LIMITS_PATH: texts.LIMITS,
        texts.drop_in_path(SSH): texts.drop_in({"OOMPolicy": "continue"}),
        texts.drop_in_path(DOCKER): texts.drop_in({"OOMScoreAdjust": "-900", "LimitMEMLOCK": "infinity"}),
        texts.drop_in_path(EARLYOOM): texts.command_drop_in(COMMAND),
    }
    assert due.scores == {DOCKER: -900}
    assert due.notes == {"package:earlyoom": True, f"score:{DOCKER}": -500, "group:dev": True}
    assert due.user == "dev"
    assert due.reload
    assert not (due.docker or due.configure or due.clock or due.earlyoom or due.later or due.impossible)


@pytest.mark.parametrize("wanted", [WANTED, replace(WANTED, clock=2200)])
def test_a_second_run_has_nothing_to_do(wanted: Wanted) -> None:
    again = decide(wanted, prepared(FRESH, decide(wanted, FRESH, OFFER)))
    assert again == Due()


def test_switches_leave_each_part_alone() -> None:
    assert decide(Wanted(memlock=False, oom=False, docker=False), FRESH) == Due()


def test_a_part_that_is_switched_off_later_stays() -> None:
    done = prepared(FRESH, decide(WANTED, FRESH, OFFER))
    assert decide(Wanted(memlock=False, oom=False, docker=False), done) == Due()
    # The drop-in of Docker belongs to two parts.
    assert decide(Wanted(memlock=False, docker=False), done) == Due()


def test_d08_nothing_that_reloads_systemd_is_due_while_a_container_has_the_gpu() -> None:
    due = decide(replace(WANTED, clock=2200), replace(FRESH, running=(ENGINE, WEB)), OFFER)
    assert not (due.packages or due.reload or due.clock or due.earlyoom)
    assert due.later == [
        "earlyoom: not installed while these use the GPU: vllm. Run the playbook stop, and then prepare again.",
        "The GPU's clock is not capped while these use the GPU: vllm. Run the playbook stop, and then prepare again.",
        (
            "systemd takes up new settings of services only when nothing uses the GPU: vllm."
            " Run the playbook stop, and then prepare again."
        ),
    ]
    assert texts.drop_in_path(DOCKER) in due.files
    assert due.scores == {DOCKER: -900}


def test_d08_what_was_put_off_is_due_when_the_engine_is_gone() -> None:
    off = replace(FRESH, running=(ENGINE,))
    waiting = replace(off, files=decide(WANTED, off, OFFER).files, running=())
    waiting = with_(waiting, DOCKER, stale=True)
    due = decide(WANTED, waiting, OFFER)
    assert due.packages == ["earlyoom"]
    assert due.reload


def test_d08_a_container_without_the_gpu_holds_nothing_up() -> None:
    due = decide(WANTED, replace(FRESH, running=(WEB,)), OFFER)
    assert due.reload
    assert due.packages == ["earlyoom"]
    assert due.later == []


def test_d08_a_docker_that_does_not_answer_may_have_engines() -> None:
    due = decide(WANTED, replace(FRESH, running=None, runtimes=None), OFFER)
    assert not due.reload
    assert "Docker does not answer" in due.later[0]


D07 = replace(FRESH, runtimes=("runc", "io.containerd.runc.v2"))
HAS_NVIDIA = {runtime.DAEMON_JSON: '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}'}


@pytest.mark.parametrize(
    ("seen", "packages", "configure", "docker"),
    [
        (replace(D07, files=HAS_NVIDIA), [], False, True),
        (D07, [], True, True),
        (
            replace(D07, programs={"docker": "/usr/bin/docker", "nvidia-smi": "/x"}),
            ["nvidia-container-toolkit"],
            True,
            True,
        ),
        (replace(D07, nvidia=False), [], False, False),
    ],
    ids=["restart only", "configure", "toolkit missing", "no GPU"],
)
def test_d07_the_runtime_is_set_up_where_it_is_missing(
    seen: Seen, packages: list[str], configure: bool, docker: bool
) -> None:
    due = decide(Wanted(), seen, Offer(new=tuple(packages)))
    assert (due.packages, due.configure, due.docker) == (packages, configure, docker)
    assert due.keep == ([runtime.DAEMON_JSON] if configure else [])


def test_d07_docker_is_not_restarted_under_containers() -> None:
    due = decide(Wanted(), replace(D07, files=HAS_NVIDIA, running=(WEB,)))
    assert not due.docker
    assert due.later == [
        (
            "Docker does not know the NVIDIA runtime before it starts anew, and these containers run: web."
            " Stop them, and then: systemctl restart docker."
        )
    ]


def test_d07_docker_from_snap_is_left_alone() -> None:
    due = decide(Wanted(), replace(D07, programs={**PROGRAMS, "docker": "/snap/bin/docker"}))
    assert not (due.packages or due.configure or due.docker)
    assert due.later[0].startswith("Docker is a snap")


def test_docker_is_installed_where_it_is_missing() -> None:
    bare = Seen(programs={"nvidia-smi": "/usr/bin/nvidia-smi"}, runtimes=None, groups=("dev",), all_groups=("dev",))
    wanted = Wanted(user="dev")
    lacking = missing(wanted, bare)
    assert lacking.needed == ("docker.io", "nvidia-container-toolkit")
    assert lacking.optional == ("docker-cli",)
    due = decide(
        wanted, bare, Offer(new=("docker.io", "containerd", "nvidia-container-toolkit"), unknown=("docker-cli",))
    )
    assert due.packages == ["docker.io", "nvidia-container-toolkit"]
    assert due.notes["package:containerd"] is True
    assert due.user == "dev"
    assert due.configure
    assert due.docker
    settings = texts.read_drop_in(due.files[texts.drop_in_path(DOCKER)])
    assert settings == {"OOMScoreAdjust": "-900", "LimitMEMLOCK": "infinity"}


def test_a_package_that_apt_does_not_know() -> None:
    due = decide(WANTED, FRESH, Offer(unknown=("earlyoom",)))
    assert not due.refresh
    assert due.packages == []
    assert texts.drop_in_path(EARLYOOM) not in due.files
    assert due.later == ["earlyoom: apt does not know it. Add the repository that has it, or switch that part off."]


def test_a_package_that_apts_old_lists_lack() -> None:
    due = decide(WANTED, FRESH, Offer(unknown=("earlyoom",)), fresh=False)
    assert due.refresh
    assert due.later == []


def test_an_earlyoom_of_another_place() -> None:
    own = "/usr/local/bin/earlyoom"
    due = decide(WANTED, replace(EARLYOOM_THERE, programs={**PROGRAMS, "earlyoom": own}))
    assert f"ExecStart={own} -r 3600" in due.files[texts.drop_in_path(EARLYOOM)]
    due = decide(WANTED, replace(FRESH, programs={**PROGRAMS, "earlyoom": own}))
    assert texts.drop_in_path(EARLYOOM) not in due.files
    assert due.later[0].startswith("earlyoom has no service")


def test_apt_that_would_do_nothing() -> None:
    due = decide(WANTED, FRESH, Offer(reason="Unmet dependencies."))
    assert due.packages == []
    assert due.later == ["earlyoom cannot be installed, for apt says: Unmet dependencies."]


def test_limits_that_root_may_not_raise_would_end_every_login() -> None:
    due = decide(WANTED, replace(FRESH, capable=False), OFFER)
    assert texts.LIMITS_PATH not in due.files
    assert due.scores == {}
    assert due.impossible == [
        "memlock: root may not raise limits here, and a login with a raised one would fail.",
        f"OOM scores of {DOCKER}: root may not lower them here.",
    ]


def test_no_score_for_the_service_of_sshd() -> None:
    """It would reach every program of every login."""
    assert "OOMScoreAdjust" not in decide(WANTED, FRESH, OFFER).files[texts.drop_in_path(SSH)]


EARLYOOM_THERE = replace(
    FRESH,
    units={**FRESH.units, EARLYOOM: Unit(there=True, active=True, enabled="enabled", pid=13)},
    programs={**PROGRAMS, "earlyoom": earlyoom.PROGRAM},
    earlyoom=("/usr/bin/earlyoom", "-r", "3600"),
)


def test_an_earlyoom_of_the_user_is_set_up_and_remembered() -> None:
    due = decide(WANTED, with_(EARLYOOM_THERE, EARLYOOM, enabled="disabled", active=False))
    assert due.earlyoom
    assert due.notes["earlyoom"] == {"enabled": False, "active": False}
    assert due.packages == []


def test_an_earlyoom_that_runs_with_other_settings() -> None:
    files = {texts.drop_in_path(EARLYOOM): texts.command_drop_in(COMMAND)}
    assert decide(WANTED, replace(EARLYOOM_THERE, files=files)).earlyoom


def test_a_masked_earlyoom_is_left_alone() -> None:
    due = decide(WANTED, with_(EARLYOOM_THERE, EARLYOOM, there=False, masked=True, active=False))
    assert not due.earlyoom
    assert texts.drop_in_path(EARLYOOM) not in due.files
    assert due.later[0].startswith("earlyoom is masked")


def test_a01_a_user_that_is_missing() -> None:
    due = decide(WANTED, replace(FRESH, groups=None), OFFER)
    assert due.user == ""
    assert due.later == ["The group docker: there is no user dev. Correct host_docker_user."]


def test_a01_root_needs_no_group() -> None:
    assert decide(replace(WANTED, user="root"), FRESH, OFFER).user == ""


def test_the_clock() -> None:
    wanted = Wanted(memlock=False, oom=False, clock=2200)
    due = decide(wanted, FRESH)
    assert due.clock
    assert "ExecStart=/usr/bin/nvidia-smi -lgc 0,2200\n" in due.files[texts.CLOCK_PATH]
    without = {name: path for name, path in PROGRAMS.items() if name != "nvidia-smi"}
    assert not decide(wanted, replace(FRESH, programs=without)).clock
