# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines to paste that ask a gateway or an engine: curl, OpenAI's Python client, codex. They name keys, hold none."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

# Variables of a client's shell: the user's own key at the gateway, and the key of the engines themselves.
KEY = "DGXSPARK_KEY"
ENGINE_KEY = "DGXSPARK_ENGINE_KEY"
CERTIFICATE = "gateway.pem"
QUESTION = "Hello"


@dataclass(frozen=True)
class Way:
    """How a client gets to an API.

    :ivar url: all that stands before ``/v1``
    :ivar key: name of the shell's variable that holds the key; empty where none is asked for
    :ivar self_signed: whether the client must be given the certificate as a file
    """

    url: str
    key: str = ""
    self_signed: bool = False


def through(gateway: Mapping[str, Any]) -> list[Way]:
    """The ways through a gateway, one for each of its hosts.

    :param gateway: the description of the plan
    """
    key = KEY if gateway["keys"] or gateway["litellm"]["own_keys"] else ""
    return [Way(gateway["urls"][host], key, gateway["tls"] == "self-signed") for host in gateway["hosts"]]


def curl(way: Way, model: str) -> str:
    """A command that streams one answer."""
    payload = {"model": model, "messages": [{"role": "user", "content": QUESTION}], "max_tokens": 64, "stream": True}
    body = shlex.quote(json.dumps(payload, ensure_ascii=False))
    words = ["curl", "-N", f"{way.url}/v1/chat/completions"]
    words += ["--cacert", CERTIFICATE] if way.self_signed else []
    words += ["-H", f'"Authorization: Bearer ${way.key}"'] if way.key else []
    return " ".join([*words, "-H", "'Content-Type: application/json'", "-d", body])


def openai_client(way: Way, model: str) -> list[str]:
    """A program that streams one answer."""
    modules = [name for name, used in (("os", way.key), ("ssl", way.self_signed)) if used]
    client = "DefaultHttpxClient, OpenAI" if way.self_signed else "OpenAI"
    key = f'os.environ["{way.key}"]' if way.key else '"none"'
    trust = f'DefaultHttpxClient(verify=ssl.create_default_context(cafile="{CERTIFICATE}"))'
    question = json.dumps([{"role": "user", "content": QUESTION}])
    return [
        *[f"import {name}" for name in modules],
        f"from openai import {client}",
        "client = OpenAI(",
        f"    base_url={_quoted(way.url + '/v1')},",
        f"    api_key={key},",
        *([f"    http_client={trust},"] if way.self_signed else []),
        ")",
        "answer = client.chat.completions.create(",
        f"    model={_quoted(model)}, messages={question}, stream=True",
        ")",
        "for part in answer:",
        "    if part.choices:",
        '        print(part.choices[0].delta.content or "", end="", flush=True)',
    ]


def codex_profile(way: Way, model: str) -> list[str]:
    """Lines of TOML that make the API a codex profile, in a file of its own: codex 0.134 refuses tables of profiles."""
    return [
        f"model = {_quoted(model)}",
        'model_provider = "spark"',
        "",
        "[model_providers.spark]",
        'name = "DGX Spark"',
        f"base_url = {_quoted(way.url + '/v1')}",
        'wire_api = "responses"',
        *([f'env_key = "{way.key}"'] if way.key else []),
    ]


def fetch_certificate(way: Way) -> str:
    """A command that writes the gateway's own certificate into a file."""
    at = urlsplit(way.url)
    address = f"{at.netloc}" if at.port else f"{at.netloc}:443"
    return f"openssl s_client -connect {address} </dev/null 2>/dev/null | openssl x509 -out {CERTIFICATE}"


def _quoted(text: str) -> str:
    """JSON's quoting of text is TOML's and Python's as well."""
    return json.dumps(text, ensure_ascii=False)
