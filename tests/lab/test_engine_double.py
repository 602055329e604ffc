# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine double on the lab's hosts: its image, its ranks over the fabric, and a link that is cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.engines import ENGINES
from lab.lab import Lab
from tests.lab.engine_containers import (
    EngineHosts,
    engine_hosts,
    rank_flags,
    ray_head_command,
    ray_node_command,
    wait_for,
)

pytestmark = pytest.mark.engines("double")

READY_SECONDS = 120.0
TIMED_OUT = 28  # curl's exit code


@pytest.fixture
def hosts(lab: Lab) -> Iterator[EngineHosts]:
    """Return the hosts, for containers of this image; links that a test cut are whole again afterwards."""
    with engine_hosts(lab, ENGINES["double"].reference) as made:
        yield made
    for host in ("spark1", "spark2"):
        lab.restore(host)


def test_one_rank_streams(hosts: EngineHosts) -> None:
    hosts.serve("spark1")
    hosts.wait_ready(READY_SECONDS)
    hosts.check_stream(12)


def test_two_ranks_join_over_the_fabric(hosts: EngineHosts) -> None:
    hosts.serve("spark2", *rank_flags(1))
    head = hosts.serve("spark1", *rank_flags(0))
    hosts.wait_ready(READY_SECONDS)
    assert "-tp2-" in hosts.check_stream(12)["system_fingerprint"]
    code, connections, _error = hosts.lab.run("spark1", ["ss", "-Htn", "state", "established", "sport", "29501"])
    assert code == 0
    assert "10.100.0.2" in connections, head.log()


def test_the_image_can_be_asked_what_it_takes(hosts: EngineHosts) -> None:
    program = (
        "import ray, vllm; from vllm.utils.argparse_utils import FlexibleArgumentParser as Parser; "
        "from vllm.entrypoints.launchers.cli_args import make_arg_parser; make_arg_parser(Parser()).parse_args()"
    )
    ask = ["docker", "run", "--rm", "--network", "none", "--entrypoint", "python3", hosts.image, "-c", program, "m"]
    assert hosts.lab.run("spark1", [*ask, "--enforce-eager"])[0] == 0
    code, _output, error = hosts.lab.run("spark1", [*ask, "--bogus"])
    assert code == 2
    assert error.rstrip().endswith("error: unrecognized arguments: --bogus")


def test_two_ranks_by_ray_stream(hosts: EngineHosts) -> None:
    hosts.start("spark2", ray_node_command())
    hosts.start("spark1", ray_head_command())
    hosts.wait_ready(READY_SECONDS)
    assert "-tp2-" in hosts.check_stream(12)["system_fingerprint"]


def test_a_cut_link_hangs_requests_while_health_stays_200(hosts: EngineHosts) -> None:
    hosts.serve("spark2", *rank_flags(1))
    hosts.serve("spark1", *rank_flags(0))
    hosts.wait_ready(READY_SECONDS)
    hosts.lab.cut("spark2")
    code, _events = hosts.chat(12, seconds=8)
    assert code == TIMED_OUT
    assert hosts.health() == "200"
    hosts.lab.restore("spark2")
    code, _events = hosts.chat(12, seconds=8)
    assert code == TIMED_OUT  # a collective that has lost its link never recovers
    assert hosts.health() == "200"


def test_a_killed_worker_ends_its_rank_with_code_0(hosts: EngineHosts) -> None:
    worker = hosts.serve("spark2", *rank_flags(1))
    hosts.serve("spark1", *rank_flags(0))
    hosts.wait_ready(READY_SECONDS)
    hosts.lab.kill_worker("spark2")
    wait_for(lambda: not worker.state()["Running"], "rank 1 ends", READY_SECONDS, hosts.containers)
    assert worker.state()["ExitCode"] == 0
    assert hosts.health() == "200"


def test_a_killed_rank_ends_the_other_with_code_0(hosts: EngineHosts) -> None:
    worker = hosts.serve("spark2", *rank_flags(1))
    head = hosts.serve("spark1", *rank_flags(0))
    hosts.wait_ready(READY_SECONDS)
    worker.docker("kill", worker.name)
    assert worker.state()["ExitCode"] == 137
    assert hosts.health() == "200"
    _code, events = hosts.chat(12)
    assert "error" in events[0]
    wait_for(lambda: not head.state()["Running"], "rank 0 ends", READY_SECONDS, hosts.containers)
    assert head.state()["ExitCode"] == 0
