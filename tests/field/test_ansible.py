# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Area 9: habits of Ansible. Input and expectation are those of the fault's row.

What needs hosts is in the table of README.md, which test_rows.py holds against the tests it names.
"""

from __future__ import annotations

import configparser
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils import engine_log, plan
from ansible_collections.dgxspark.serving.plugins.module_utils.checks import docker, machine
from ansible_collections.dgxspark.serving.plugins.module_utils.rollout import UNCHANGED, turns
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.evidence import without_secrets
from tests.field.inventories import SPARK_B, faults, pair, request
from tests.field.looked import answer, captured
from tests.unit.plugins.modules.test_host_imports import imports

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def connection() -> configparser.SectionProxy:
    """How the configuration that we ship connects."""
    read = configparser.ConfigParser(interpolation=None)
    read.read(CHECKOUT / "ansible.cfg", encoding="utf-8")
    return read["ssh_connection"]


@pytest.mark.parametrize(
    ("group", "user", "found", "remedy"),
    [
        ("docker:x:990:dev", "dev", "dev is in group docker, but this session is older", "Log in again"),
        ("docker:x:990:", "dev", "dev is not in group docker", "usermod -aG docker dev"),
    ],
    ids=["just added", "not added"],
)
def test_a01_a_session_older_than_its_group_is_told(group: str, user: str, found: str, remedy: str) -> None:
    """id -nG dev (new login): dev docker; current session: dev."""
    files = {"/etc/group": f"dev:x:1000:\n{group}\n", "/proc/self/status": "Groups:\t1000 \n"}
    denied = "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock"
    check = answer(docker, "docker.access", captured(files, docker_info=(1, denied)), root=False, user=user)
    assert (check.status, check.found) == ("fail", found)
    assert remedy in check.remedy


@pytest.mark.parametrize("file", ["look", "change", "absent"])
def test_a01_a_rank_is_looked_at_and_changed_as_root(file: str) -> None:
    """Root needs no group, so an older session does not matter."""
    tasks = yaml.safe_load((CHECKOUT / "roles/replica/tasks" / f"{file}.yml").read_text(encoding="utf-8"))
    flat = [one for task in tasks for one in (task, *task.get("block", []), *task.get("rescue", []))]
    asking = [one for one in flat if {"dgxspark.serving.replica_info", "dgxspark.serving.replica_change"} & set(one)]
    assert asking
    assert [one["name"] for one in asking if one.get("become") is not True] == []


def test_a05_words_of_the_command_line_are_what_they_say() -> None:
    """-e enforce_eager=false -e use_roce=no -e tp2_backend=Ray, in the names that they have here."""
    extra = {"serving_explain": "false", "transport": "Socket", "backend": "Ray"}
    made = plan.make(pair(extra=extra, everywhere={"serving_engine_args": {"enforce-eager": False}}))
    assert made["explain"] is False
    assert made["replicas"][0]["backend"] == "ray"
    rank = made["ranks"]["spark-a"]["container"]
    assert rank["devices"] == []
    assert "--enforce-eager" not in rank["command"]
    assert plan.make(pair(extra={"serving_explain": "yes"}))["explain"] is True
    [line] = faults(pair(extra={"serving_explain": "maybe"}))
    assert line.startswith("serving_explain: found 'maybe'")


def test_a07_a_token_is_in_no_log_and_no_evidence() -> None:
    canary = "hf_CANARY123"
    for said in (f"HF_TOKEN={canary}", f"Authorization: Bearer {canary}", f"invalid token {canary}"):
        assert canary not in engine_log.masked(said)
    kept = without_secrets({"Config": {"Env": [f"HF_TOKEN={canary}"], "Cmd": ["serve", "--api-key", canary]}})
    assert canary not in json.dumps(kept)


def test_a09_control_path_is_the_short_hash_whatever_the_names_length(connection: configparser.SectionProxy) -> None:
    """Inventory name of 70 characters, HOME of 40 characters: a path of our own would be too long for a socket."""
    assert "ControlPath" not in connection["ssh_args"]
    assert not {"control_path", "control_path_dir"} & set(connection)


def seen(**values: Any) -> dict[str, Any]:
    """What replica_info says of a host where the rank is to be started."""
    image = {"id": "sha256:1", "repo_digests": [], "architecture": "arm64"}
    return {"unchanged": False, "replace": True, "running": [], "reasons": [], "problems": [], "image": image, **values}


def test_a10_the_other_host_of_tp1_is_still_deployed() -> None:
    replicas = [{"name": f"tp1-{n}", "hosts": [host], "image": "i"} for n, host in enumerate(("spark-a", "spark-b"))]
    found = turns(replicas, {"spark-b": seen()}, ["spark-b"])
    assert (found["spark-b"].wave, found["spark-b"].problems) == (0, ())
    assert found["spark-a"].wave == UNCHANGED


def test_a10_tp2_stops_clearly_and_nothing_is_half_started() -> None:
    found = turns([{"name": "tp2-0", "hosts": ["spark-a", "spark-b"], "image": "i"}], {"spark-b": seen()}, ["spark-b"])
    assert found["spark-b"].wave == UNCHANGED
    assert found["spark-b"].problems == ("replica tp2-0 is left as it is, for spark-a failed or cannot be reached",)


# What runs on the controller and speaks for all hosts.
OURS_ON_CONTROLLER = ("engine_key_choice", "fanout_plan", "image_lock", "model_plan")
ON_CONTROLLER = {"ansible.builtin.set_fact", *(f"dgxspark.serving.{name}" for name in OURS_ON_CONTROLLER)}


@pytest.mark.parametrize("role", ["fanout", "gateway", "host", "image", "model", "replica"])
def test_a10_no_work_on_a_host_runs_once(role: str) -> None:
    """``run_once`` picks the first host, be it one that failed: work for one host is chosen by rank."""
    files = list((CHECKOUT / "roles" / role / "tasks").rglob("*.yml"))
    assert files
    for path in files:
        for task in tasks_of(yaml.safe_load(path.read_text(encoding="utf-8"))):
            assert "run_once" not in task or ON_CONTROLLER & set(task), f"{path}: {task['name']}"


def tasks_of(entries: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """All tasks of a file, those in blocks, too."""
    for entry in entries:
        yield entry
        for part in ("block", "rescue", "always"):
            yield from tasks_of(entry.get(part) or [])


def test_a12_a_limit_to_half_a_replica_says_so_in_one_line() -> None:
    """ansible-playbook tp2.yml --limit spark-b; spark-a has no facts."""
    [line] = faults(pair(limit=["spark-b"]))
    assert line == (
        "--limit: found spark-b of replica tp2-0, wanted spark-a,spark-b."
        " Run without --limit, or with --limit spark-a,spark-b."
    )


def test_a12_the_address_of_rank_0_comes_from_the_inventory() -> None:
    command = plan.make(pair())["ranks"]["spark-b"]["container"]["command"]
    assert command[command.index("--master-addr") + 1] == "192.0.2.11"


@pytest.mark.parametrize("own", [{}, {"fabric_links": [{"interface": "lo", "address": "127.0.0.1/8"}]}])
def test_a13_a_loopback_is_no_address_of_a_rank(own: dict[str, Any]) -> None:
    hosts = {
        "localhost": {"ansible_connection": "local", **own},
        "spark-b": {**SPARK_B, "ansible_host": "198.51.100.22"},
    }
    lines = [line for line in faults(request(hosts, world_size=2)) if "on host localhost" in line]
    assert lines
    assert lines[0].startswith("fabric_links")


def test_a14_braces_in_a_secret_stay_what_they_are() -> None:
    value = "sk-a{#b{%c}}d"
    ranks = plan.make(pair(everywhere={"serving_env": {"LITELLM_MASTER_KEY": value}}))["ranks"]
    assert [rank["container"]["env"]["LITELLM_MASTER_KEY"] for rank in ranks.values()] == [value, value]


def test_a16_an_idle_connection_is_kept_alive(connection: configparser.SectionProxy) -> None:
    """A pull of 1900 s, and a NAT that forgets a silent connection after 300 s."""
    options = dict(word.split("=", 1) for word in connection["ssh_args"].split() if "=" in word)
    assert 0 < int(options["ServerAliveInterval"]) < 300


ON_HOSTS = sorted(
    path.stem
    for path in (CHECKOUT / "plugins/modules").glob("*.py")
    if "AnsibleModule(" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", ON_HOSTS)
def test_a02_a_module_needs_python_alone(module: str) -> None:
    """ansible_python_interpreter: /usr/bin/python3.12, without ``requests``."""
    names = imports(CHECKOUT / "plugins/modules" / f"{module}.py")
    assert names
    assert not {name.partition(".")[0] for name in names} & {"requests", "docker", "yaml", "urllib3"}


@pytest.mark.parametrize(("version", "status"), [("3.12.3", "pass"), ("3.9.2", "fail")])
def test_a02_the_python_that_ansible_chose_is_looked_at(version: str, status: str) -> None:
    assert answer(machine, "machine.python", captured(python=version)).status == status


def test_a18_in_a_container_what_is_the_machines_is_no_finding() -> None:
    raw = captured({"/run/systemd/container": "docker\n", "/proc/sys/kernel/osrelease": "7.0.0-1009-nvidia\n"})
    for word in ("time_sync", "rdma_kernel", "next_kernel"):
        check = answer(machine, f"machine.{word}", raw, transport="roce")
        assert (check.status, check.found[:14]) == ("skip", "in a container")
