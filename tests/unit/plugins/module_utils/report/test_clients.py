# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines to paste: a shell, Python and TOML must read them as they are meant."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.report import clients
from ansible_collections.dgxspark.serving.plugins.module_utils.report.clients import Way

PLAIN = Way("http://192.0.2.10:8000")
GUARDED = Way("https://192.0.2.10:8080", "DGXSPARK_KEY", self_signed=True)
MODELS = ("qwen", 'it\'s "quoted"', "模型")
# Stands for what people type into their shell.
KEY = "key with $ and spaces"


def pasted(line: str, command: str) -> list[str]:
    """The words that a shell gives to the command of the line."""
    script = f"{command}() {{ for word; do printf '%s\\0' \"$word\"; done; }}\n{line}"
    environment = {**os.environ, "DGXSPARK_KEY": KEY}
    ended = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, check=True)
    return ended.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("model", MODELS)
def test_a_shell_reads_the_curl_line_as_it_is_meant(model: str) -> None:
    words = pasted(clients.curl(PLAIN, model), "curl")
    assert words[:2] == ["-N", "http://192.0.2.10:8000/v1/chat/completions"]
    body = json.loads(words[words.index("-d") + 1])
    assert (body["model"], body["stream"]) == (model, True)
    assert not [word for word in words if "Authorization" in word or "cacert" in word]


def test_the_curl_line_takes_key_and_certificate_from_the_user() -> None:
    words = pasted(clients.curl(GUARDED, "qwen"), "curl")
    assert f"Authorization: Bearer {KEY}" in words
    assert words[words.index("--cacert") + 1] == "gateway.pem"
    assert "-k" not in words


@pytest.mark.parametrize(("way", "key"), [(PLAIN, "none"), (GUARDED, KEY)])
@pytest.mark.parametrize("model", MODELS)
def test_the_program_asks_what_it_should(
    way: Way, key: str, model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: dict[str, Any] = {}

    def create(**options: Any) -> list[Any]:
        asked.update(options)
        words = [SimpleNamespace(delta=SimpleNamespace(content=word)) for word in ("Hi", None)]
        return [SimpleNamespace(choices=[word]) for word in words] + [SimpleNamespace(choices=[])]

    def client(**options: Any) -> Any:
        asked.update(options)
        return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))

    fake = ModuleType("openai")
    fake.__dict__.update(OpenAI=client, DefaultHttpxClient=lambda verify: verify)
    monkeypatch.setitem(sys.modules, "openai", fake)
    monkeypatch.setattr("ssl.create_default_context", lambda cafile: cafile)
    monkeypatch.setenv("DGXSPARK_KEY", KEY)
    exec("\n".join(clients.openai_client(way, model)), {})
    assert (asked["base_url"], asked["api_key"]) == (f"{way.url}/v1", key)
    assert (asked["model"], asked["stream"]) == (model, True)
    assert asked.get("http_client") == ("gateway.pem" if way.self_signed else None)
    assert capsys.readouterr().out == "Hi"


@pytest.mark.parametrize("way", [PLAIN, GUARDED])
@pytest.mark.parametrize("model", MODELS)
def test_the_codex_profile_is_toml(way: Way, model: str) -> None:
    tomllib = pytest.importorskip("tomllib", reason="new in Python 3.11, the controller's least")
    profile = tomllib.loads("\n".join(clients.codex_profile(way, model)))
    assert (profile["model"], profile["model_provider"]) == (model, "spark")
    provider = profile["model_providers"]["spark"]
    assert (provider["base_url"], provider["wire_api"]) == (f"{way.url}/v1", "responses")
    assert provider.get("env_key", "") == way.key
    # codex 0.134 and newer refuse to start with such a table.
    assert "profiles" not in profile


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://192.0.2.10:8080", "192.0.2.10:8080"),
        ("https://[2001:db8::1]:8080", "[2001:db8::1]:8080"),
        ("https://spark1", "spark1:443"),
    ],
)
def test_the_certificate_is_fetched_where_the_gateway_listens(url: str, address: str) -> None:
    assert f"-connect {address} " in clients.fetch_certificate(Way(url, self_signed=True))


@pytest.mark.parametrize(
    ("changes", "ways"),
    [
        ({}, [Way("https://spark1:8080"), Way("https://spark2:8080")]),
        ({"keys": ["ci"]}, [Way("https://spark1:8080", "DGXSPARK_KEY"), Way("https://spark2:8080", "DGXSPARK_KEY")]),
        ({"hosts": ["spark2"], "litellm": {"own_keys": True}}, [Way("https://spark2:8080", "DGXSPARK_KEY")]),
        ({"hosts": ["spark2"], "tls": "self-signed"}, [Way("https://spark2:8080", self_signed=True)]),
    ],
)
def test_ways_through_a_gateway(changes: dict[str, Any], ways: list[Way]) -> None:
    urls = {"spark1": "https://spark1:8080", "spark2": "https://spark2:8080"}
    plain = {"hosts": ["spark1", "spark2"], "urls": urls, "tls": "given", "keys": [], "litellm": {"own_keys": False}}
    assert clients.through({**plain, **changes}) == ways
