# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes: what their keys and their command become."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import recipe
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError

COMMAND = "vllm serve {model} --host {host} --port {port} --max-model-len {max_model_len}"
DEFAULTS = {"host": "0.0.0.0", "port": 8000, "max_model_len": 4096}


def parse(**keys: Any) -> recipe.Recipe:
    return recipe.parse({"model": "acme/Tack", "defaults": DEFAULTS, "command": COMMAND, **keys}, "tack")


def words_of(error: pytest.ExceptionInfo[ConfigurationError]) -> list[str]:
    return [f"{fault.variable}: {fault.found}" for fault in error.value.faults]


def test_flags_of_ours_become_settings_and_the_others_arguments() -> None:
    tack = parse(container="registry.example/vllm:1", env={"A": 1, "B": True})
    assert (tack.name, tack.model, tack.image) == ("tack", "acme/Tack", "registry.example/vllm:1")
    assert tack.settings == {"listen_address": "0.0.0.0", "port": "8000"}
    assert tack.engine_args == {"max-model-len": "4096"}
    assert tack.env == {"A": "1", "B": "1"}
    assert (tack.min_nodes, tack.max_nodes, tack.notes, tack.needs_consent) == (1, None, [], {})


def test_a_recipe_may_leave_almost_everything_open() -> None:
    bare = recipe.parse({"model": "acme/Tack"}, "bare")
    assert (bare.image, bare.engine, bare.backend, bare.settings, bare.engine_args) == ("", "vllm", "", {}, {})


@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("vllm serve m --enforce-eager --seed=1", {"enforce-eager": True, "seed": "1"}),
        ("vllm serve m --seed -1 --x", {"seed": "-1", "x": True}),
        ("vllm serve m --max_model_len 5", {"max-model-len": "5"}),
        ("vllm serve m --no-enable-prefix-caching", {"enable-prefix-caching": False}),
        (
            "vllm serve m -q awq -cc.mode 3 -O2",
            {"quantization": "awq", "compilation-config": {"mode": 3}, "optimization-level": "2"},
        ),
        ("vllm serve m --a.b_c.d x --a.e {{}}", {"a": {"b_c": {"d": "x"}, "e": {}}}),
        ("vllm serve m --lora-modules a=1 b=2", {"lora-modules": ["a=1", "b=2"]}),
        ("vllm serve m --lora-modules a=1 --lora-modules b=2", {"lora-modules": ["a=1", "b=2"]}),
        ("vllm serve m --seed 1 --seed 1", {"seed": "1"}),
        ('vllm serve m --x \'{"a": {"b": [1, 2]}}\'', {"x": '{"a": {"b": [1, 2]}}'}),
        ('vllm serve m --x \'{{"a": {{"b": 1}}}}\'', {"x": '{"a": {"b": 1}}'}),
        ("vllm serve m \\  \n  --x 1 \\\n  --y", {"x": "1", "y": True}),
        ("# first\nvllm serve m \\\n  # second\n  --x 1", {"x": "1"}),
        ("vllm serve m --x ''", {"x": ""}),
        ('vllm serve m --x \'{"$ref": "a|b"}\'', {"x": '{"$ref": "a|b"}'}),
        ("python3 -m vllm.entrypoints.openai.api_server --model m --x 1", {"x": "1"}),
        ("vllm serve m --nnodes 2 --node-rank 0 --master-addr a --master-port 1 --headless", {}),
        ("vllm serve m --data-parallel-size 1", {}),
    ],
)
def test_the_command_is_read_without_a_shell(command: str, flags: dict[str, Any]) -> None:
    tack = recipe.parse({"command": command}, "tack")
    assert tack.engine_args == flags
    assert tack.model == "m"


def test_placeholders_may_name_each_other() -> None:
    defaults = {"port": 8000, "url": "http://localhost:{port}/{path}", "path": "v1"}
    tack = recipe.parse({"command": "vllm serve m --url {url}", "defaults": defaults}, "tack")
    assert tack.engine_args == {"url": "http://localhost:8000/v1"}


def test_a_mapping_as_default_becomes_json() -> None:
    document = {"command": "vllm serve m --x '{config}'", "defaults": {"config": {"a": True}}}
    assert recipe.parse(document, "tack").engine_args == {"x": '{"a": true}'}


def test_variables_in_front_of_the_program_become_environment() -> None:
    tack = parse(command="VLLM_X=1 vllm serve m", defaults={}, env={"VLLM_Y": "2"})
    assert tack.env == {"VLLM_X": "1", "VLLM_Y": "2"}


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("vllm serve {mdoel}", "the placeholder {mdoel}"),
        ("vllm serve {loop}", "the placeholder {loop} within itself"),
        ("vllm serve m --x 'a", "a quotation mark that is not closed"),
        ("vllm serve m | tee log", "the shell operator |"),
        ("cd /x && vllm serve m", "the shell operator &&"),
        ("vllm serve m\n--x 1", "a second line"),
        ("vllm serve $MODEL", "the shell expression '$MODEL'"),
        ('vllm serve m --x "$HOME/x"', "the shell expression '\"$HOME/x\"'"),
        ("vllm serve `cat m`", "the shell expression '`cat'"),
        ("llama-server -m x", "'llama-server -m x'"),
        ("bash -c vllm", "'bash -c vllm'"),
        ("vllm bench serve", "'vllm bench serve'"),
        ("vllm serve m --x=1 y", "the word 'y', which belongs to no flag"),
        ("vllm serve m -z 1", "the short flag -z"),
        ("vllm serve m -cc '{{}}' -cc.mode 3", "both --compilation-config and --compilation-config.mode"),
        ("vllm serve m --port 1 --port 2", "two values for port"),
        ("vllm serve m -tp 2 --tensor-parallel-size 4", "two values for tensor_parallel_size"),
        ("vllm serve m -dp 2", "--data-parallel-size 2"),
        ("vllm serve m --distributed-executor-backend uni", "the backend 'uni'"),
        ("vllm serve m --api-key abc", "the secret --api-key"),
        ("sglang serve --model-path m -z", "the short flag -z"),
    ],
)
def test_a_command_that_is_refused_names_its_place(command: str, found: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        recipe.parse({"command": command, "defaults": {"loop": "{loop}"}}, "tack")
    assert words_of(error)[0] == f"recipe tack, command: {found}"


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        ({"model": None, "command": None}, "model: nothing"),
        ({"model": 5}, "model: 5"),
        ({"recipe_version": 3}, "recipe_version: '3'"),
        ({"runtime": "llama-cpp"}, "runtime: 'llama-cpp'"),
        ({"runtime": "sglang"}, "command: a command of vllm with runtime 'sglang'"),
        ({"defaults": ["port"], "command": None}, "defaults: ['port']"),
        ({"env": "A=1"}, "env: 'A=1'"),
        ({"env": {"A": [1]}}, "env.A: [1]"),
        ({"env": {"VLLM_API_KEY": "abc"}}, "env.VLLM_API_KEY: the secret VLLM_API_KEY"),
        ({"min_nodes": "two"}, "min_nodes: 'two'"),
        ({"max_nodes": 0}, "max_nodes: 0"),
        ({"mode": "duo"}, "mode: 'duo'"),
        ({"cluster_only": True, "solo_only": True}, "min_nodes: at least 2 and at most 1"),
    ],
)
def test_a_key_that_is_refused_names_its_place(keys: dict[str, Any], found: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse(**keys)
    assert words_of(error) == [f"recipe tack, {found}"]


def test_all_faults_are_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as error:
        parse(runtime="trtllm", min_nodes=0, command="mpirun x")
    assert len(error.value.faults) == 3
    assert "1. recipe tack, min_nodes: found 0, wanted a whole number from 1 on." in str(error.value)


@pytest.mark.parametrize(
    ("keys", "engine", "backend"),
    [
        ({}, "vllm", ""),
        ({"runtime": "vllm"}, "vllm", ""),
        ({"runtime": "vllm-distributed"}, "vllm", "mp"),
        ({"runtime": "vllm-ray"}, "vllm", "ray"),
        ({"runtime": "eugr-vllm"}, "vllm", "ray"),
        ({"defaults": {**DEFAULTS, "distributed_executor_backend": "ray"}}, "vllm", "ray"),
        ({"command": "vllm serve m --distributed-executor-backend ray"}, "vllm", "ray"),
        ({"command": "sglang serve --model-path acme/Tack --tp 2"}, "sglang", ""),
        ({"command": "python3.12 -m sglang.launch_server --model-path acme/Tack"}, "sglang", ""),
    ],
)
def test_engine_and_backend(keys: dict[str, Any], engine: str, backend: str) -> None:
    tack = parse(**keys)
    assert (tack.engine, tack.backend) == (engine, backend)
    assert "distributed-executor-backend" not in tack.engine_args


@pytest.mark.parametrize(
    ("keys", "least", "most"),
    [
        ({}, 1, None),
        ({"min_nodes": 2, "max_nodes": 4}, 2, 4),
        ({"cluster_only": True}, 2, None),
        ({"cluster_only": False, "solo_only": False}, 1, None),
        ({"solo_only": True}, 1, 1),
        ({"mode": "solo"}, 1, 1),
        ({"mode": "cluster", "min_nodes": 3}, 3, None),
    ],
)
def test_numbers_of_hosts(keys: dict[str, Any], least: int, most: int | None) -> None:
    tack = parse(**keys)
    assert (tack.min_nodes, tack.max_nodes) == (least, most)


@pytest.mark.parametrize(
    ("keys", "hosts", "faults"),
    [
        ({"cluster_only": True}, 2, []),
        ({"cluster_only": True}, 1, [("1 host", "at least 2, as recipe tack says")]),
        ({"solo_only": True}, 1, []),
        ({"solo_only": True}, 2, [("2 hosts", "at most 1, as recipe tack says")]),
        ({"min_nodes": 2, "max_nodes": 3}, 4, [("4 hosts", "at most 3, as recipe tack says")]),
    ],
)
def test_size_faults(keys: dict[str, Any], hosts: int, faults: list[tuple[str, str]]) -> None:
    found = recipe.size_faults(parse(**keys), hosts, "serving_deployments[0].replicas[0]")
    assert [(fault.found, fault.wanted) for fault in found] == faults
    assert {fault.variable for fault in found} <= {"serving_deployments[0].replicas[0]"}


@pytest.mark.parametrize(
    ("keys", "note"),
    [
        (
            {"executor_config": {"shm_size": "1g"}},
            "executor_config is not honoured: the plan decides how containers run",
        ),
        ({"vetted_code": "x"}, "vetted_code is not honoured: it is no key that we know"),
        ({"runtime_config": {"tweak": 1}}, "tweak is not honoured: it is no key that we know"),
        ({"defaults": {**DEFAULTS, "knob": 1}}, "defaults.knob is not used by the command"),
        ({"defaults": {"knob": 1}, "command": None}, "defaults.knob is not used: without a command it has no meaning"),
        (
            {"model": "acme/Other", "command": "vllm serve m", "defaults": {}},
            "model acme/Other is not honoured: the command serves m",
        ),
        (
            {"command": "vllm serve {model} --served-model-name a b", "defaults": {}},
            "further served names are not honoured: b",
        ),
        ({"env": {"HF_TOKEN": "x"}}, "env.HF_TOKEN is left out: an engine that serves fetches nothing"),
        ({"env": {"A": "${HOME}/a"}}, "env.A is left out: it refers to the environment of another machine"),
    ],
)
def test_what_is_not_honoured_is_said_by_name(keys: dict[str, Any], note: str) -> None:
    assert parse(**keys).notes == [note]


def test_keys_that_say_nothing_are_not_mentioned() -> None:
    tack = parse(mods=[], build_args=None, metadata={"x": 1}, description="x", cluster_only=False, env={"A": ""})
    assert (tack.notes, tack.needs_consent, tack.env) == ([], {}, {})


def test_n04_interfaces_stay_with_each_host() -> None:
    tack = parse(env={"NCCL_SOCKET_IFNAME": "enP2p1s0f1np1", "NCCL_IB_HCA": "rocep1s0f0", "NCCL_DEBUG": "WARN"})
    assert tack.env == {"NCCL_DEBUG": "WARN"}
    assert len(tack.notes) == 2


@pytest.mark.parametrize("index", [3, ""])
def test_n17_no_gid_index_comes_from_a_recipe(index: Any) -> None:
    assert "NCCL_IB_GID_INDEX" not in parse(env={"NCCL_IB_GID_INDEX": index}).env


def test_a_default_of_ours_counts_without_a_placeholder() -> None:
    tack = parse(defaults={**DEFAULTS, "tensor_parallel": 2, "gpu_memory_utilization": 0.6})
    assert tack.settings["tensor_parallel_size"] == 2
    assert tack.settings["gpu_memory_utilization"] == 0.6
    fixed = parse(command="sglang serve --model-path m --tp 4", defaults={"tensor_parallel": 2}, model="m")
    assert fixed.settings == {"tensor_parallel_size": "4"}


class TestResolve:
    """A user's values and consent."""

    def test_values_go_into_placeholders_wherever_they_stand(self) -> None:
        tack = parse(command=COMMAND + " --x '{{\"n\": {max_model_len}}}'")
        overrides = {"port": 9000, "engine_args": {"max_model_len": 100, "seed": 1}, "recipe_allow": []}
        resolved, faults = tack.resolve(overrides, [], "-e recipe")
        assert faults == []
        assert resolved.settings["port"] == "9000"
        assert resolved.engine_args == {"max-model-len": "100", "x": '{"n": 100}'}

    @pytest.mark.parametrize(
        ("name", "key"),
        [("tensor_parallel", "tensor_parallel_size"), ("tp_size", "tensor_parallel_size"), ("host", "listen_address")],
    )
    def test_our_names_reach_the_communitys(self, name: str, key: str) -> None:
        tack = recipe.parse({"command": f"vllm serve m --x {{{name}}}", "defaults": {name: "1"}}, "tack")
        assert tack.resolve({key: "2"}, [], "")[0].engine_args == {"x": "2"}

    def test_what_no_placeholder_asks_for_changes_nothing(self) -> None:
        tack = parse()
        assert tack.resolve({"gpu_memory_utilization": 0.5, "image": "x"}, [], "")[0] == tack

    def test_another_model_takes_the_place_of_the_recipes(self) -> None:
        resolved, faults = parse().resolve({"model": "acme/Nail"}, [], "")
        assert (resolved.model, resolved.notes, faults) == ("acme/Nail", [], [])

    def test_a_value_that_breaks_the_command_is_a_fault(self) -> None:
        faults = parse().resolve({"engine_args": {"max_model_len": "'"}}, [], "")[1]
        assert [fault.found for fault in faults] == ["a quotation mark that is not closed"]

    def test_another_engine_is_a_fault(self) -> None:
        [fault] = parse().resolve({"engine": "sglang"}, [], "-e engine")[1]
        assert (fault.variable, fault.found, fault.wanted) == ("-e engine", "recipe tack for vllm", "one for sglang")

    @pytest.mark.parametrize(
        ("keys", "name"),
        [
            ({"mods": ["mods/x"]}, "mods"),
            ({"runtime_config": {"mods": ["mods/x"]}}, "mods"),
            ({"pre_exec": ["pip install x"]}, "pre_exec"),
            ({"post_exec": ["x"]}, "post_exec"),
            ({"post_commands": ["x"]}, "post_commands"),
            ({"command": COMMAND + " --trust-remote-code"}, "trust_remote_code"),
            ({"command": None, "defaults": {"trust_remote_code": True}}, "trust_remote_code"),
            ({"command": COMMAND + " --reasoning-parser-plugin p.py"}, "reasoning_parser_plugin"),
        ],
    )
    def test_foreign_code_waits_for_consent_by_name(self, keys: dict[str, Any], name: str) -> None:
        tack = parse(**keys)
        assert list(tack.needs_consent) == [name]
        [fault] = tack.resolve({}, ["something_else"], "serving_recipe")[1]
        assert fault.variable == "serving_recipe"
        assert fault.found == f"recipe tack with {name}, which {tack.needs_consent[name]}"
        assert f"add {name} to serving_recipe_allow" in fault.remedy
        assert tack.resolve({}, [name], "serving_recipe")[1] == []

    @pytest.mark.parametrize("decision", [True, False])
    def test_a_flag_that_the_user_writes_needs_no_consent(self, decision: bool) -> None:
        tack = parse(command=COMMAND + " --trust-remote-code")
        resolved, faults = tack.resolve({"engine_args": {"trust-remote-code": decision}}, [], "serving_recipe")
        assert (faults, resolved.needs_consent) == ([], {})
        assert "trust-remote-code" not in resolved.engine_args

    def test_consent_passes_flags_and_leaves_scripts_out(self) -> None:
        tack = parse(command=COMMAND + " --trust-remote-code", mods=["mods/x"])
        assert "trust-remote-code" not in tack.engine_args
        resolved = tack.resolve({}, ["trust-remote-code", "mods"], "")[0]
        assert resolved.engine_args["trust-remote-code"] is True
        assert resolved.notes == ["mods is left out: no script of a recipe is run"]
