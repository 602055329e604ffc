# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of what a deployment mends by itself."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import failed
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.mended import models, without_mended

WHOLE: dict[str, Any] = {
    "hub": "huggingface",
    "model": "acme/tiny",
    "problems": [],
    "fingerprint": "aaaa",
    "size": 9,
    "writable": True,
}
GONE = {**WHOLE, "problems": ["no folder x"], "fingerprint": ""}
RANKS = {host: {"model_revision": ""} for host in ("s1", "s2", "s3")}


def test_a_model_that_another_host_has_is_copied() -> None:
    assert models(RANKS, {"s1": WHOLE, "s2": GONE, "s3": {}}, True, "") == {"s2": "the deployment copies it from s1"}


def test_a_model_that_nobody_has_is_downloaded_if_it_may_be() -> None:
    words = "the deployment downloads it on s1"
    assert models(RANKS, {"s1": GONE, "s2": GONE}, True, "") == {"s1": words, "s2": words}
    assert models(RANKS, {"s1": GONE, "s2": GONE}, False, "") == {}


def test_what_cannot_be_written_is_not_mended() -> None:
    assert models(RANKS, {"s1": WHOLE, "s2": {**GONE, "writable": False}}, True, "") == {}


def test_only_what_is_mended_is_taken_out() -> None:
    complete, across, other = (
        failed(name, "found", "wanted", "remedy") for name in ("model.complete", "across.model", "memory.need")
    )
    checks = [("s1", complete), ("s2", complete), ("s2", across), ("s2", other)]
    found = without_mended(checks, {"s2": "it is copied"}, images=False)
    assert [check.status for _host, check in found] == ["fail", "skip", "skip", "fail"]
    assert found[1][1].found == "found; it is copied"


def test_an_image_that_all_hosts_get_is_no_reason() -> None:
    checks = [("s2", failed("across.image", "another", "wanted", "remedy"))]
    assert without_mended(checks, {}, images=False) == checks
    assert without_mended(checks, {}, images=True)[0][1].status == "skip"
