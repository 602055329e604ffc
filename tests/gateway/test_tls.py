# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS at the gateway's address."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.gateway.clients import Client
from tests.gateway.serving import Serve


@pytest.mark.feature("tls")
def test_tls_streams_and_answers_nothing_in_the_clear(serve: Serve, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=gateway", "-days", "2", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command, *names], check=True, capture_output=True)
    gateway = serve(1, tls="given", certificate=certificate.read_text() + key.read_text())
    answer = gateway.client.chat(stream=True, max_tokens=5, mock={"gap": 0.1})
    assert (answer.status, answer.broken) == (200, False)
    assert answer.arrivals[4] - answer.arrivals[0] > 0.3
    clear = Client(gateway.started.url.replace("https:", "http:"), gateway.client.key)
    assert clear.chat().status in {0, 400}
