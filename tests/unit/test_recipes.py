# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes that we ship, and files in the community's manner, read as a deployment reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils import recipe
from ansible_collections.dgxspark.serving.plugins.module_utils.engines import sglang, vllm
from ansible_collections.dgxspark.serving.plugins.module_utils.models import reference
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import BY_KEY, read
from lab.engines import engine as lab_engine
from lab.engines.vllm_cpu_image import REFERENCE

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "recipes").glob("*.yaml"))
FOREIGN = sorted((ROOT / "tests" / "fixtures" / "recipes").glob("*.yaml"))
CONSENT = [*recipe.HOOKS, *(flag.replace("-", "_") for flag in recipe.CODE_FLAGS)]
DOCS = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")


def load(path: Path) -> recipe.Recipe:
    return recipe.parse(yaml.safe_load(path.read_text(encoding="utf-8")), path.stem)


def foreign(name: str) -> recipe.Recipe:
    return load(ROOT / "tests" / "fixtures" / "recipes" / f"{name}.yaml")


@pytest.mark.parametrize("path", SHIPPED + FOREIGN, ids=lambda path: path.stem)
def test_an_engine_takes_every_recipe(path: Path) -> None:
    resolved, faults = load(path).resolve({}, CONSENT, "serving_recipe")
    assert faults == []
    engine = vllm if resolved.engine == "vllm" else sglang
    assert engine.argument_faults(resolved.engine_args, "engine_args", "") == []
    for key, value in resolved.settings.items():
        assert read(BY_KEY[key], value, key)[1] is None
    reference.parse(resolved.model)


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_recipe_needs_no_consent_and_says_all(path: Path) -> None:
    shipped = load(path)
    assert (shipped.needs_consent, shipped.notes) == ({}, [])
    assert float(shipped.settings["gpu_memory_utilization"]) <= 0.70
    assert shipped.image
    assert f"| `{path.stem}` |" in DOCS


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_what_nobody_ran_says_so(path: Path) -> None:
    first_comment = path.read_text(encoding="utf-8").splitlines()[1]
    assert first_comment == "# Not yet seen on hardware." or path.stem.startswith("lab-")


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_its_hosts_are_enough_for_its_parallel_size(path: Path) -> None:
    shipped = load(path)
    size = int(shipped.settings.get("tensor_parallel_size", 1))
    assert recipe.size_faults(shipped, size, "") == []
    assert shipped.min_nodes == size


@pytest.mark.parametrize("name", [lab_engine.DENSE, lab_engine.MIXTURE])
def test_the_labs_recipes_are_the_labs_variables(name: str) -> None:
    variables = lab_engine.serving_vars(REFERENCE)
    tiny = load(ROOT / "recipes" / f"lab-{name}.yaml")
    arguments: Any = variables["serving_engine_args"]
    assert tiny.model == f"{lab_engine.MODEL_HOME}/{name}"
    assert tiny.image == variables["serving_image"]
    assert vllm.flags(tiny.engine_args) == vllm.flags(arguments)


def test_every_name_of_the_formats_is_documented() -> None:
    names = recipe.READ | recipe.INFORMATIVE | set(recipe.NOTED) | set(CONSENT) | set(recipe.RUNTIMES)
    assert [name for name in sorted(names) if f"`{name}`" not in DOCS] == []


def test_the_example_of_the_documentation_is_a_recipe() -> None:
    [example] = [block for block in DOCS.split("```yaml\n") if block.startswith("recipe_version")]
    mine = recipe.parse(yaml.safe_load(example.split("```")[0]), "mine")
    assert (mine.model, mine.notes, mine.engine_args) == ("Qwen/Qwen3-8B", [], {"max-model-len": "32768"})


def test_sparkrun_with_everything() -> None:
    anvil, faults = foreign("sparkrun-v2-vllm").resolve({}, ["mods", "pre_exec", "trust_remote_code"], "-e recipe")
    assert ["with post_commands, which" in fault.found for fault in faults] == [True]
    assert anvil.settings == {
        "gpu_memory_utilization": "0.8",
        "listen_address": "0.0.0.0",
        "model_revision": "0123456789abcdef0123456789abcdef01234567",
        "port": "8100",
        "served_model_name": "anvil",
        "tensor_parallel_size": "2",
    }
    assert anvil.engine_args == {
        "attention-backend": "flashinfer",
        "chat-template": "mended.jinja",
        "compilation-config": {"cudagraph_mode": "none"},
        "enable-auto-tool-choice": True,
        "enable-log-requests": False,
        "kv-cache-dtype": "fp8",
        "max-model-len": "262144",
        "speculative-config": '{"method": "draft", "model": "acme/Anvil-1B", "num_speculative_tokens": 3}',
        "tool-call-parser": "acme",
        "trust-remote-code": True,
    }
    assert anvil.env == {"OMP_NUM_THREADS": "4", "VLLM_MARLIN_USE_ATOMIC_ADD": "1"}
    assert (anvil.min_nodes, anvil.max_nodes) == (2, 4)
    assert [note.split()[0] for note in anvil.notes] == [
        "mods",
        "executor_config",
        "pre_exec",
        "benchmark",
        "defaults.unused_knob",
        "env.NCCL_IB_GID_INDEX",
        "env.HF_TOKEN",
        "env.EXTRA_DIR",
        "the",
        "chat-template",
    ]


def test_sparkrun_without_a_command() -> None:
    tack = foreign("sparkrun-v2-plain")
    assert (tack.engine, tack.backend) == ("vllm", "mp")
    assert tack.settings == {"port": 8000, "tensor_parallel_size": 1}
    assert tack.engine_args == {"enforce-eager": True, "max-model-len": "4096"}
    assert [note.split()[0] for note in tack.notes] == ["defaults.tool_call_parser"]


def test_sparkrun_on_sglang() -> None:
    anvil = foreign("sparkrun-v2-sglang")
    assert anvil.engine == "sglang"
    assert anvil.settings == {
        "gpu_memory_utilization": "0.78",
        "listen_address": "0.0.0.0",
        "port": "8000",
        "tensor_parallel_size": "2",
    }
    assert anvil.engine_args == {"context-length": "131072", "cuda-graph-bs": ["1", "2", "4", "8"]}


def test_eugr_on_a_cluster() -> None:
    anvil = foreign("eugr-v1-cluster")
    assert (anvil.model, anvil.image, anvil.backend) == ("acme/Anvil-40B-FP8", "vllm-node", "ray")
    assert (anvil.min_nodes, anvil.max_nodes) == (2, None)
    assert list(anvil.needs_consent) == ["mods"]
    resolved = anvil.resolve({"engine_args": {"max-model-len": 1000}}, ["mods"], "")[0]
    assert resolved.engine_args == {
        "load-format": "fastsafetensors",
        "max-model-len": "1000",
        "override-generation-config": '{"temperature": 0.7, "limits": {"context": 1000}}',
    }


def test_eugr_on_one_machine() -> None:
    tack = foreign("eugr-v1-solo")
    assert (tack.model, tack.max_nodes, tack.backend) == ("acme/Tack-2B", 1, "")
    assert "tensor_parallel_size" not in tack.settings
    assert tack.engine_args == {"optimization-level": "3"}
