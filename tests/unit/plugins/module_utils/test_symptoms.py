# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What engines, libraries and Docker write when something is wrong, and what we make of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils import symptoms

TESTS = Path(__file__).parents[3]
LOGS = TESTS / "fixtures" / "logs"
DOCUMENT = TESTS.parent / "docs" / "troubleshooting-engine.md"
CASES = [
    tuple(line.split(" | ", 1))
    for line in (LOGS / "symptoms.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
HEALTHY = ["vllm-tp1.txt", "vllm-tp2-roce.txt", "sglang-tp2.txt"]


def names(lines: list[str], exit_code: int | None = None, oom_killed: bool = False) -> list[str]:
    return [diagnosis.id for diagnosis in symptoms.diagnose(lines, exit_code, oom_killed)]


def log(name: str) -> list[str]:
    return (LOGS / name).read_text(encoding="utf-8").split("\n")


@pytest.mark.parametrize(("name", "line"), CASES)
def test_each_line_has_its_cause_first(name: str, line: str) -> None:
    found = symptoms.diagnose(["INFO something before", line, "INFO something after"])
    assert found[0].id == name, [diagnosis.id for diagnosis in found]
    assert found[0].line.split("hf_")[0].startswith(line.split("hf_")[0][:60])


def test_each_symptom_has_a_line() -> None:
    assert {symptom.id for symptom in symptoms.SYMPTOMS} == {name for name, _line in CASES}
    assert len(symptoms.SYMPTOMS) >= 40


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_log_has_no_diagnosis(name: str) -> None:
    assert symptoms.diagnose(log(name)) == []


@pytest.mark.parametrize("name", HEALTHY)
def test_a_fault_is_found_in_the_middle_of_a_log(name: str) -> None:
    lines = log(name)
    lines.insert(5, "\x1b[31mRuntimeError: No CUDA GPUs are available\x1b[0m")
    assert names(lines) == ["cuda-no-device"]


@pytest.mark.parametrize(
    ("code", "oom", "expected"),
    [
        (None, False, []),
        (0, False, []),
        (1, False, []),
        (137, False, ["killed"]),
        (137, True, ["oom-killed"]),
        (135, False, ["shm-too-small"]),
        (139, False, ["segfault"]),
        (132, False, ["illegal-instruction"]),
    ],
)
def test_what_the_exit_code_alone_tells(code: int | None, oom: bool, expected: list[str]) -> None:
    assert names([], code, oom) == expected


def test_the_cause_stands_before_its_consequences() -> None:
    lines = [
        "(Worker pid=9) ERROR torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "NCCL INFO Using network Socket",
        "Worker proc VllmWorker-0 died unexpectedly (exit code: 1), shutting down executor.",
        "recvValue failed on SocketImpl(fd=60): Connection reset by peer",
        "(Worker pid=9) ERROR torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB.",
    ]
    found = symptoms.diagnose(lines, 1)
    assert [diagnosis.id for diagnosis in found] == ["cuda-oom", "peer-closed", "worker-died", "nccl-sockets"]
    assert "2.00 GiB" in found[0].line, "the first line that shows it"


def test_m15_a_token_is_masked_and_the_two_cases_differ() -> None:
    denied = symptoms.diagnose(["403 Client Error. HF_TOKEN=hf_EXAMPLEEXAMPLE Cannot access gated repo"])[0]
    absent = symptoms.diagnose(["401 Client Error. Cannot access gated repo, Bearer hf_EXAMPLEEXAMPLE"])[0]
    assert (denied.id, absent.id) == ("gated-denied", "gated-no-token")
    assert denied.remedy != absent.remedy
    assert "hf_EXAMPLE" not in denied.line + absent.line


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("log: exec format error", "exec-format", id="d01"),
        pytest.param("Failed to initialize NVML: Unknown Error (rc 255)", "gpu-lost", id="d08"),
        pytest.param("could not select device driver with capabilities: [[gpu]]", "no-nvidia-runtime", id="d07"),
        pytest.param("log: NCCL INFO NET/IB : No device found.", "ib-missing", id="d11"),
        pytest.param("log rank1: FileNotFoundError in SemLock._rebuild", "semlock", id="n02"),
        pytest.param("log: connect to [127.0.0.1]:40001 refused", "connect-loopback", id="n06"),
        pytest.param("recvValue failed ... Connection was likely closed", "peer-closed", id="n09"),
        pytest.param("Current node has no GPU available", "ray-node-address", id="n11"),
        pytest.param("Cannot assign requested address", "not-own-address", id="n14"),
        pytest.param("import ray -> ModuleNotFoundError: No module named 'ray'", "ray-missing", id="n16"),
        pytest.param(
            "OSError: acme does not appear to have a file named preprocessor_config.json",
            "preprocessor-missing",
            id="m10",
        ),
        pytest.param("PermissionError: [Errno 13] Permission denied: '/h/blobs/w1'", "cache-permission", id="m02"),
        pytest.param(
            "Driver/library version mismatch\n     NVML library version: 580.142", "driver-mismatch", id="p04"
        ),
    ],
)
def test_field_faults(line: str, expected: str) -> None:
    assert names([line])[0] == expected


def test_u01_page_cache_is_named_as_what_fills_the_memory() -> None:
    line = "Free memory on device cuda:0 (39.1/121.7 GiB) on startup is less than desired GPU memory utilization (0.7)"
    assert "page cache" in symptoms.diagnose([line])[0].cause


def test_sentences_are_sentences() -> None:
    for symptom in symptoms.SYMPTOMS:
        assert re.fullmatch(r"[a-z0-9-]+", symptom.id)
        assert symptom.level in (symptoms.FATAL, symptoms.WARNING)
        for text in (symptom.cause, symptom.remedy):
            assert text
            assert not text.endswith((".", " ")), symptom.id
            assert "|" not in text or "`" in text, symptom.id
        assert symptom.remedy[0].isupper()
    ids = [symptom.id for symptom in symptoms.SYMPTOMS]
    assert len(ids) == len(set(ids))
    assert set(symptoms.ROCE_ONLY) < set(ids)


def test_the_document_has_each_symptom_in_order() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+?) \| (.+?) \| (.+?) \|$", DOCUMENT.read_text(encoding="utf-8"), re.M)
    assert [row[0] for row in rows] == [symptom.id for symptom in symptoms.SYMPTOMS]
    for (name, says, cause, remedy), symptom in zip(rows, symptoms.SYMPTOMS, strict=True):
        escaped = [text.replace("|", "\\|") for text in (symptom.cause, symptom.remedy)]
        assert [cause, remedy] == escaped, f"docs/troubleshooting-engine.md is not in step for {name}"
        by_code = any(str(code) in says for code in symptom.exit_codes)
        assert by_code or name in names([says.strip("` ")]), (
            f"{name}: the engine's words in the document are not recognised"
        )
