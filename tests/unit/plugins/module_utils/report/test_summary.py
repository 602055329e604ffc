# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The summary that a deployment ends with."""

from __future__ import annotations

import json
import shlex

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.report import summary

REPLICAS = [
    {
        "name": f"tp1-{index}",
        "hosts": [f"spark{index + 1}"],
        "endpoint": f"http://192.0.2.1{index}:8000",
        "served_model_name": "qwen",
        "engine": "vllm",
    }
    for index in range(2)
]


def test_summary() -> None:
    lines = summary.summary(REPLICAS, {"tp1-0": summary.Readiness("0.32.0", 31.26)})
    assert lines[:4] == [
        "replica  hosts   endpoint                served model  engine       smoke tok/s",
        "-------  ------  ----------------------  ------------  -----------  -----------",
        "tp1-0    spark1  http://192.0.2.10:8000  qwen          vllm 0.32.0  31.3",
        "tp1-1    spark2  http://192.0.2.11:8000  qwen          vllm         -",
    ]


@pytest.mark.parametrize("model", ["qwen", 'it\'s "quoted"', "模型"])
def test_the_curl_line_survives_a_shell(model: str) -> None:
    words = shlex.split(summary.curl("http://192.0.2.10:8000", model))
    assert words[:3] == ["curl", "-N", "http://192.0.2.10:8000/v1/chat/completions"]
    assert json.loads(words[-1])["model"] == model


@pytest.mark.parametrize("model", ["qwen", 'it\'s "quoted"', "模型"])
def test_the_codex_profile_is_toml(model: str) -> None:
    tomllib = pytest.importorskip("tomllib", reason="new in Python 3.11, the controller's least")
    profile = tomllib.loads("\n".join(summary.codex_profile("http://192.0.2.10:8000", model)))
    assert profile["profiles"]["spark"] == {"model_provider": "spark", "model": model}
    assert profile["model_providers"]["spark"]["base_url"] == "http://192.0.2.10:8000/v1"
