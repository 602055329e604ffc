# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's certificate."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509 import verification

from ansible_collections.dgxspark.serving.plugins.plugin_utils import gateway_certificate
from ansible_collections.dgxspark.serving.plugins.plugin_utils.gateway_certificate import DAYS

NOW = datetime(2026, 11, 30, tzinfo=timezone.utc)
NAMES = ("192.0.2.11", "spark1")


def parts(names: tuple[str, ...] = NAMES, made: datetime = NOW) -> tuple[str, str]:
    """A certificate and its key."""
    pem = gateway_certificate.self_signed(list(names), made).pem
    at = pem.index("-----BEGIN PRIVATE KEY")
    return pem[:at], pem[at:]


CERTIFICATE, KEY = parts()
_OTHER, OTHER_KEY = parts()


def locked() -> str:
    key = serialization.load_pem_private_key(KEY.encode(), None)
    way = serialization.BestAvailableEncryption(b"x")
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, way).decode()


def faults(certificate: str, key: str, now: datetime = NOW) -> list[tuple[str, str]]:
    files = {"/crt": certificate, "/key": key}
    made, found, _warnings = gateway_certificate.given("/crt", "/key", files.__getitem__, now)
    assert (made is None) == bool(found)
    return [(fault.variable, fault.found) for fault in found]


def test_one_that_we_make_is_one_that_can_be_given(tmp_path: Path) -> None:
    made = gateway_certificate.self_signed(list(NAMES), NOW)
    end = int((NOW + timedelta(days=DAYS)).timestamp())
    assert made.facts == {"names": list(NAMES), "not_after": end, "self_signed": True}
    given, found, warnings = gateway_certificate.given("/c", "/k", {"/c": CERTIFICATE, "/k": KEY}.__getitem__, NOW)
    assert given is not None
    assert (sorted(given.facts["names"]), given.facts["self_signed"], found, warnings) == (sorted(NAMES), False, [], [])
    (tmp_path / "tls.pem").write_text(given.pem)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tmp_path / "tls.pem")


@pytest.mark.parametrize(
    ("certificate", "key", "now", "expected"),
    [
        (
            CERTIFICATE,
            KEY,
            NOW + timedelta(days=DAYS + 1),
            [("gateway_tls_certificate", "/crt, which expired on 2029-03-04")],
        ),
        (
            CERTIFICATE,
            KEY,
            NOW - timedelta(days=1),
            [("gateway_tls_certificate", "/crt, which is valid from 2026-11-29 23:00 UTC on")],
        ),
        (
            CERTIFICATE,
            OTHER_KEY,
            NOW,
            [("gateway_tls_key", "/key, which does not belong to the first certificate in /crt")],
        ),
        (CERTIFICATE, locked(), NOW, [("gateway_tls_key", "/key, which has a passphrase")]),
        (
            "nothing",
            "nothing",
            NOW,
            [
                ("gateway_tls_certificate", "/crt, in which there is none that can be read"),
                ("gateway_tls_key", "/key, in which there is none that can be read"),
            ],
        ),
    ],
    ids=["expired", "not yet", "other key", "passphrase", "no PEM"],
)
def test_one_that_cannot_be_used(certificate: str, key: str, now: datetime, expected: list[tuple[str, str]]) -> None:
    assert faults(certificate, key, now) == expected


def test_no_path_and_no_file() -> None:
    def read(path: str) -> str:
        raise PermissionError(13, "Permission denied", path)

    _made, found, _warnings = gateway_certificate.given("", "/key", read, NOW)
    assert [(fault.variable, fault.found) for fault in found] == [
        ("gateway_tls_certificate", "nothing"),
        ("gateway_tls_key", "/key: permission denied"),
    ]


def test_its_end_is_near() -> None:
    late = NOW + timedelta(days=DAYS - 10)
    _made, _faults, warnings = gateway_certificate.given("/c", "/k", {"/c": CERTIFICATE, "/k": KEY}.__getitem__, late)
    assert warnings == ["gateway_tls_certificate: /c ends in 10 days, on 2029-03-04. Renew it, and deploy again."]


@pytest.mark.parametrize("name", [x509.DNSName("spark1"), x509.IPAddress(ipaddress.ip_address("192.0.2.11"))])
def test_strict_clients_take_one_that_we_make(name: x509.DNSName | x509.IPAddress) -> None:
    own = x509.load_pem_x509_certificate(CERTIFICATE.encode())
    verifier = verification.PolicyBuilder().store(verification.Store([own])).time(NOW).build_server_verifier(name)
    assert verifier.verify(own, []) == [own]
