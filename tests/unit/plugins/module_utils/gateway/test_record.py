# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets in texts, and the record of what was installed."""

from __future__ import annotations

import json

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import placeholders, record
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.decide import Due
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.record import Record

TEXT = "a @KEY:lap.top-1@ b @ENGINE_KEY@ c @KEY_SHA256:ci@ d @OTHER@ user@host"
DAY = 86400
OURS = {"names": ["a"], "not_after": 100 * DAY, "self_signed": True}


def test_secrets_are_filled_in_once() -> None:
    secrets = {"@KEY:lap.top-1@": "@ENGINE_KEY@", "@ENGINE_KEY@": "e", "@KEY_SHA256:ci@": "00"}
    assert placeholders.used([TEXT, "@TLS_PEM@"]) == {*secrets, "@TLS_PEM@"}
    assert placeholders.filled(TEXT, secrets) == "a @ENGINE_KEY@ b e c 00 d @OTHER@ user@host"


def test_a_placeholder_without_a_secret() -> None:
    with pytest.raises(KeyError):
        placeholders.filled("@KEY:ci@", {})


def test_a_record_survives_and_more_in_it_is_left_out() -> None:
    made = Record("haproxy", {"port": 1}, [{"name": "chat", "replicas": []}], OURS, {"a": "b"})
    assert Record.parse({**json.loads(made.text()), "new": 1}) == made
    assert Record.parse({}) == Record()


@pytest.mark.parametrize(
    ("found", "wanted", "now", "good"),
    [
        (OURS, {"names": ["a"]}, 0, True),
        (OURS, {"names": ["a", "b"]}, 0, False),
        (OURS, {"names": ["a"]}, 70 * DAY, False),
        ({**OURS, "self_signed": False}, {"names": ["a"]}, 0, False),
        ({}, {"names": ["a"]}, 0, False),
    ],
)
def test_a_certificate_of_ours_stays_until_its_end_is_near(
    found: dict[str, object], wanted: dict[str, object], now: float, good: bool
) -> None:
    assert record.still_good(found, wanted, now) == good


def test_differences_show_no_secret() -> None:
    before, now = (
        Record(texts={"a": "old\n", "b": "@ENGINE_KEY@\n"}),
        Record(texts={"a": "new\n", "b": "@ENGINE_KEY@\n"}),
    )
    due = Due(files=["a", "b", "rendered.json"], write=["x.service"], leaving=["y.service"])
    rows = record.differences(before, now, due, {"y.service": "gone"}, {"x.service": "here"})
    assert [(row["after_header"].rpartition("/")[2], row["before"], row["after"]) for row in rows] == [
        ("a", "old\n", "new\n"),
        ("b", *record.UNSEEN),
        ("x.service", "", "here"),
        ("y.service", "gone", ""),
    ]
