# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing in a result tells a key."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import no_secrets

M = no_secrets.MASK


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["serve", "--api-key", "k1", "--port", "80"], ["serve", "--api-key", M, "--port", "80"]),
        (["--api-key", "k1", "k2", "--x"], ["--api-key", M, M, "--x"]),
        (["--api-key", "-k1", "-tp", "2"], ["--api-key", M, "-tp", "2"]),
        (["--api-key=k1", "--hf_token=k2"], [f"--api-key={M}", f"--hf_token={M}"]),
        (["VLLM_API_KEY=k1", "A=b"], [f"VLLM_API_KEY={M}", "A=b"]),
        (["bash", "-c", "vllm serve --api-key k1 --port 80"], ["bash", "-c", f"vllm serve --api-key {M} --port 80"]),
        (["--max-num-batched-tokens", "8192"], ["--max-num-batched-tokens", "8192"]),
        ({"HF_TOKEN": "k1", "NCCL_DEBUG": "INFO"}, {"HF_TOKEN": M, "NCCL_DEBUG": "INFO"}),
        ({"key_file": "/etc/k", "ca_file": "/etc/c", "name": "a"}, {"name": "a"}),
        ({"api_key": ""}, {"api_key": ""}),
        ({"tokens": {"prompt": 3}, "token_source": "usage"}, {"tokens": {"prompt": 3}, "token_source": "usage"}),
        ("https://me:pass@host:8443/v1", f"https://{M}@host:8443/v1"),
        ("Authorization: Bearer abcdefgh12345678", f"Authorization: Bearer {M}"),
        ("Incorrect API key provided: sk-abcdef1234567890", f"Incorrect API key provided: sk-{M}"),
        ("5 tokens in 3 s, mail me@host", "5 tokens in 3 s, mail me@host"),
        ((1, None, 2.5, True), [1, None, 2.5, True]),
    ],
)
def test_what_is_taken_out_and_what_stays(given: Any, kept: Any) -> None:
    assert no_secrets.without(given) == kept


def test_secrets_are_found_at_any_depth() -> None:
    deep = {"a": [{"b": {"argv": ["--api-key", "hidden"], "engines": [{"key_file": "/hidden"}]}}]}
    assert "hidden" not in str(no_secrets.without(deep))
