# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A model of 2 GB, and an image, from one host to three over real links: undisturbed, killed, with a dead host."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab.docker_engine import ensure_engine
from lab.engine_choice import chosen_engines
from lab.engines.engine import DENSE, tiny_models
from lab.lab import Lab
from tests.lab.copies import HOSTS, MANAGEMENT, MODEL, SOURCE, TARGETS, Copies
from tools.ssh_masters import own_control_folder

PADDING = 2_000_000_000
STREAMS = 8
# What a killed stream may have received and not yet have kept.
LOST_PER_STREAM = 16 << 20
# Headers, acknowledgements, and the ssh of tests over the management network.
OVERHEAD = 1.03
IMAGE = "lab/engine-double:1"
DEPLOY = ("deploy-tp1.yml", "-e", f"model={MODEL}", "-e", f"fanout_streams={STREAMS}", "--tags", "model")


@pytest.fixture(scope="module")
def copies(docker_engine: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    """Four hosts, of which the first has the model and all have the image."""
    made = Lab(ensure_engine(), f"{os.environ.get('DGXSPARK_TEST_LAB', 'labtest')}-4"[-32:])
    made.down()  # of a session that was killed
    inventory = tmp_path_factory.mktemp("inventory")
    try:
        made.up(len(HOSTS), chosen_engines(["double"]), inventory)
        made.lay_hub_model(SOURCE, MODEL, tiny_models()[DENSE], PADDING)
        with own_control_folder() as environment:
            yield Copies(made, inventory, environment)
    finally:
        made.down()


def test_from_one_host_to_three(copies: Copies) -> None:
    sent = copies.counted("tx_bytes", [SOURCE])[0]
    received = copies.counted("rx_bytes", TARGETS)
    elsewhere = copies.counted("rx_bytes", TARGETS, MANAGEMENT)
    run = copies.play(*DEPLOY)
    assert run.code == 0, run.text
    # Once from the source, once to each target, and by the fabric alone.
    assert PADDING < copies.counted("tx_bytes", [SOURCE])[0] - sent < PADDING * 1.05
    for before, after in zip(received, copies.counted("rx_bytes", TARGETS), strict=True):
        assert PADDING < after - before < PADDING * 1.05
    for before, after in zip(elsewhere, copies.counted("rx_bytes", TARGETS, MANAGEMENT), strict=True):
        assert after - before < 50e6
    assert copies.wrong_blobs(TARGETS) == []
    assert len(set(copies.files(HOSTS))) == 1
    again = copies.play(*DEPLOY)
    assert (again.code, again.changed) == (0, 0), again.text


def test_killed_in_the_middle_and_run_again(copies: Copies) -> None:
    copies.forget_model()
    killed = TARGETS[:2]
    received = copies.counted("rx_bytes", killed)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(copies.play, *DEPLOY)
        list(pool.map(lambda host: copies.received(first, host, PADDING * 2 // 5), killed))
        list(pool.map(copies.kill, killed))
        ended = first.result()
    assert ended.code != 0, ended.text
    assert all(host in ended.text for host in killed)
    assert copies.wrong_blobs(TARGETS) == [], "half a file under its final name"
    # The one that nobody killed has all of it.
    assert copies.files(TARGETS[2:]) == copies.files([SOURCE])

    again = copies.play(*DEPLOY)
    assert again.code == 0, again.text
    for before, after in zip(received, copies.counted("rx_bytes", killed), strict=True):
        assert after - before < PADDING * OVERHEAD + STREAMS * LOST_PER_STREAM
    assert copies.wrong_blobs(killed) == []
    assert len(set(copies.files(HOSTS))) == 1


def test_a_host_in_the_middle_dies(copies: Copies) -> None:
    copies.forget_model()
    dead, *others = TARGETS[1], TARGETS[0], TARGETS[2]
    with ThreadPoolExecutor() as pool:
        first = pool.submit(copies.play, *DEPLOY, "-e", "fanout_stall=5")
        try:
            copies.received(first, dead, PADDING // 5)
            copies.lab.cut(dead)
            ended = first.result()
        finally:
            copies.lab.restore(dead)
    assert ended.code != 0
    assert f"fatal: [{dead}]" in ended.text
    assert not any(f"fatal: [{host}]" in ended.text for host in others)
    assert copies.wrong_blobs(TARGETS) == []
    assert copies.files(others) == copies.files([SOURCE]) * 2

    again = copies.play(*DEPLOY)
    assert again.code == 0, again.text
    assert len(set(copies.files(HOSTS))) == 1


def test_an_image_from_one_engine_to_three(copies: Copies) -> None:
    look = f"docker image inspect --format '{{{{.Id}}}} {{{{.RootFS.Layers}}}}' {IMAGE}"
    wanted = copies.sh(SOURCE, look)
    copies.on(TARGETS, f"docker image rm {IMAGE}")
    run = copies.play("deploy-tp1.yml", "--tags", "image")
    assert run.code == 0, run.text
    assert copies.on(TARGETS, look) == [wanted] * len(TARGETS)
    left = copies.on(HOSTS, "sudo ls -A /var/lib/dgxspark-serving/images 2>/dev/null || :")
    assert left == [""] * len(HOSTS)
