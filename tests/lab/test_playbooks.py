# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks as their users run them: on real hosts, in every way to call them, and when something is wrong.

The order saves time: tests that start from empty hosts are together, and so are those that find engines running.
"""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lab.lab import Lab
from tests.lab.controller import CHECKOUT, HOSTS, Controller
from tools.ssh_masters import own_control_folder

pytestmark = pytest.mark.engines("double")

FIRST = "dgxspark-tp1-0-r0"
# Steps of a change on a host, each of which Ansible counts: begun, made, started, committed.
STEPS = 4
WAYS = {
    "from the checkout": (CHECKOUT, "deploy-tp1.yml"),
    "from playbooks/": (CHECKOUT / "playbooks", "deploy-tp1.yml"),
    "by full name": (CHECKOUT, "dgxspark.serving.deploy_tp1"),
}


@pytest.fixture(scope="module")
def controller(lab: Lab, inventory: Path) -> Iterator[Controller]:
    with own_control_folder() as environment:
        made = Controller(lab, inventory, environment)
        yield made
        made.have_none()


@pytest.fixture
def virgin(controller: Controller) -> Controller:
    """Hosts without an engine."""
    controller.have_none()
    return controller


@pytest.fixture
def deployed(controller: Controller) -> Controller:
    """Hosts that serve, with the inventory's own variables."""
    controller.have_both()
    return controller


@pytest.fixture
def occupied(controller: Controller) -> Controller:
    """Hosts with an engine of ours each, of whatever version."""
    controller.have_any()
    return controller


def test_check_and_diff_pass_on_virgin_hosts_and_change_nothing_a03(virgin: Controller) -> None:
    ended = virgin.play("deploy-tp1.yml", "--check", "--diff")
    assert ended.code == 0, ended.text
    assert ended.changed == 4, "on each host room would be made, and the container"
    assert virgin.containers() == []


def test_check_passes_on_hosts_that_do_not_have_the_image_yet(virgin: Controller) -> None:
    ended = virgin.play("deploy-tp1.yml", "--check", "--diff", "-e", "image=registry.invalid/none:1")
    assert ended.code == 0, ended.text
    words = "one host would pull and save it, the other make a folder and load it; each make room, and its container"
    assert ended.changed == 8, words


def test_every_way_to_call_it_deploys_the_same_and_ends_with_what_a_user_needs(virgin: Controller) -> None:
    expected = 2 * STEPS
    for folder, playbook in WAYS.values():
        ended = virgin.play(playbook, folder=folder)
        assert ended.code == 0, ended.text
        assert ended.changed == expected, ended.text
        expected = 0  # what one way deployed, another finds as it should be
        for index, host in enumerate(HOSTS):
            address = virgin.lab.address(virgin.lab.host(host))
            row = rf"tp1-{index} {host} http://{re.escape(address)}:8000 tiny-qwen3 vllm \S+ \d+\.\d"
            assert re.search(row, ended.text), ended.text
        assert "curl -N http://" in ended.text
        assert "[model_providers.spark]" in ended.text
    virgin.are_good()


def test_status_shows_ranks_and_what_differs_from_the_inventory(deployed: Controller, tmp_path: Path) -> None:
    path = tmp_path / "status.json"
    seen = deployed.play("status.yml", "-e", f"status_file={path}")
    for index, host in enumerate(HOSTS):
        row = rf"{host} tp1-{index} 0 serving \S+ 0 \S+ \d+\.\d [0-9a-f]{{12}} [0-9a-f]{{12}} /health answers 200"
        assert re.search(row, seen.text), seen.text
    rows = json.loads(path.read_text("utf-8"))["ranks"]
    assert [(row["host"], row["replica"], row["drift"]) for row in rows] == [
        ("spark1", "tp1-0", False),
        ("spark2", "tp1-1", False),
    ]
    other = deployed.play("status.yml", "-e", json.dumps({"serving_env": {"MARK": "1"}}))
    assert other.text.count("the inventory wants another version: deploy again") == 2, other.text


def test_status_shows_a_host_that_cannot_be_reached(controller: Controller) -> None:
    ended = controller.play("status.yml", "-e", json.dumps({"ansible_port": 1}))
    for host in HOSTS:
        assert f"{host} - - unreachable" in ended.text, ended.text


def test_the_plan_is_explained_and_nothing_changes(deployed: Controller) -> None:
    before = deployed.engines()
    for arguments in (["--tags", "explain"], ["-e", "serving_explain=true"]):
        ended = deployed.play("deploy-tp1.yml", "-e", "port=8100", *arguments)
        assert (ended.code, ended.changed) == (0, 0), ended.text
        assert ended.text.count("docker run --detach") == len(HOSTS)
    assert deployed.engines() == before


def test_diagnose_brings_logs_and_state_of_every_host(deployed: Controller, tmp_path: Path) -> None:
    ended = deployed.play("diagnose.yml", "-e", f"replica_evidence_dir={tmp_path}")
    assert ended.code == 0, ended.text
    archives = sorted(tmp_path.iterdir())
    assert len(archives) == len(HOSTS)
    for archive in archives:
        assert str(archive) in ended.text
        with tarfile.open(archive) as content:
            names = [Path(name).name for name in content.getnames()]
        assert {"container.log", "inspect.json", "meminfo", "pressure-memory", "nvidia-smi.txt"} <= set(names)


@pytest.mark.parametrize("tag", ["image", "replica"])
def test_each_tag_is_safe_alone(deployed: Controller, tag: str) -> None:
    ended = deployed.play("deploy-tp1.yml", "--tags", tag)
    assert (ended.code, ended.changed) == (0, 0), ended.text


REFUSED = {
    "configuration": (
        ["-e", "port=70000", "-e", "bakend=ray"],
        [
            "The configuration has 2 errors; nothing was changed.",
            "1. -e bakend: found an unknown name, wanted backend. Write -e backend=VALUE.",
            "2. -e port: found '70000', wanted a whole number from 1 to 65535.",
        ],
    ),
    "image that is not there": (
        ["-e", "image=registry.invalid/none:1"],
        ["Found no image registry.invalid/none:1, and it cannot be pulled:", "docker load -i IMAGE.tar"],
    ),
    "image of another architecture D01": (
        ["-e", "image=lab/amd64:1"],
        ["image.architecture: image lab/amd64:1 is for amd64, wanted arm64. Set serving_image to an image for arm64"],
    ),
    "model that is not there": (
        ["-e", "model=/srv/models/none"],
        [
            "spark2: the preflight failed, so nothing was changed here.",
            "model.complete: model /srv/models/none in /srv/models/none is not complete: no folder /srv/models/none",
        ],
    ),
}


@pytest.fixture(scope="module")
def amd64_image(controller: Controller) -> Iterator[None]:
    command = "tar --create --files-from /dev/null | docker import --platform linux/amd64 - lab/amd64:1"
    for host in HOSTS:
        code, _out, err = controller.lab.run(host, ["sh", "-c", command])
        assert code == 0, err
    yield
    for host in HOSTS:
        controller.docker(host, "image", "rm", "lab/amd64:1")


@pytest.mark.usefixtures("amd64_image")
@pytest.mark.parametrize(("arguments", "messages"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_leaves_what_runs_alone(
    deployed: Controller, arguments: Sequence[str], messages: Sequence[str]
) -> None:
    before = deployed.engines()
    ended = deployed.play("deploy-tp1.yml", *arguments)
    assert ended.code != 0
    assert ended.changed == 0
    for message in messages:
        assert message in ended.text, ended.text
    assert "Traceback" not in ended.text
    assert deployed.engines() == before


def test_an_engine_that_is_stopped_by_hand_comes_back_by_itself(deployed: Controller) -> None:
    before = deployed.engines()
    deployed.docker("spark1", "stop", FIRST)
    deployed.wait_until_serving("spark1", FIRST)
    after = deployed.engines()
    deployed.are_good()
    assert after[0] != before[0]
    assert after[1] == before[1]
    ended = deployed.play("status.yml")
    assert "last restart: the engine ended with exit code" in ended.text, ended.text


def test_deploy_brings_a_stopped_unit_back_and_leaves_the_other(deployed: Controller) -> None:
    before = deployed.engines()
    deployed.root("spark1", "systemctl", "stop", f"dgxspark-replica@{FIRST}")
    assert "exited" in deployed.engines()[0]
    ended = deployed.play("deploy-tp1.yml")
    assert ended.code == 0, ended.text
    assert ended.changed > 0
    after = deployed.engines()
    deployed.are_good()
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_new_limits_reach_the_supervisor_and_leave_the_engine_alone(deployed: Controller) -> None:
    before = deployed.engines()
    ended = deployed.play("deploy-tp1.yml", "-e", "replica_hung_after=90")
    assert ended.code == 0, ended.text
    assert ended.changed == 2, ended.text
    spec = f"/etc/dgxspark-serving/replicas/{FIRST}.json"
    assert json.loads(deployed.root("spark1", "cat", spec))["limits"]["hung_after"] == 90
    deployed.good = []
    assert deployed.engines() == before


def test_a14_a_value_with_braces_recreates_the_engine_and_arrives_byte_for_byte(occupied: Controller) -> None:
    value = "sk-a{#b{%c}}d"
    before = occupied.engines()
    ended = occupied.play("deploy-tp1.yml", "-e", json.dumps({"serving_env": {"MARK": {"__ansible_unsafe": value}}}))
    assert (ended.code, ended.changed) == (0, 2 * STEPS), ended.text
    variables = json.loads(occupied.docker("spark1", "inspect", "--format", "{{json .Config.Env}}", FIRST))
    assert f"MARK={value}" in variables
    assert occupied.play("deploy-tp1.yml").changed == 2 * STEPS, (
        "a variable that is taken away must recreate the container"
    )
    assert occupied.engines() != before
    occupied.are_good()


def test_a05_without_rollback_the_new_one_stays_to_be_looked_at(deployed: Controller) -> None:
    broken = {"serving_env": {"DOUBLE_FAULTS": json.dumps({"exit": {"stage": "load", "code": 3}})}}
    before = deployed.engines()
    alone = ["--limit", "spark1", "-e", "replica_rollback=false"]
    ended = deployed.play("deploy-tp1.yml", "-e", json.dumps(broken), *alone)
    assert ended.code != 0
    after = deployed.engines()
    assert [line.split()[0] for line in after] == [line.split()[0] for line in before]
    assert after[0].split()[2] != before[0].split()[2], "the old container is gone"
    assert "exited" in after[0]


def test_another_deployment_takes_the_place_of_the_first(occupied: Controller) -> None:
    layout = {"serving_deployments": [{"name": "chat", "replicas": [["spark2"], ["spark1"]], "port": 8100}]}
    ended = occupied.play("deploy-tp1.yml", "-e", json.dumps(layout))
    assert ended.code == 0, ended.text
    assert occupied.containers() == ["dgxspark-chat-1-r0", "dgxspark-chat-0-r0"]


def test_stop_leaves_no_container_of_ours_and_those_of_others(occupied: Controller) -> None:
    occupied.docker("spark1", "create", "--name", "stranger", "lab/engine-double:1", "true")
    try:
        assert occupied.play("stop.yml", "--check").changed == 2
        ended = occupied.play("stop.yml")
        assert (ended.code, ended.changed) == (0, 2), ended.text
        assert occupied.containers() == ["stranger"]
        assert occupied.play("stop.yml").changed == 0
        assert "absent - - - - - - no engine of dgxspark.serving is on this host" in occupied.play("status.yml").text
    finally:
        occupied.docker("spark1", "rm", "stranger")


def test_one_host_by_limit_and_then_by_a_layout_without_the_first_host(virgin: Controller) -> None:
    ended = virgin.play("deploy-tp1.yml", "--limit", "spark2")
    assert (ended.code, ended.changed) == (0, STEPS), ended.text
    assert virgin.containers() == ["dgxspark-tp1-1-r0"]
    layout = {"serving_deployments": [{"name": "chat", "replicas": [["spark2"]]}]}
    ended = virgin.play("deploy-tp1.yml", "-e", json.dumps(layout))
    assert ended.code == 0, ended.text
    assert virgin.containers() == ["dgxspark-chat-0-r0"]


def test_a_strangers_container_is_never_replaced_d06(virgin: Controller) -> None:
    virgin.docker("spark1", "create", "--name", FIRST, "lab/engine-double:1", "true")
    try:
        ended = virgin.play("deploy-tp1.yml")
        assert ended.code != 0
        assert f"docker.names: a container {FIRST} (created) that dgxspark.serving did not make" in ended.text
        # The other replica has nothing to do with it.
        assert virgin.containers() == [FIRST, "dgxspark-tp1-1-r0"]
    finally:
        virgin.docker("spark1", "rm", FIRST)


# The first on both hosts; what is broken differs, and not what is done about it.
FAILING = {
    "an engine that ends d02": (
        {"exit": {"stage": "load", "code": 1}},
        [],
        f"spark1: {FIRST} did not become ready: after",
        "the engine ended with exit code 1. Last lines of its log: |",
    ),
    "an engine that cannot generate n10": (
        {"generation-500": {}},
        ["--limit", "spark1"],
        "/health answers 200, but one generation failed: HTTP 500:",
        f"Read all of it on spark1 with: docker logs {FIRST}",
    ),
    "an engine that serves another name": (
        {"wrong-name": {"name": "another-model"}},
        ["--limit", "spark1"],
        "the engine serves another-model, wanted tiny-qwen3",
        "",
    ),
}


@pytest.mark.parametrize(("faults", "where", "message", "more"), FAILING.values(), ids=FAILING)
def test_an_engine_that_does_not_become_ready(
    virgin: Controller, faults: object, where: Sequence[str], message: str, more: str
) -> None:
    broken = {"serving_env": {"DOUBLE_FAULTS": json.dumps(faults)}}
    ended = virgin.play("deploy-tp1.yml", "-e", json.dumps(broken), *where)
    assert ended.code != 0
    assert message in ended.text, ended.text
    assert more in ended.text, ended.text
    assert "Traceback" not in ended.text


def test_a16_a_wait_shows_how_far_it_is_and_ends_in_time(virgin: Controller) -> None:
    slow = {"serving_env": {"DOUBLE_FAULTS": json.dumps({"slow-load": {"seconds": 600}})}, "replica_ready_timeout": 5}
    ended = virgin.play("deploy-tp1.yml", "-e", json.dumps(slow), "--limit", "spark1")
    assert ended.code != 0
    assert re.search(rf"spark1: {FIRST} did not become ready until replica_ready_timeout \(5 s\): after", ended.text)
    patient = virgin.play(
        "deploy-tp1.yml",
        "-e",
        json.dumps({"serving_env": {"DOUBLE_FAULTS": json.dumps({"slow-load": {"seconds": 15}})}}),
    )
    assert patient.code == 0, patient.text
    assert re.search(rf"spark1: {FIRST}: \d+ s, the engine does not answer yet; \S", patient.text), patient.text


def test_teardown_leaves_nothing_and_says_so(occupied: Controller) -> None:
    assert occupied.play("teardown.yml").code == 0
    again = occupied.play("teardown.yml")
    assert (again.code, again.changed) == (0, 0), again.text
    assert occupied.containers() == []
    folders = "/usr/local/lib/dgxspark-serving /etc/dgxspark-serving /var/lib/dgxspark-serving"
    left = occupied.root("spark1", "sh", "-c", f"ls -d {folders} 2>/dev/null || true")
    assert left == ""
    assert "no rank of dgxspark.serving was ever here" in occupied.play("diagnose.yml").text


def test_a_forgotten_inventory(controller: Controller, tmp_path: Path) -> None:
    empty = tmp_path / "hosts.yml"
    empty.write_text("---\nall: {}\n", encoding="utf-8")
    done = subprocess.run(
        ["ansible-playbook", "-i", str(empty), "deploy-tp1.yml"],
        cwd=CHECKOUT,
        env=controller.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "The inventory has no host in the group sparks; nothing was changed." in done.stdout + done.stderr
