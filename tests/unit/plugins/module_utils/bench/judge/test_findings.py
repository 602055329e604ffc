# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of what is found in a run, each with one fault."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.findings import findings_of
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge import watched_run
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.judge.watched_run import (
    BEGAN,
    GIB,
    SECONDS,
    round_of,
)

Run = dict[str, Any]


def run() -> Run:
    """A healthy run."""
    return {"order": watched_run.order(), "rounds": watched_run.rounds(), "snapshots": watched_run.snapshots()}


def found(spoilt: Run) -> list[dict[str, str]]:
    return findings_of(spoilt["order"], spoilt["rounds"], spoilt["snapshots"])


def on(host: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Run], None]:
    """Change each sample of a host."""

    def spoil(spoilt: Run) -> None:
        for sample in spoilt["snapshots"][host]["samples"]:
            change(sample)

    return spoil


def late(host: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Run], None]:
    """Change the samples of a host from the middle of the measured time on."""

    def spoil(spoilt: Run) -> None:
        for sample in spoilt["snapshots"][host]["samples"]:
            if sample["t"] >= BEGAN + SECONDS / 2:
                change(sample)

    return spoil


def in_rounds(target: str, **values: Any) -> Callable[[Run], None]:
    """Change what rounds of a target have, by keys joined with two underscores."""

    def spoil(spoilt: Run) -> None:
        for one in spoilt["rounds"]:
            if one["target"] != target or one["warmup"]:
                continue
            for path, value in values.items():
                place, *keys = path.split("__")
                if not keys:
                    one[place] = value
                elif place == "summary":
                    one[place][keys[0]]["value"] = value
                else:
                    one[place][keys[0]] = value

    return spoil


def still(sample: dict[str, Any]) -> None:
    sample["rdma"] = {name: {"rx": 7, "tx": 7} for name in sample["rdma"]}


def over_sockets(sample: dict[str, Any]) -> None:
    still(sample)
    sample["net"]["enp1s0f0np0"] = {"rx": 5_000_000 * int(sample["t"]), "tx": 0}


def one_half(sample: dict[str, Any]) -> None:
    sample["rdma"]["roceP2p1s0f0"] = {"rx": 9, "tx": 9}


def without_rdma(spoilt: Run) -> None:
    for host in watched_run.HOSTS:
        on(host, lambda sample: sample.update(rdma={}))(spoilt)


def unseen(spoilt: Run) -> None:
    spoilt["snapshots"]["spark2"] = None


def broken_off(spoilt: Run) -> None:
    samples = spoilt["snapshots"]["spark2"]["samples"]
    spoilt["snapshots"]["spark2"]["samples"] = [one for one in samples if one["t"] < BEGAN]


def not_asked(spoilt: Run) -> None:
    spoilt["snapshots"] = None


def sampler_said(spoilt: Run) -> None:
    spoilt["snapshots"]["spark2"]["errors"] = ["nvidia-smi has said nothing for 15 s."]


def dear_sampler(spoilt: Run) -> None:
    spoilt["snapshots"]["spark1"]["cost"] = {"cpu_s": 2.0, "seconds": 95.0}


def drafts(spoilt: Run) -> None:
    in_rounds("main-0", server__spec_drafted=1000, server__spec_accepted=620)(spoilt)


NO_GPU = dict.fromkeys(("util_pct", "power_w", "temp_c", "clock_mhz", "memory_clock_mhz"))

SPOILT = {
    "idle-rank": (
        on("spark2", lambda sample: sample["gpu"].update(util_pct=0.0)),
        "rank_idle",
        "error",
        (
            "Rank 1 of main-0 on spark2: found its GPU at 0 % in the measured time (median of 61 samples) beside "
            "rank 0 on spark1 at 96 %, wanted all ranks at work. See docker logs dgxspark-main-0-r1 on spark2, and "
            "whether"
        ),
    ),
    "rdma-still": (
        on("spark1", still),
        "rdma_still",
        "warning",
        "main-0 on spark1: found 0.0 MB through RDMA in the measured time, wanted the traffic of NCCL there. Look for",
    ),
    "sockets": (
        on("spark2", over_sockets),
        "rdma_still",
        "warning",
        (
            "main-0 on spark2: found 0.0 MB through RDMA in the measured time beside 310 MB of its network interfaces, "
            "wanted the traffic of NCCL there. NCCL runs on sockets? Look for NET/IB or NET/Socket"
        ),
    ),
    "one-twin": (
        on("spark1", one_half),
        "rdma_one_twin",
        "warning",
        "main-0 on spark1: found all data of the port through rocep1s0f0 and none through roceP2p1s0f0, wanted both",
    ),
    "no-rdma-counters": (
        without_rdma,
        "rdma_unknown",
        "info",
        "main-0: spark1, spark2 show no RDMA counters, so these cannot say whether NCCL used RDMA.",
    ),
    "memory-short": (
        late("spark1", lambda sample: sample["mem"].update(available=3 * GIB)),
        "memory_short",
        "warning",
        "spark1: found only 3.0 GiB of memory available, wanted 4.0 GiB or more all the time. Lower",
    ),
    "swap-used": (
        late("spark1", lambda sample: sample["mem"].update(swap_used=2 * GIB)),
        "swap_used",
        "warning",
        "spark1: found 2.0 GiB of swap in use, 2.0 GiB of it since the start, wanted none. Switch swap off",
    ),
    "swap-used-before": (
        on("spark1", lambda sample: sample["mem"].update(swap_used=GIB)),
        "swap_used",
        "warning",
        "spark1: found 1.0 GiB of swap in use, wanted none. Switch swap off",
    ),
    "memory-stall": (
        late("spark2", lambda sample: sample["psi"].update(memory_full=12.5)),
        "memory_stall",
        "warning",
        "spark2: found all tasks waiting for memory for up to 12.5 % of ten seconds, wanted 0 %.",
    ),
    "clock-fell": (
        late("spark1", lambda sample: sample["gpu"].update(clock_mhz=1500.0)),
        "gpu_clock_fell",
        "warning",
        "spark1: found a GPU clock that fell under load from 2411 to 1500 MHz, wanted 1929 MHz or more.",
    ),
    "slowed-by-heat": (
        late("spark1", lambda sample: sample["gpu"].update(throttle=["sw_power_cap", "hw_thermal_slowdown"])),
        "gpu_slowed",
        "warning",
        (
            "spark1: found its GPU slowed down by hardware or heat in 51 % of the measured samples "
            "(hw_thermal_slowdown 51 %), wanted 5 % at most. Give it air"
        ),
    ),
    "hot": (
        late("spark1", lambda sample: sample["gpu"].update(temp_c=93.0)),
        "gpu_hot",
        "warning",
        "spark1: found a GPU of up to 93 °C, wanted 90 °C at most.",
    ),
    "gpu-says-nothing": (
        on("spark1", lambda sample: sample.update(gpu=dict(NO_GPU))),
        "gpu_unknown",
        "info",
        "spark1: nvidia-smi gave no figure of the GPU, so use, clock, power and heat are not known.",
    ),
    "restarted": (
        late("spark2", lambda sample: sample["containers"]["dgxspark-main-0-r1"].update(cpu_s=sample["t"] - 1020)),
        "container_restarted",
        "error",
        "dgxspark-main-0-r1 on spark2: found a container that was started again during the run, wanted one that runs",
    ),
    "gone": (
        late("spark2", lambda sample: sample["containers"].clear()),
        "container_gone",
        "error",
        "dgxspark-main-0-r1 on spark2: found no container any more when the run ended, wanted one that runs",
    ),
    "host-not-seen": (
        unseen,
        "host_not_seen",
        "warning",
        "spark2: found no samples of the measured time, wanted one each second.",
    ),
    "sampler-ended-early": (
        broken_off,
        "host_not_seen",
        "warning",
        "spark2: found no sample of the measured time, wanted one each second.",
    ),
    "sampler-error": (sampler_said, "sampler_error", "warning", "spark2: nvidia-smi has said nothing for 15 s."),
    "sampler-cost": (
        dear_sampler,
        "sampler_cost",
        "warning",
        "spark1: found a sampler that takes 2.1 % of a core, wanted under 1 %.",
    ),
    "preemptions": (
        in_rounds("main-0", server__preemptions=12),
        "preemptions",
        "warning",
        "main-0: found 12 requests put back by the engine with its KV cache up to 40 % full, wanted none.",
    ),
    "cached-cold-case": (
        in_rounds("gateway", summary__cache_hit_rate=0.37),
        "cold_case_cached",
        "error",
        "short-en at gateway: found up to 37.0 % of a round's prompt tokens in the prefix cache, wanted 1 % at most",
    ),
    "cached-cold-case-behind-a-head": (
        in_rounds("gateway", summary__cache_hit_rate=0.37, server__head_tokens=70),
        "cold_case_cached",
        "error",
        "short-en at gateway: found up to 37.0 % of a round's prompt tokens (without the 70 of the chat template) in ",
    ),
    "foreign-load": (
        in_rounds("main-0", server__foreign_tokens=700, server__generation_tokens=12000),
        "foreign_load",
        "warning",
        "main-0: found up to 700 tokens made for somebody else in 1 of 1 rounds, wanted an engine that works for this",
    ),
    "speculation": (
        drafts,
        "speculation",
        "info",
        "main-0: the engine accepted 62 % of 1000 drafted tokens; more is faster.",
    ),
    "gateway-buffers": (
        in_rounds("gateway", summary__merged_share=0.98),
        "gateway_buffers",
        "warning",
        "gateway: found 98 % of the gaps between its events under 1 ms, 1 % without it, wanted a stream that is passed",
    ),
    "invalid-rounds": (
        in_rounds("main-0", valid=False, invalid_reasons=["The client's loop was 7 ms late."]),
        "rounds_invalid",
        "warning",
        "main-0: found 1 of 1 rounds invalid, wanted none. The client's loop was 7 ms late.",
    ),
    "late-client": (
        in_rounds("main-0", valid=False, invalid_reasons=["the client's stamps are 7 ms late", "it was busy"]),
        "rounds_invalid",
        "warning",
        "main-0: found 1 of 1 rounds invalid, wanted none. The client's stamps are 7 ms late. It was busy.",
    ),
    "errors": (
        in_rounds("main-0", errors={"http_5xx": 3}, error_samples=[{"kind": "http_5xx", "message": "bad\n gateway"}]),
        "errors",
        "warning",
        "main-0: found 3 failed requests: http_5xx (bad gateway), wanted none. See the section on failures.",
    ),
    "all-failed": (
        in_rounds("gateway", errors={"connect": 40}, summary__error_rate=1.0),
        "errors",
        "error",
        "gateway: found 40 failed requests: connect, wanted none. Take no figure of it for one of a working server.",
    ),
}


def test_a_healthy_run() -> None:
    assert found(run()) == []


@pytest.mark.parametrize("name", SPOILT)
def test_one_fault_is_found_alone(name: str) -> None:
    spoil, code, severity, text = SPOILT[name]
    spoilt = run()
    spoil(spoilt)
    assert [(one["code"], one["severity"], one["text"][: len(text)]) for one in found(spoilt)] == [
        (code, severity, text)
    ]


@pytest.mark.parametrize(
    ("until", "held", "codes"),
    [
        (SECONDS, ["sw_power_cap"], []),  # all the time, by the power mode: shown in the table of hosts
        (3, ["hw_slowdown"], []),  # 3 of 61 samples
        (4, ["hw_slowdown"], ["gpu_slowed"]),
        (4, None, []),
    ],
)
def test_a_clock_held_down_for_a_moment_or_by_the_power_cap_is_no_fault(
    until: int, held: list[str] | None, codes: list[str]
) -> None:
    spoilt = run()
    for sample in spoilt["snapshots"]["spark1"]["samples"]:
        sample["gpu"]["throttle"] = held if BEGAN <= sample["t"] < BEGAN + until else []
    assert [one["code"] for one in found(spoilt)] == codes


def nothing_but_the_gateway(spoilt: Run) -> None:
    """The gateway is the only target: ranks are known from containers."""
    spoilt["order"]["targets"] = spoilt["order"]["targets"][1:]
    spoilt["rounds"] = spoilt["rounds"][2:]


@pytest.mark.parametrize("foreign", [0, 64, 240])
def test_who_supervises_an_engine_is_no_foreign_load(foreign: int) -> None:
    spoilt = run()
    in_rounds("main-0", server__foreign_tokens=foreign, server__generation_tokens=12000)(spoilt)
    assert "foreign_load" not in [one["code"] for one in found(spoilt)]


def test_an_idle_rank_behind_a_gateway_is_known_by_its_container() -> None:
    spoilt = run()
    nothing_but_the_gateway(spoilt)
    on("spark2", lambda sample: sample["gpu"].update(util_pct=1.0))(spoilt)
    assert [one["text"][:30] for one in found(spoilt)] == ["Rank 1 of main-0 on spark2: fo"]


def two_replicas(spoilt: Run) -> None:
    """TP=1 twice: the hosts have nothing to do with each other."""
    spoilt["order"]["targets"] = [
        {"name": f"main-{number}", "via": "direct", "replica": f"main-{number}", "hosts": [host], "deployment": "main"}
        for number, host in enumerate(watched_run.HOSTS)
    ]
    on("spark2", lambda sample: sample.update(containers={"dgxspark-main-1-r0": {"cpu_s": 1.0, "memory": 1}}))(spoilt)


def test_a_replica_that_idles_while_another_one_is_measured_is_no_fault() -> None:
    spoilt = run()
    two_replicas(spoilt)
    spoilt["rounds"] = [round_of("main-0", BEGAN, SECONDS)]
    on("spark2", lambda sample: sample["gpu"].update(util_pct=0.0))(spoilt)
    on("spark2", still)(spoilt)
    assert found(spoilt) == []


def test_an_experiment_on_deployments_replaces_containers_and_that_is_no_fault() -> None:
    spoilt = run()
    middle = BEGAN + SECONDS / 2
    spoilt["order"]["targets"] = [
        {
            "name": "tp2: main-0",
            "via": "direct",
            "replica": "main-0",
            "hosts": ["spark1", "spark2"],
            "deployment": "tp2",
        },
        {"name": "tp1: main-0", "via": "direct", "replica": "main-0", "hosts": ["spark1"], "deployment": "tp1"},
    ]
    spoilt["rounds"] = [round_of("tp2: main-0", BEGAN, 20.0), round_of("tp1: main-0", middle, 20.0)]

    def redeploy(sample: dict[str, Any]) -> None:
        for container in sample["containers"].values():
            container["cpu_s"] -= 70
        still(sample)

    late("spark1", redeploy)(spoilt)
    late("spark2", lambda sample: sample["containers"].clear())(spoilt)
    late("spark2", lambda sample: sample["gpu"].update(util_pct=0.0))(spoilt)
    assert found(spoilt) == []


def test_rounds_that_nobody_watched_are_counted() -> None:
    """As of a run that went on when the samples of its first part were gone."""

    def second_half(spoilt: Run) -> None:
        seen = spoilt["snapshots"]["spark2"]
        seen["samples"] = [sample for sample in seen["samples"] if sample["t"] > BEGAN + SECONDS / 2 + 5]

    spoilt = run()
    second_half(spoilt)
    (partly,) = [one for one in found(spoilt) if one["code"] == "host_partly_seen"]
    assert partly["severity"] == "warning"
    assert partly["text"].startswith(
        "spark2: found 1 of 2 rounds played while nobody watched it, wanted a sample each second. Take its memory"
    )


def test_a_round_between_two_samples_was_watched() -> None:
    spoilt = run()
    for one in spoilt["rounds"][1:]:
        one.update(began=one["began"] + 0.4, seconds=0.2)
    assert "host_partly_seen" not in {one["code"] for one in found(spoilt)}


def test_errors_come_first_and_each_once() -> None:
    spoilt = run()
    for name in ("speculation", "memory-short", "idle-rank", "sampler-error"):
        SPOILT[name][0](spoilt)
    spoilt["snapshots"]["spark2"]["errors"] *= 2
    assert [one["severity"] for one in found(spoilt)] == ["error", "warning", "warning", "info"]


def test_a_run_that_nobody_watched_is_silent_of_hosts() -> None:
    spoilt = run()
    not_asked(spoilt)
    assert found(spoilt) == []


def test_what_a_result_keeps_of_samples_gives_the_same() -> None:
    spoilt = run()
    for name in ("idle-rank", "gone", "memory-short"):
        SPOILT[name][0](spoilt)
    expected = found(spoilt)
    assert len(expected) == 3
    for one in spoilt["snapshots"].values():
        samples = one.pop("samples")
        end = BEGAN + SECONDS
        one["before"] = [sample for sample in samples if sample["t"] < BEGAN][-1]
        one["during"] = [sample for sample in samples if BEGAN <= sample["t"] <= end]
        one["after"] = next(sample for sample in samples if sample["t"] > end)
    assert found(spoilt) == expected


def mangled(value: Any, chance: random.Random, often: float) -> Any:
    """A copy in which keys are missing, or hold nothing, or something of another kind."""
    if chance.random() < often:
        return chance.choice([None, "", "x", 0, -1.5, float("nan"), True, [], {}, [None], {"x": None}])
    if isinstance(value, Mapping):
        return {key: mangled(one, chance, often) for key, one in value.items() if chance.random() >= often}
    if isinstance(value, list):
        return [mangled(one, chance, often) for one in value if chance.random() >= often]
    return value


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_missing_is_not_found_and_no_error(seed: int) -> None:
    chance = random.Random(seed)
    spoilt = run()
    for spoil, _code, _severity, _text in chance.sample(list(SPOILT.values()), 3):
        try:
            spoil(spoilt)
        except (KeyError, TypeError):
            continue  # another one took away what it spoils
    spoilt = {name: mangled(value, chance, 0.003 * (1 + seed)) for name, value in spoilt.items()}
    for one in found(spoilt):
        assert set(one) == {"code", "severity", "text"}
        assert "None" not in one["text"]


@pytest.mark.parametrize("key", ["order", "rounds", "snapshots"])
@pytest.mark.parametrize("value", [None, {}, []])
def test_nothing_at_all(key: str, value: Any) -> None:
    spoilt = run() | {key: value}
    assert all(one["code"] == "host_not_seen" for one in found(spoilt))
