# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What models that see need."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.models import processor


@pytest.mark.parametrize(
    ("config", "sees"),
    [
        ({"architectures": ["AcmeVLForConditionalGeneration"], "vision_config": {}}, True),
        ({"architectures": ["Qwen2VLForConditionalGeneration"]}, True),
        ({"visual": {"layers": 1}}, True),
        ({"thinker_config": {"vision_config": {"depth": 1}}}, True),
        ({"architectures": ["T5ForConditionalGeneration"]}, False),
        ({"architectures": ["Qwen3ForCausalLM"], "vision_config": None}, False),
        ({"architectures": ["AcmeVLoraForCausalLM"]}, False),
        ({"architectures": "VL", "thinker_config": 1}, False),
        ({}, False),
    ],
)
def test_sees_m10(config: dict[str, Any], sees: bool) -> None:
    assert processor.sees(config) is sees


@pytest.mark.parametrize(
    ("names", "lacks"),
    [
        ({"config.json"}, True),
        ({"preprocessor_config.json"}, False),
        ({"processor_config.json"}, False),
        ({"params.json", "tekken.json"}, False),
        ({"params.json"}, True),
    ],
)
def test_lacks_processor_m10(names: set[str], lacks: bool) -> None:
    assert processor.lacks_processor({"vision_config": {}}, names) is lacks


@pytest.mark.parametrize(
    ("name_or_path", "card", "base"),
    [
        ("acme/base", "", "acme/base"),
        ("acme/tiny", "---\nbase_model: acme/base\n---\n", "acme/base"),
        (
            "/home/me/models/base",
            "---\nlicense: mit\nbase_model:\n- acme/base\n- acme/other\ntags:\n---\n",
            "acme/base",
        ),
        (None, '---\nbase_model: ["acme/base", "x/y"]\n---\n', "acme/base"),
        (None, "---\nbase_model_relation: quantized\n---\nbase_model: acme/base\n", ""),
        (None, "no front matter", ""),
    ],
)
def test_base_model_m10(name_or_path: str | None, card: str, base: str) -> None:
    assert processor.base_model({"_name_or_path": name_or_path}, card, "acme/tiny") == base
