# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Area 5: Docker, images and containers. Input and expectation are those of the fault's row."""

from __future__ import annotations

import itertools
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils import (
    containers,
    engine_log,
    host_problems,
    plan,
    readiness,
    symptoms,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.checks import across, gpu, network, planned
from ansible_collections.dgxspark.serving.plugins.module_utils.images import manifest_list, pull_errors, spread
from ansible_collections.dgxspark.serving.plugins.module_utils.images.image import read_images, same_image
from ansible_collections.dgxspark.serving.plugins.module_utils.report.not_ready import not_ready
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Host
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.hostpaths import HostPaths
from tests.field.inventories import pair
from tests.field.looked import answer, captured

CHECKOUT = Path(__file__).parents[2]


def read(path: str) -> Any:
    """A YAML file of the checkout."""
    return yaml.safe_load((CHECKOUT / path).read_text(encoding="utf-8"))


def tasks(role: str, name: str = "main") -> list[dict[str, Any]]:
    """The tasks of a role's file."""
    return read(f"roles/{role}/tasks/{name}.yml")


def inspected(
    name: str, status: str, exit_code: int = 0, restarts: int = 0, labels: dict[str, str] | None = None
) -> dict[str, Any]:
    """A container as ``docker container inspect`` shows it."""
    return {
        "Id": "c" * 64,
        "Name": f"/{name}",
        "State": {"Status": status, "ExitCode": exit_code, "OOMKilled": False},
        "RestartCount": restarts,
        "Config": {"Labels": labels or {}},
    }


def test_d01_the_preflight_finds_an_amd64_image() -> None:
    inspected = {"id": "sha256:1", "repo_digests": [], "architecture": "amd64"}
    wrong = planned.image("acme/vllm:x", inspected, "arm64")[1]
    right = planned.image("acme/vllm:x", {**inspected, "architecture": "arm64"}, "arm64")[1]
    assert (wrong.id, wrong.status, wrong.wanted) == ("image.architecture", "fail", "arm64")
    assert right.status == "pass"


@pytest.mark.parametrize(("architecture", "passes"), [("amd64", False), ("arm64", True)])
def test_d01_the_role_refuses_an_amd64_image(architecture: str, passes: bool) -> None:
    inspected = {"id": "sha256:1", "repo_digests": [], "architecture": architecture, "layers": ["l1"], "size": 1}
    wish = spread.Wish(architecture=read("roles/image/defaults/main.yml")["image_architecture"])
    part = spread.first({"spark-a": "acme/vllm:x"}, {"spark-a": {"image": inspected}}, wish, lambda *_: True)["spark-a"]
    assert (part.fault == "") is passes
    if not passes:
        start = f"image acme/vllm:x is for {architecture}, wanted arm64. Set serving_image to an image for arm64"
        assert part.fault.startswith(start)


@pytest.mark.parametrize(
    ("platforms", "fits"), [(["linux/amd64"], False), (["linux/amd64", "linux/arm64"], True)], ids=["amd64", "both"]
)
def test_d01_the_manifest_list_is_read_before_the_pull(platforms: list[str], fits: bool) -> None:
    manifests = [dict(zip(("os", "architecture"), one.split("/"), strict=True)) for one in platforms]
    said = json.dumps({"schemaVersion": 2, "manifests": [{"platform": platform} for platform in manifests]})
    found = manifest_list.platforms(said)
    assert found == platforms
    assert manifest_list.has(found, "arm64") is fits
    refusal = manifest_list.refusal("acme/vllm:x", found, "arm64", "acme/vllm:x-aarch64")
    assert refusal.endswith("Set serving_image to acme/vllm:x-aarch64.")


def test_d01_a_tag_without_arm64_is_told_by_its_manifest_list() -> None:
    error = pull_errors.judge("no matching manifest for linux/arm64/v8 in the manifest list entries")
    assert (error.again, error.remedy[:42]) == (False, "Set serving_image to a tag that has arm64;")


def test_d01_exec_format_error_in_the_log_names_the_image() -> None:
    [found] = symptoms.diagnose(["exec format error"])
    assert found.remedy == "Set serving_image to a tag that has arm64"


def test_d02_a_restart_loop_ends_the_wait_with_exit_code_and_log() -> None:
    [loop] = containers.read([inspected("dgxspark-tp1-0-r0", "restarting", exit_code=1, restarts=4)])
    verdict = readiness.judge(readiness.Observation(loop, restarts=loop.restarts), readiness.Wanted("tiny"))
    assert verdict.state == readiness.FAILED
    last = "ValueError: unsupported option"
    said = not_ready("spark-a", loop.name, 12.0, "", {"detail": verdict.detail, "log": [last]})
    assert "the engine was started again 4 times, the last time with exit code 1" in said
    assert f"  | {last}" in said


@pytest.mark.parametrize(("restarts", "state"), [(2, readiness.WAITING), (3, readiness.FAILED)])
def test_d02_three_restarts_are_a_loop_also_while_it_runs(restarts: int, state: str) -> None:
    [loop] = containers.read([inspected("dgxspark-tp1-0-r0", "running", restarts=restarts)])
    seen = readiness.Observation(loop, restarts=loop.restarts)
    assert readiness.judge(seen, readiness.Wanted("tiny")).state == state


def test_d02_no_restart_policy_hides_an_end() -> None:
    create = next(task for task in _flat(tasks("replica", "change")) if "community.docker.docker_container" in task)
    assert create["community.docker.docker_container"]["restart_policy"] == "no"


def _flat(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tasks with those of their blocks."""
    return [one for task in found for one in (task, *_flat([*task.get("block", []), *task.get("rescue", [])]))]


def test_d04_the_same_image_in_two_stores_is_the_same() -> None:
    digest = ["acme/vllm@sha256:aaaa"]
    overlay2, containerd, other = (
        asdict(image)
        for image in read_images(
            [
                {"Id": "sha256:1111", "RepoDigests": digest, "Architecture": "arm64"},
                {"Id": "sha256:aaaa", "RepoDigests": digest, "Architecture": "arm64"},
                {"Id": "sha256:2222", "RepoDigests": ["acme/vllm@sha256:bbbb"], "Architecture": "arm64"},
            ]
        )
    )
    assert same_image(overlay2, containerd)
    assert not same_image(overlay2, other)


def test_d04_an_image_that_was_copied_is_known_by_its_layers() -> None:
    layers = {"RootFS": {"Layers": ["sha256:l1", "sha256:l2"]}, "Architecture": "arm64"}
    pulled, loaded = (
        asdict(image)
        for image in read_images(
            [
                {"Id": "sha256:aaaa", "RepoDigests": ["acme/vllm@sha256:aaaa"], **layers},
                {"Id": "sha256:1111", "RepoDigests": [], **layers},
            ]
        )
    )
    assert same_image(pulled, loaded)
    assert not same_image(pulled, {**loaded, "layers": ("sha256:l1",)})


def test_d04_hosts_with_other_ids_of_one_digest_are_no_finding() -> None:
    digest = ["acme/vllm@sha256:aaaa"]
    hosts = {
        "spark-a": {"image": {"id": "sha256:1111", "repo_digests": digest, "architecture": "arm64"}},
        "spark-b": {"image": {"id": "sha256:aaaa", "repo_digests": digest, "architecture": "arm64"}},
    }
    replicas = [{"name": "tp2-0", "deployment": "tp2", "hosts": list(hosts)}]
    statuses = {check.id: check.status for _host, check in across.checks(hosts, replicas)}
    assert statuses["across.image"] == "pass"
    hosts["spark-b"]["image"]["repo_digests"] = ["acme/vllm@sha256:bbbb"]
    statuses = {check.id: check.status for _host, check in across.checks(hosts, replicas)}
    assert statuses["across.image"] == "fail"


@pytest.mark.parametrize("status", ["exited", "created", "dead"])
def test_d06_a_leftover_of_the_wanted_name_is_not_ours_and_is_named(status: str) -> None:
    found = containers.read([inspected("vllm-rank0", status)])
    [problem] = host_problems.stranger("vllm-rank0", containers.strange(found, "vllm-rank0"))
    assert problem.found == f"a container vllm-rank0 ({status}) that dgxspark.serving did not make"
    assert "docker rename vllm-rank0" in problem.remedy


def test_d06_a_leftover_of_ours_is_replaced() -> None:
    found = containers.read([inspected("vllm-rank0", "exited", labels={containers.DEPLOYMENT_LABEL: "tp2"})])
    assert containers.strange(found, "vllm-rank0") == ""


RUNTIMES = {"runc": {}, "io.containerd.runc.v2": {}}
GPU = "0, NVIDIA GB10, 580.95.05, 3, 208, [N/A], [N/A]\n"
PROGRAM = {
    "/usr/bin/nvidia-container-runtime": "/usr/bin/nvidia-container-runtime",
    "/usr/bin/docker": "/usr/bin/docker",
}


def docker_info(**more: Any) -> str:
    """What ``docker info --format '{{json .}}'`` says."""
    return json.dumps({"ServerVersion": "28.2.2", "Driver": "overlay2", "Runtimes": RUNTIMES, **more})


@pytest.mark.parametrize(
    ("files", "links", "root", "found", "remedy"),
    [
        (
            {"/etc/docker/daemon.json": '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}'},
            PROGRAM,
            "/var/lib/docker",
            "/etc/docker/daemon.json names the runtime, but Docker was not restarted since",
            "systemctl restart docker",
        ),
        ({}, PROGRAM, "/var/lib/docker", "nvidia-container-toolkit is installed, but Docker is not told", "nvidia-ctk"),
        (
            {},
            {"/usr/bin/docker": "/usr/bin/docker"},
            "/var/lib/docker",
            "nvidia-container-toolkit is not installed",
            "installs nvidia-container-toolkit",
        ),
        (
            {},
            {"/snap/bin/docker": "/usr/bin/snap"},
            "/var/snap/docker/common/var-lib-docker",
            "Docker from snap",
            "snap remove docker",
        ),
    ],
    ids=["not restarted", "not told", "no toolkit", "snap"],
)
def test_d07_the_reason_why_docker_gives_no_gpu(
    files: dict[str, str], links: dict[str, str], root: str, found: str, remedy: str
) -> None:
    raw = captured(files, links, nvidia_smi=GPU, docker_info=docker_info(DockerRootDir=root))
    check = answer(gpu, "gpu.runtime", raw)
    assert (check.status, check.found) == ("fail", found)
    assert remedy in check.remedy
    # What a real container says decides.
    works = captured(
        files, links, nvidia_smi=GPU, docker_info=docker_info(), gpu_trial="GPU 0: NVIDIA GB10 (UUID: x)\n"
    )
    probed = [
        answer(gpu, name, works, gpu_probe=True, image="acme/vllm:x") for name in ("gpu.runtime", "gpu.container")
    ]
    assert [check.status for check in probed] == ["pass", "pass"]


def test_d08_a_container_that_lost_the_gpu_is_told_from_a_host_that_did() -> None:
    lost = (255, "Failed to initialize NVML: Unknown Error")
    nvidia = {"nvidia": {"path": "nvidia-container-runtime"}, **RUNTIMES}
    raw = captured({}, PROGRAM, nvidia_smi=GPU, docker_info=docker_info(Runtimes=nvidia), gpu_trial=lost)
    want = {"gpu_probe": True, "image": "acme/vllm:x"}
    check = answer(gpu, "gpu.container", raw, **want)
    assert check.status == "fail"
    assert check.remedy.startswith("Recreate the container")
    assert answer(gpu, "gpu.visible", raw, **want).status == "pass"


def test_d08_a_gpu_lost_by_daemon_reload_asks_for_a_new_container() -> None:
    [found] = symptoms.diagnose(["Failed to initialize NVML: Unknown Error"])
    assert found.remedy == "Recreate the container: run the deployment again"


def test_d08_nothing_reloads_systemd_beside_a_running_engine(tmp_path: Path) -> None:
    run: list[list[str]] = []

    def pretend(argv: list[str]) -> tuple[int, str, str]:
        run.append(argv)
        return 0, {"is-enabled": "disabled", "show": "no"}.get(argv[1], ""), ""

    host = Host(HostPaths(tmp_path), pretend)
    host.enable("dgxspark-tp1-0-r0", True)
    host.take_up_unit_file("dgxspark-tp1-0-r0")
    assert ["systemctl", "enable", "--no-reload", "dgxspark-replica@dgxspark-tp1-0-r0.service"] in run
    assert not [argv for argv in run if "daemon-reload" in argv]
    texts = [path.read_text(encoding="utf-8") for path in (CHECKOUT / "roles/replica").rglob("*.yml")]
    assert texts
    assert not [text for text in texts if "daemon_reload" in text or "daemon-reload" in text]


def test_d10_a_limit_and_a_timeout_are_tried_again_and_a_missing_tag_is_not() -> None:
    attempts = [
        "toomanyrequests: You have reached your pull rate limit",
        "net/http: TLS handshake timeout",
    ]
    assert [pull_errors.judge(said).again for said in attempts] == [True, True]
    assert pull_errors.judge("toomanyrequests").again
    assert "docker login" in pull_errors.judge(attempts[0]).remedy
    assert not pull_errors.judge("manifest for acme/vllm:nope not found").again
    defaults = read("roles/image/defaults/main.yml")
    pauses = list(pull_errors.pauses(defaults["image_pull_attempts"], defaults["image_pull_delay"]))
    assert len(pauses) >= 2, "the row's third attempt is the good one"
    assert all(later > earlier for earlier, later in itertools.pairwise(pauses))


def test_d10_one_host_pulls_and_the_other_gets_it_from_it() -> None:
    wanted = dict.fromkeys(("spark-a", "spark-b"), "acme/vllm:x")
    nobody: dict[str, dict[str, Any]] = {host: {"image": None} for host in wanted}
    parts = spread.first(wanted, nobody, spread.Wish(), lambda *_: True)
    assert [part.action for part in parts.values()] == ["pull", ""]
    pulled = {"id": "sha256:1", "repo_digests": [], "architecture": "arm64", "layers": ["l1"], "size": 1}
    parts = spread.second(wanted, parts, {**nobody, "spark-a": {"image": pulled}}, spread.Wish(), lambda *_: True)
    assert [(part.gives, part.receives) for part in parts.values()] == [(True, False), (False, True)]
    alone = spread.first(wanted, nobody, spread.Wish(fan_out=False), lambda *_: True)
    assert [part.action for part in alone.values()] == ["pull", "pull"]


LOG_WITHOUT_RDMA = ["NCCL INFO NET/IB : No device found.", "NCCL INFO Using network Socket"]


def test_d11_sockets_where_roce_was_asked_for_fail_and_name_the_options() -> None:
    network = engine_log.nccl_network(LOG_WITHOUT_RDMA)
    running = containers.read([inspected("dgxspark-tp2-0-r0", "running")])[0]
    verdict = readiness.judge(
        readiness.Observation(running, network=network), readiness.Wanted("tiny", world_size=2, transport="roce")
    )
    assert (verdict.state, verdict.stage) == (readiness.FAILED, "transport")
    assert all(option in verdict.detail for option in ("/dev/infiniband", "IPC_LOCK", "memlock"))


def test_d11_under_roce_every_rank_has_what_rdma_needs() -> None:
    create = next(task for task in _flat(tasks("replica", "change")) if "community.docker.docker_container" in task)
    assert create["community.docker.docker_container"]["network_mode"] == "host"
    for rank in plan.make(pair(everywhere={"serving_transport": "roce"}))["ranks"].values():
        container = rank["container"]
        assert container["devices"] == ["/dev/infiniband"]
        assert container["capabilities"] == ["IPC_LOCK"]
        assert "memlock:-1:-1" in container["ulimits"]


def test_d11_a_host_without_the_devices_is_found_before() -> None:
    link = {"interface": "enp1s0f0np0", "address": "192.0.2.11/24", "rdma_device": "rocep1s0f0"}
    here = json.dumps([{"ifname": "enp1s0f0np0", "flags": ["UP", "LOWER_UP"], "mtu": 9000}])
    folder = {"/sys/class/infiniband/rocep1s0f0/device": "/sys/devices/pci0000:00/0000:01:00.0"}
    verbs = {"/dev/infiniband/uverbs0": "/dev/infiniband/uverbs0"}
    want = {"world_size": 2, "transport": "roce", "links": [link]}
    found = [
        answer(network, "network.infiniband", captured({}, links, **{"ip address": here}), **want)
        for links in (folder, {**folder, **verbs})
    ]
    assert [check.status for check in found] == ["fail", "pass"]
    assert "modprobe" in found[0].remedy
