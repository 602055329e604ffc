# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients' keys, read on the controller."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.plugin_utils import gateway_keys

FILES = {
    "/a": "key-a\n",
    "/empty": " \n",
    "/two": "one\ntwo\n",
    "/env": "DATABASE_URL=postgres://x\nLITELLM_MASTER_KEY=sk\n",
}


def read(path: str) -> str:
    try:
        return FILES[path]
    except KeyError:
        raise FileNotFoundError(2, "No such file or directory", path) from None


def test_keys_from_files_and_from_a_vault() -> None:
    keys, faults = gateway_keys.read_keys(
        [{"name": "a", "file": "/a"}, {"name": "b", "key": "Key.b_~+/=:-"}], ["a"], read
    )
    assert (keys, faults) == ({"a": "key-a", "b": "Key.b_~+/=:-"}, [])
    assert gateway_keys.secrets({"a": "abc"}) == {
        "@KEY:a@": "abc",
        "@KEY_SHA256:a@": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    }


@pytest.mark.parametrize(
    ("entry", "variable", "found"),
    [
        ({"file": "/none"}, "gateway_keys[0].file", "/none: no such file or directory"),
        ({"file": "/empty"}, "gateway_keys[0].file", "/empty empty"),
        ({"file": "/two"}, "gateway_keys[0].file", "a key with a space or line end in it"),
        ({"key": 'sec"ret'}, "gateway_keys[0].key", "a key with other characters"),
        ({"key": "sécret"}, "gateway_keys[0].key", "a key with other characters"),
        ({}, "gateway_keys[0]", "neither key nor file"),
        ({"key": "secret", "file": "/a"}, "gateway_keys[0]", "both key and file"),
    ],
)
def test_a_key_that_cannot_be_used(entry: dict[str, Any], variable: str, found: str) -> None:
    _keys, (fault,) = gateway_keys.read_keys([{"name": "x", **entry}], ["x"], read)
    assert (fault.variable, fault.found) == (variable, found)
    assert "ret" not in str(fault).replace("gateway", "")


def test_all_faults_come_at_once() -> None:
    entries = [
        {"name": "a", "key": "same-secret"},
        {"name": "b", "key": "same-secret"},
        {"name": "a", "key": "other"},
        {"name": "c", "file": "/none"},
    ]
    _keys, faults = gateway_keys.read_keys(entries, ["a", "d"], read)
    assert [fault.found for fault in faults] == [
        "for b the same key as for a",
        "'a' again",
        "/none: no such file or directory",
        "no key d",
    ]
    assert "secret" not in str(faults)


def test_litellms_own_keys() -> None:
    text, faults = gateway_keys.read_environment("/env", read)
    assert (text, faults) == (FILES["/env"].rstrip("\n"), [])
    _text, (fault,) = gateway_keys.read_environment("/a", read)
    assert fault.found == "/a without DATABASE_URL, LITELLM_MASTER_KEY"
    _text, (fault,) = gateway_keys.read_environment("/none", read)
    assert fault.found == "/none: no such file or directory"
