# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables ``benchmark_*``: text from the command line is read, and every wrong value is named."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.options import (
    goodput_of,
    limits_of,
    read_options,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import Unreadable


def test_without_a_word_there_are_defaults() -> None:
    values, faults = read_options({})
    assert faults == []
    assert (values["suite"], values["client"], values["rounds"], values["proxy"]) == ("quick", "auto", None, "")
    assert limits_of(values) == {"connect_s": 10.0, "ttft_s": 300.0, "idle_s": 120.0, "total_s": 1800.0}
    assert goodput_of(values) == {"ttft_ms": None, "tpot_ms": None, "e2el_ms": None}


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("concurrency", "1,4, 8", [1, 4, 8]),
        ("concurrency", "[1, 4]", [1, 4]),
        ("concurrency", "4", [4]),
        ("concurrency", 4, [4]),
        ("cases", "short,long-zh", ["short", "long-zh"]),
        ("cases", '["short"]', ["short"]),
        ("rounds", "3", 3),
        ("min_seconds", "2.5", 2.5),
        ("min_seconds", 0, 0.0),
        ("snapshots", "no", False),
        ("goodput", {"ttft_ms": "500", "tpot_ms": None}, {"ttft_ms": 500.0, "tpot_ms": None}),
        ("margins", {"ttft_ms": 0.2}, {"ttft_ms": 0.2}),
        ("margins", {"ttft_ms": "0.2", "tpot_ms": None}, {"ttft_ms": 0.2, "tpot_ms": None}),
        ("allow_differences", "quant,case_digest", ["quant", "case_digest"]),
        ("allow_differences", "all", ["all"]),
        ("fail_on", "Inconclusive", "inconclusive"),
        ("results", "", "results"),
        ("proxy", "http://proxy:3128", "http://proxy:3128"),
        ("label", "main-2.1", "main-2.1"),
    ],
)
def test_text_from_the_command_line_is_read(key: str, text: Any, value: Any) -> None:
    values, faults = read_options({key: text})
    assert faults == []
    assert values[key] == value


def test_b14_timeouts_are_variables() -> None:
    values, faults = read_options({"timeouts": {"ttft": 2, "total": "3600"}})
    assert faults == []
    assert limits_of(values) == {"connect_s": 10.0, "ttft_s": 2.0, "idle_s": 120.0, "total_s": 3600.0}


@pytest.mark.parametrize(
    ("key", "value", "place"),
    [
        ("concurrency", [0], "benchmark_concurrency[0]"),
        ("concurrency", [1, 1025], "benchmark_concurrency[1]"),
        ("concurrency", "1,many", "benchmark_concurrency[1]"),
        ("concurrency", [4, 4], "benchmark_concurrency"),
        ("rounds", 0, "benchmark_rounds"),
        ("rounds", 51, "benchmark_rounds"),
        ("requests_per_user", 0, "benchmark_requests_per_user"),
        ("min_seconds", -1, "benchmark_min_seconds"),
        ("min_seconds", "soon", "benchmark_min_seconds"),
        ("output_tokens", 0, "benchmark_output_tokens"),
        ("output_tokens", 131073, "benchmark_output_tokens"),
        ("prompt_tokens", -5, "benchmark_prompt_tokens"),
        ("languages", ["de"], "benchmark_languages[0]"),
        ("endpoints", ["chat", "embeddings"], "benchmark_endpoints[1]"),
        ("label", "a/b", "benchmark_label"),
        ("label", "../x", "benchmark_label"),
        ("label", "x" * 61, "benchmark_label"),
        ("soak_minutes", 0, "benchmark_soak_minutes"),
        ("client_lag", {"share": 0}, "benchmark_client_lag.share"),
        ("client_lag", {"p99": 5}, "benchmark_client_lag.p99"),
        ("goodput", {"ttft_ms": 0}, "benchmark_goodput.ttft_ms"),
        ("goodput", {"ttft": 5}, "benchmark_goodput.ttft"),
        ("goodput", "fast", "benchmark_goodput"),
        ("timeouts", {"total": -1}, "benchmark_timeouts.total"),
        ("timeouts", {"idle": "long"}, "benchmark_timeouts.idle"),
        ("goodput", {"ttft_ms": math.inf}, "benchmark_goodput.ttft_ms"),
        ("goodput", {"ttft_ms": ".inf"}, "benchmark_goodput.ttft_ms"),
        ("goodput", {"ttft_ms": "inf"}, "benchmark_goodput.ttft_ms"),
        ("client_lag", {"p99_ms": math.inf}, "benchmark_client_lag.p99_ms"),
        ("min_seconds", math.inf, "benchmark_min_seconds"),
        ("rounds", math.inf, "benchmark_rounds"),
        ("margins", {"tpot_ms": -0.1}, "benchmark_margins.tpot_ms"),
        ("margins", {"tpot_ms": 5}, "benchmark_margins.tpot_ms"),
        ("margins", {"tpot_ms": 0}, "benchmark_margins.tpot_ms"),
        ("margins", {"tpot_ms": "much"}, "benchmark_margins.tpot_ms"),
        ("margins", {"error_rate": 0.1}, "benchmark_margins.error_rate"),
        ("margins", {"ttft_least_ms": math.inf}, "benchmark_margins.ttft_least_ms"),
        ("allow_differences", ["model", "quantization"], "benchmark_allow_differences[1]"),
        ("fail_on", "worse", "benchmark_fail_on"),
        ("proxy", "proxy:3128", "benchmark_proxy"),
        ("seed", -1, "benchmark_seed"),
        ("verify_tls", "perhaps", "benchmark_verify_tls"),
        ("rounds", Unreadable("x is undefined"), "benchmark_rounds"),
        ("cases", Unreadable("x is undefined"), "benchmark_cases"),
    ],
)
def test_a_wrong_value_is_named(key: str, value: Any, place: str) -> None:
    _values, (fault,) = read_options({key: value})
    assert fault.variable == place
    assert fault.wanted
    assert fault.remedy


@pytest.mark.parametrize(
    ("key", "remedy"),
    [
        ("languages", "Write benchmark_languages as a list of 'en' or 'zh'"),
        ("allow_differences", "Correct it, or take it out"),
    ],
)
def test_a_long_list_is_said_once(key: str, remedy: str) -> None:
    _values, (fault,) = read_options({key: ["x"]})
    assert fault.remedy == remedy


def test_an_unknown_key_has_the_likely_meant_one() -> None:
    _values, (fault,) = read_options({"timeouts": {"totl": 3}})
    assert (fault.variable, fault.wanted) == ("benchmark_timeouts.totl", "total")


def test_a_proxy_that_is_spoken_to_by_tls_cannot_be_used() -> None:
    _values, (fault,) = read_options({"proxy": "https://proxy:3128"})
    assert fault.found == "https://, and the client speaks no TLS to a proxy"
    assert fault.wanted == "http://HOST:PORT without a user"


def test_a_proxys_password_is_not_shown() -> None:
    for scheme in ("http", "https"):
        _values, (fault,) = read_options({"proxy": f"{scheme}://user:secret@proxy:3128"})
        assert "secret" not in f"{fault.found} {fault.wanted} {fault.remedy}"


def test_all_faults_at_once() -> None:
    _values, faults = read_options({"rounds": 99, "concurrency": [0], "label": "a b", "seeds": 3})
    assert [fault.variable for fault in faults] == [
        "benchmark_seeds",
        "benchmark_rounds",
        "benchmark_concurrency[0]",
        "benchmark_label",
    ]
