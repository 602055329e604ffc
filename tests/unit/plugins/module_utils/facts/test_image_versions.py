# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions of what is in an engine's image."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import image_versions
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw, Sources


def test_it_runs_in_the_image_without_a_network_and_not_for_ever() -> None:
    argv = image_versions.sources("acme/vllm:1").commands[image_versions.NAME]
    assert argv[0] == "timeout"
    assert argv[argv.index("--entrypoint") + 1 : argv.index("-c")] == ("python3", "acme/vllm:1")
    assert argv[argv.index("--network") + 1] == "none"


def test_the_program_reads_this_environment() -> None:
    argv = image_versions.sources("acme/vllm:1").commands[image_versions.NAME]
    done = subprocess.run([sys.executable, *argv[argv.index("-c") :]], capture_output=True, text=True, check=True)
    found = image_versions.versions(Raw(outputs={image_versions.NAME: Output(0, done.stdout)}))
    assert found["python"] == sys.version.split()[0]


def test_without_an_image_nothing_runs() -> None:
    assert image_versions.sources("") == Sources()


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (Output(0, 'a banner\nDGXSPARK-PROBE {"versions": {"torch": "2.10.0"}}\n'), {"torch": "2.10.0"}),
        (Output(0, "DGXSPARK-PROBE no JSON"), {}),
        (Output(0, ""), {}),
        (Output(125, "", "No such image"), {}),
    ],
)
def test_what_the_image_says(output: Output, found: dict[str, str]) -> None:
    assert image_versions.versions(Raw(outputs={image_versions.NAME: output})) == found
