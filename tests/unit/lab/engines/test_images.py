# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes into the engine images, and what the lab is told of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab.engines import ENGINES
from lab.engines.base_image import mmdebstrap_command
from lab.engines.vllm_cpu_image import ENVIRONMENT, REQUIREMENTS, VERSION, pip_command, wanted, write_distribution


def requirements() -> list[str]:
    """Return the pinned packages."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_every_package_is_pinned_once() -> None:
    pinned = [re.fullmatch(r"([A-Za-z0-9._-]+)==([\w.]+)", line) for line in requirements()]
    assert all(pinned), [line for line, match in zip(requirements(), pinned, strict=True) if not match]
    names = [match[1].lower().replace("_", "-") for match in pinned if match]
    assert len(names) == len(set(names))
    assert {"ray", "setuptools", "torch", "vllm-cpu"} <= set(names)
    assert not {"triton", "torchvision"} & set(names)
    assert f"vllm-cpu=={VERSION}" in requirements()


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ("torch/lib/libtorch_cpu.so", True),
        ("torch/bin/torch_shm_manager", True),
        ("torch/bin/test_api", False),
        ("torch/include", False),
        ("torch/testing/_utils.py", True),
        ("numpy/tests", False),
        ("ray/jars", False),
        ("ray/dashboard/dashboard.py", True),
        ("vllm/_C.abi3.so", True),
        ("numpy/__init__.pyi", False),
        ("bin", False),
        ("x/bin", True),
    ],
)
def test_what_goes_into_the_image(place: str, kept: bool) -> None:
    assert wanted(place) is kept


def test_pip_installs_for_the_image_and_not_for_this_python(tmp_path: Path) -> None:
    command = pip_command(tmp_path)
    assert {"--no-deps", "--only-binary=:all:", "--python-version=3.11", f"--target={tmp_path}"} <= set(command)
    assert "--platform=manylinux_2_28_x86_64" in command
    assert "--platform=manylinux_2_37_x86_64" not in command  # newer than bookworm's C library


def test_a_distribution_without_files_can_be_found(tmp_path: Path) -> None:
    from importlib.metadata import Distribution, distributions

    write_distribution(tmp_path, "some-thing", "1.2+cpu", "[group]\nname = module:function\n")
    found: list[Distribution] = list(distributions(path=[str(tmp_path)]))
    assert [(each.metadata["Name"], each.version) for each in found] == [("some-thing", "1.2+cpu")]
    assert [entry.value for entry in found[0].entry_points] == ["module:function"]


def test_the_image_never_asks_a_hub_or_a_compiler() -> None:
    assert ENVIRONMENT["HF_HUB_OFFLINE"] == ENVIRONMENT["TORCHDYNAMO_DISABLE"] == "1"


def test_the_base_is_described_by_its_command() -> None:
    command = mmdebstrap_command(Path("/x/rootfs"))
    assert command[-2:] == ["bookworm", "/x/rootfs"]
    assert any(option.startswith("--include=") and "python3" in option for option in command)


@pytest.mark.parametrize("name", ["double", "vllm-cpu"])
def test_what_the_lab_is_told(name: str) -> None:
    values = ENGINES[name].host_vars()
    assert values["serving_image"] == ENGINES[name].reference
    assert values["serving_model"] == "/srv/models/tiny-qwen3"
    assert values["serving_served_model_name"] == "tiny-qwen3"
    assert values["serving_engine_args"] == {"enforce-eager": True, "max-model-len": 2048, "max-num-seqs": 16}
    assert (values["serving_transport"], values["serving_gpu_memory_utilization"]) == ("socket", 0.1)
    assert values["replica_memory_floor"] == 1


def test_models_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DGXSPARK_CACHE", str(tmp_path))
    models = ENGINES["double"].models()
    assert set(models) == {"tiny-qwen3", "tiny-qwen3-moe"}
    assert all((folder / "model.safetensors").stat().st_size > 1 << 20 for folder in models.values())
    assert ENGINES["vllm-cpu"].models() == models
