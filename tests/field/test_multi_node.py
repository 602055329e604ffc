# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Area 6: several nodes. Input and expectation are those of the fault's row."""

from __future__ import annotations

import ipaddress
import json
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import (
    fabric,
    host_problems,
    plan,
    readiness,
    symptoms,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks import across, kernel, machine, network
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Peer
from ansible_collections.dgxspark.serving.plugins.module_utils.containers import Container
from ansible_collections.dgxspark.serving.plugins.module_utils.engines import ray_rank
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import results, verdict
from ansible_collections.dgxspark.serving.plugins.module_utils.facts import logind
from ansible_collections.dgxspark.serving.plugins.module_utils.host_problems import Owner
from ansible_collections.dgxspark.serving.plugins.module_utils.images import probe
from ansible_collections.dgxspark.serving.plugins.module_utils.ports import Listener
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.progress import Progress, Sample, look
from tests.field.inventories import environments, faults, pair
from tests.field.looked import answer, captured
from tests.unit.plugins.module_utils.supervisor.pretended_group import Group

RUNNING = Container("dgxspark-tp2-0-r0", "running", 0, False, "tp2", "tp2-0", "http://192.0.2.11:8000")


REPLICA = [{"name": "tp2-0", "deployment": "tp2", "hosts": ["spark-a", "spark-b"]}]
LINK = {"interface": "enp1s0f0np0", "address": "192.0.2.11/24", "rdma_device": "rocep1s0f0"}
TWIN = {"interface": "enP2p1s0f0np0", "address": "203.0.113.11/24", "rdma_device": "roceP2p1s0f0"}
PEER = Peer("spark-b", "192.0.2.12", "enp1s0f0np0")


def addresses(interfaces: dict[str, str]) -> str:
    """``ip -json address`` of a host with one address on each interface; an empty one is none."""
    rows = []
    for name, address in interfaces.items():
        local, _slash, length = address.partition("/")
        own = [{"family": "inet", "local": local, "prefixlen": int(length)}] if address else []
        rows.append(
            {
                "ifname": name,
                "flags": ["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
                "mtu": 9000,
                "operstate": "UP",
                "addr_info": own,
            }
        )
    return json.dumps(rows)


def across_hosts(name: str, facts: dict[str, dict[str, Any]]) -> tuple[str, Check]:
    """The one finding of a check that compares the hosts of the pair."""
    [found] = [finding for finding in across.checks(facts, REPLICA) if finding[1].id == name]
    return found


def test_n01_builds_that_differ_are_found_before_they_hang() -> None:
    """rank0: torch 2.10.0, rank1: torch 2.9.1."""
    facts = {host: {"versions": {"vllm": "0.32.0", "torch": torch}} for host, torch in TORCH.items()}
    host, check = across_hosts("across.versions", facts)
    assert (host, check.status, check.found) == ("spark-b", "fail", "torch 2.9.1")
    assert check.wanted == "torch 2.10.0, as on spark-a"


TORCH = {"spark-a": "2.10.0", "spark-b": "2.9.1"}


def test_n01_no_new_token_for_120_s_is_a_hang_and_both_logs_are_kept() -> None:
    """rank0: gpu_util 100, rank1: gpu_util 0, no new token for 120 s."""
    group = Group()
    group.boot()
    group.serve()
    progress = Progress()
    for second in range(0, 126, 5):
        progress = look(progress, Sample(running=1, waiting=0, tokens=4711.0, generated=4711.0), float(second))
    group.hosts[0].hung = progress.hung(120)
    assert group.hosts[0].hung == "hung: 1 requests running and 0 waiting, and no token for 125 s"
    group.story.clear()
    group.run(10)
    assert "r0 evidence hung" in group.story
    assert "r1 evidence group-failed" in group.story


def test_n02_a_lost_semaphore_in_the_log_of_rank_1_names_remove_ipc() -> None:
    [found] = symptoms.diagnose(["FileNotFoundError in SemLock._rebuild"])
    assert found.id == "semlock"
    assert "loginctl enable-linger" in found.remedy
    assert "RemoveIPC=no" in found.remedy


@pytest.mark.parametrize(("linger", "status"), [(False, "warn"), (True, "pass")], ids=["Linger=no", "Linger=yes"])
def test_n02_what_a_session_takes_with_it_is_known_before(linger: bool, status: str) -> None:
    """loginctl show-user dev -p Linger -> Linger=no; #RemoveIPC=yes (default)."""
    removes = logind.removes_ipc("[Login]\n#RemoveIPC=yes\n")
    assert removes
    check = kernel.remove_ipc(removes, "dev", linger, 2)
    assert check.status == status
    if not linger:
        assert "loginctl enable-linger dev" in check.remedy
        assert "RemoveIPC=no" in check.remedy
    # Our containers are root's, which logind leaves alone.
    assert answer(kernel, "kernel.remove_ipc", captured(), world_size=2).status == "pass"


def test_n03_an_injected_eth0_is_found_to_be_no_interface_of_the_host() -> None:
    here = {"lo": ["127.0.0.1"], "enP7s7": ["198.51.100.26"], "enp1s0f0np0": ["192.0.2.11"]}
    [problem] = host_problems.links([{"interface": "eth0", "address": "192.0.2.11/24"}], here)
    assert problem.found == "no interface eth0; there are enP7s7, enp1s0f0np0; enp1s0f0np0 has 192.0.2.11"
    names = environments(pair())["spark-a"]
    assert (names["GLOO_SOCKET_IFNAME"], names["NCCL_SOCKET_IFNAME"]) == ("enp1s0f0np0", "enp1s0f0np0")


def test_n03_the_way_to_the_peer_is_the_links_and_no_default_route_is_needed() -> None:
    here = addresses({"enP7s7": "198.51.100.26/24", "enp1s0f0np0": "192.0.2.11/24"})
    to_peer = json.dumps([{"dst": "192.0.2.12", "dev": "enp1s0f0np0", "prefsrc": "192.0.2.11", "flags": []}])
    raw = captured(**{"ip address": here, "route 192.0.2.12": to_peer})
    want = {"world_size": 2, "links": [LINK], "peers": [PEER]}
    for word in ("interface", "address", "route"):
        assert answer(network, f"network.{word}", raw, **want).status == "pass", word
    eth0 = answer(network, "network.interface", raw, world_size=2, links=[{**LINK, "interface": "eth0"}])
    assert (eth0.status, eth0.found) == (
        "fail",
        "no interface eth0; there are enP7s7, enp1s0f0np0; enp1s0f0np0 has 192.0.2.11",
    )


@pytest.mark.parametrize("backend", ["mp", "ray"])
def test_n04_each_rank_has_its_own_interface(backend: str) -> None:
    a = {"fabric_links": [{"interface": "enP2p1s0f1np1", "address": "192.0.2.11/24"}]}
    b = {"fabric_links": [{"interface": "enp1s0f0np0", "address": "192.0.2.12/24"}]}
    found = environments(pair(a, b, extra={"backend": backend}))
    for name in ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"):
        assert [found[host][name] for host in ("spark-a", "spark-b")] == ["enP2p1s0f1np1", "enp1s0f0np0"]


@pytest.mark.parametrize("backend", ["mp", "ray"])
def test_n06_no_rank_looks_up_a_host_name(backend: str) -> None:
    for rank in plan.make(pair(extra={"backend": backend}))["ranks"].values():
        words = " ".join([*rank["container"]["command"], *rank["container"]["env"].values()])
        assert not [name for name in ("spark-a", "spark-b", "localhost", "127.0.0.1") if name in words]
        assert rank["container"]["env"]["VLLM_HOST_IP"] in ("192.0.2.11", "192.0.2.12")


@pytest.mark.parametrize(("world_size", "status"), [(2, "warn"), (1, "pass")])
def test_n06_a_name_that_means_loopback_is_warned_of(world_size: int, status: str) -> None:
    files = {"/etc/hosts": "127.0.0.1 localhost\n127.0.1.1 spark-a\n", "/proc/sys/kernel/hostname": "spark-a\n"}
    check = answer(machine, "machine.hostname", captured(files), world_size=world_size)
    assert check.status == status
    assert ("127.0.1.1" in check.found) == (status == "warn")


# ss -ltnp: LISTEN 0 4096 *:29500 users:(("python3",pid=4242,fd=33)), and LISTEN [::]:29500
OLD_RUN = [Listener(ipaddress.ip_address("0.0.0.0"), 29500, 33), Listener(ipaddress.ip_address("::"), 29500, 34)]


@pytest.mark.parametrize("listener", OLD_RUN, ids=["*:29500", "[::]:29500"])
def test_n08_a_master_port_of_an_old_run_names_its_process(listener: Listener) -> None:
    ranks = plan.make(pair(everywhere={"serving_master_port": 29500}))["ranks"]
    owners = {listener.inode: Owner(4242, "python3")}
    [problem] = host_problems.ports(ranks["spark-a"]["ports"], [listener], owners, {}, {}, [])
    assert problem.found == "port 29500 taken by python3 (process 4242)"
    assert host_problems.ports(ranks["spark-b"]["ports"], [listener], owners, {}, {}, []) == []


def test_n08_our_own_run_is_no_problem_when_it_is_deployed_again() -> None:
    wanted = plan.make(pair(everywhere={"serving_master_port": 29500}))["ranks"]["spark-a"]["ports"]
    ours = {"c" * 64: "dgxspark-tp2-0-r0"}
    owners = {33: Owner(4242, "python3", "c" * 64)}
    assert host_problems.ports(wanted, OLD_RUN[:1], owners, ours, ours, []) == []


def test_n09_the_worker_of_a_dead_head_is_started_anew_too() -> None:
    """vllm-rank0: exited(1); vllm-rank1: running, its log says that the connection was likely closed."""
    group = Group()
    group.boot()
    group.serve()
    before = [host.starts for host in group.hosts]
    group.end(0, 1)
    group.serve()
    assert [host.starts for host in group.hosts] == [starts + 1 for starts in before]
    said = symptoms.diagnose(["recvValue failed ... Connection was likely closed"])
    assert [diagnosis.id for diagnosis in said] == ["peer-closed"]


def test_n10_health_200_without_a_token_for_60_s_is_not_ready() -> None:
    answer = readiness.Generation(error="the probe generation timed out after 60 s")
    seen = readiness.Observation(RUNNING, 200, ["tiny"], answer, asking=60.0)
    said = readiness.judge(seen, readiness.Wanted("tiny"))
    assert said.state == readiness.FAILED
    assert said.detail == ("/health answers 200, but one generation failed: the probe generation timed out after 60 s")
    # While it is asked, and before, nothing is ready either.
    for waiting in (readiness.Observation(RUNNING, 200, ["tiny"], asking=59.0), readiness.Observation(RUNNING, 200)):
        assert readiness.judge(waiting, readiness.Wanted("tiny")).state == readiness.WAITING


def test_n11_ray_nodes_of_other_addresses_end_rank_0_before_the_engine() -> None:
    nodes = [
        {"NodeManagerAddress": "198.51.100.21", "Alive": True, "Resources": {"GPU": 1.0}},
        {"NodeManagerAddress": "192.0.2.12", "Alive": True, "Resources": {"GPU": 1.0}},
    ]
    with pytest.raises(ray_rank.RankError, match="found the nodes 192.0.2.12 .*, 198.51.100.21 .*, wanted 192.0.2.11"):
        ray_rank.verdict(nodes, ["192.0.2.11", "192.0.2.12"])
    nodes[0]["NodeManagerAddress"] = "192.0.2.11"
    assert ray_rank.verdict(nodes, ["192.0.2.11", "192.0.2.12"])[0]


def test_n11_ray_is_started_with_the_address_that_the_engine_has() -> None:
    for number, rank in enumerate(plan.make(pair(extra={"backend": "ray"}))["ranks"].values()):
        command = rank["container"]["command"]
        nodes = command[command.index("--nodes") + 1].split(",")
        assert nodes[number] == rank["container"]["env"]["VLLM_HOST_IP"]


def test_n14_an_address_for_both_hosts_is_refused_and_a_foreign_one_found() -> None:
    [line] = faults(pair(everywhere={"serving_env": {"VLLM_HOST_IP": "192.0.2.11"}}))
    assert line.startswith("serving_env.VLLM_HOST_IP")
    assert "'192.0.2.11' for all 2 ranks, wanted an address of its own for each rank" in line
    twice = {"fabric_links": [{"interface": "enp1s0f0np0", "address": "192.0.2.11/24"}]}
    assert any(
        "on host spark-b: found 192.0.2.11, which spark-a has too" in line for line in faults(pair(twice, twice))
    )
    [problem] = host_problems.links(twice["fabric_links"], {"enp1s0f0np0": ["192.0.2.12"]})
    assert problem.found == "enp1s0f0np0 with 192.0.2.12; this host does not own 192.0.2.11"


def test_n14_the_preflight_finds_an_address_that_is_not_the_hosts() -> None:
    raw = captured(**{"ip address": addresses({"enp1s0f0np0": "192.0.2.12/24"})})
    check = answer(network, "network.address", raw, world_size=2, links=[LINK])
    assert (check.status, check.found) == (
        "fail",
        "enp1s0f0np0 with 192.0.2.12/24; this host does not own 192.0.2.11",
    )
    same = {"network": {"mtu": {}, "addresses": {"enp1s0f0np0": ["192.0.2.11/24"]}}}
    host, twice = across_hosts("across.address", {"spark-a": same, "spark-b": same})
    assert (host, twice.status) == ("spark-b", "fail")
    assert twice.found == "192.0.2.11 on enp1s0f0np0, which spark-a has too"


def test_n16_an_image_without_ray_is_refused_before_anything_stops() -> None:
    said = {"missing": {"ray": "No module named 'ray'"}, "refusal": "", "unknown": "", "versions": {"vllm": "0.32.0"}}
    assert probe.problems("img", said) == [
        (
            "found no module ray in image img (No module named 'ray'), wanted one that can be imported."
            " Use an image that has it, or serving_backend: mp."
        )
    ]
    probes = [rank["probe"]["imports"] for rank in plan.make(pair(extra={"backend": "ray"}))["ranks"].values()]
    assert probes == [["ray"], ["ray"]]


def test_n17_an_index_is_of_one_host_and_an_empty_one_is_not_set() -> None:
    found = environments(pair({"fabric_gid_index": 3}, {"fabric_gid_index": ""}))
    assert found["spark-a"]["NCCL_IB_GID_INDEX"] == "3"
    assert "NCCL_IB_GID_INDEX" not in found["spark-b"]
    assert "NCCL_IB_GID_INDEX" not in environments(pair())["spark-a"]


GIDS = {
    "spark-a": ("192.0.2.11", {1: ("fe80::1", 2), 2: ("::ffff:192.0.2.11", 1), 3: ("::ffff:192.0.2.11", 2)}),
    "spark-b": ("192.0.2.12", {1: ("fe80::2", 2), 3: ("fe80::3", 2), 5: ("::ffff:192.0.2.12", 2)}),
}


@pytest.mark.parametrize(("host", "status"), [("spark-a", "pass"), ("spark-b", "fail")])
def test_n17_an_index_is_held_against_each_hosts_own_table(host: str, status: str) -> None:
    own, table = GIDS[host]
    folder = "/sys/class/infiniband/rocep1s0f0/ports/1"
    files = {}
    for index, (address, version) in table.items():
        files[f"{folder}/gids/{index}"] = f"{ipaddress.IPv6Address(address).exploded}\n"
        files[f"{folder}/gid_attrs/types/{index}"] = "RoCE v2\n" if version == 2 else "IB/RoCE v1\n"
    raw = captured(files, **{"ip address": addresses({"enp1s0f0np0": f"{own}/24"})})
    links = [{**LINK, "address": f"{own}/24"}]
    want = {"world_size": 2, "transport": "roce", "links": links}
    check = answer(network, "network.gid_index", raw, gid_index=3, **want)
    assert check.status == status
    if status == "fail":
        assert check.found == "rocep1s0f0 3 is fe80::3, RoCE v2"
        assert "or set 5 for this host" in check.remedy
    assert answer(network, "network.gid_index", raw, gid_index=None, **want).status == "skip"


def test_n18_both_halves_carry_data_and_one_alone_is_warned_of() -> None:
    assert environments(pair())["spark-a"]["NCCL_IB_HCA"] == "rocep1s0f0,roceP2p1s0f0"
    half = [{"interface": "enp1s0f0np0", "address": "192.0.2.11/24", "rdma_device": "rocep1s0f0"}]
    made = plan.make(pair({"fabric_links": half}))
    assert made["ranks"]["spark-a"]["container"]["env"]["NCCL_IB_HCA"] == "rocep1s0f0"
    assert (
        "spark-a: fabric_links has one half only of QSFP port 0 (enp1s0f0np0), which is half the bandwidth at most."
        " Add enP2p1s0f0np0 with an address in a network of its own."
    ) in made["warnings"]


def test_n18_the_fabric_test_tells_one_half_by_its_bandwidth() -> None:
    """NCCL_IB_HCA=rocep1s0f0; all_gather busbw 12.2 GB/s; link 200 Gb/s."""
    twins = [
        verdict.Link(one["interface"], one["rdma_device"], 200_000, 9000, "spark-b", "spark-b") for one in (LINK, TWIN)
    ]
    gather = {
        **results.empty("spark-a spark-b", {"kind": "all_gather", "over": [], "skipped": "", "remedy": ""}),
        "value": 12.2,
        "environment": {"NCCL_IB_HCA": "rocep1s0f0"},
    }
    found = verdict.judge(twins, [gather])
    assert found.word == "one twin"
    assert found.why.startswith("One half only of the cable was used (NCCL_IB_HCA=rocep1s0f0): 12.2 GB/s")
    both = {**gather, "value": 23.9, "environment": {"NCCL_IB_HCA": "rocep1s0f0,roceP2p1s0f0"}}
    assert verdict.judge(twins, [both]).word == "healthy"


@pytest.mark.parametrize(
    ("interface", "address", "begins"),
    [
        ("enP2p1s0f0np0", "192.0.2.13/24", "spark-a: note that enp1s0f0np0 and enP2p1s0f0np0, the two halves of"),
        ("enp1s0f1np1", "192.0.2.14/24", "spark-a: enp1s0f0np0 and enp1s0f1np1 are two ports in one network"),
    ],
    ids=["twins", "two ports"],
)
def test_n20_twins_in_one_subnet_are_noted_and_two_ports_warned_of(interface: str, address: str, begins: str) -> None:
    links = [
        {"interface": "enp1s0f0np0", "address": "192.0.2.11/24", "rdma_device": ""},
        {"interface": interface, "address": address, "rdma_device": ""},
    ]
    assert fabric.group_faults({"spark-a": links}) == []
    assert [line for line in fabric.group_warnings({"spark-a": links}) if line.startswith(begins)]


@pytest.mark.parametrize(
    ("links", "status", "found"),
    [
        ([LINK], "warn", "enp1s0f0np0 only; its other half enP2p1s0f0np0 is not in fabric_links"),
        ([LINK, TWIN], "pass", "both halves"),
        ([LINK, {**TWIN, "address": "192.0.2.13/24"}], "pass", "both halves"),
        (
            [LINK, {**TWIN, "interface": "enp1s0f1np1", "address": "192.0.2.14/24"}],
            "warn",
            "enp1s0f0np0 and enp1s0f1np1 in one network, 192.0.2.0/24",
        ),
    ],
    ids=["n18 one half", "n18 both", "n20 twins in one subnet", "n20 two ports in one subnet"],
)
def test_n18_and_n20_halves_and_their_networks_on_the_host(
    links: list[dict[str, str]], status: str, found: str
) -> None:
    here = dict.fromkeys(("enp1s0f0np0", "enP2p1s0f0np0", "enp1s0f1np1"), "")
    here.update({link["interface"]: link["address"] for link in links})
    check = answer(network, "network.twin", captured(**{"ip address": addresses(here)}), world_size=2, links=links)
    assert check.status == status
    assert found in check.found
