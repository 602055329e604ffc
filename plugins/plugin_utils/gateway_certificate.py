# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's certificate: one that is given is looked at, or one is made. On the controller, by ``cryptography``."""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.plugin_utils.gateway_keys import Read, reason

# ansible-core brings it; what imports all plugins with nothing else installed must find out about that later.
with contextlib.suppress(ImportError):
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CERTIFICATE, KEY = "gateway_tls_certificate", "gateway_tls_key"
# Days for which one that we make is good, and before whose end a given one is complained of.
DAYS, SOON = 825, 30


@dataclass(frozen=True)
class Certificate:
    """A certificate with its key.

    :ivar pem: certificates, the gateway's own first, and the private key
    :ivar facts: ``names``, ``not_after`` (Unix seconds) and ``self_signed``
    """

    pem: str
    facts: dict[str, Any]


def given(
    certificate_path: str, key_path: str, read: Read, now: datetime
) -> tuple[Certificate | None, list[Fault], list[str]]:
    """A certificate from files, all that is wrong with it, and warnings.

    :param read: reads a file of the controller; raises OSError or ValueError
    """
    chain, chain_text, faults = _load(CERTIFICATE, certificate_path, read, _chain, "certificates in PEM")
    key, key_text, more = _load(KEY, key_path, read, _private_key, "its private key in PEM, without a passphrase")
    faults += more
    warnings: list[str] = []
    if chain:
        own = chain[0]
        _start, end = _times(own)
        faults += _validity(certificate_path, own, now)
        if now < end < now + timedelta(days=SOON):
            days = (end - now).days
            warnings.append(
                f"{CERTIFICATE}: {certificate_path} ends in {days} days, on {end:%Y-%m-%d}. Renew it, and deploy again."
            )
        if key is not None and _public(key) != _public(own):
            found = f"{key_path}, which does not belong to the first certificate in {certificate_path}"
            remedy = "Give the key that the certificate was asked for with"
            faults.append(Fault(KEY, found, "the certificate's own private key", remedy))
    if faults or not chain:
        return None, faults, warnings
    facts = {"names": _names(chain[0]), "not_after": int(end.timestamp()), "self_signed": False}
    return Certificate(f"{chain_text.rstrip()}\n{key_text.strip()}", facts), [], warnings


def _load(
    variable: str, path: str, read: Read, parse: Callable[[str], Any], wanted: str
) -> tuple[Any, str, list[Fault]]:
    remedy = "Correct the path, or give a file of that kind"
    if not path:
        return None, "", [Fault(variable, "nothing", "a path on the controller, with gateway_tls: given", remedy)]
    try:
        text = read(path)
    except (OSError, ValueError) as error:
        return (
            None,
            "",
            [Fault(variable, f"{path}: {reason(error)}", "a file that can be read on the controller", remedy)],
        )
    try:
        return parse(text), text, []
    except TypeError:
        return None, "", [Fault(variable, f"{path}, which has a passphrase", wanted, "Take the passphrase away")]
    except (ValueError, UnsupportedAlgorithm):
        return None, "", [Fault(variable, f"{path}, in which there is none that can be read", wanted, remedy)]


def _chain(text: str) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(text.encode())


def _private_key(text: str) -> Any:
    return serialization.load_pem_private_key(text.encode(), password=None)


def _public(holder: Any) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return holder.public_key().public_bytes(serialization.Encoding.DER, form)


def _validity(path: str, own: x509.Certificate, now: datetime) -> list[Fault]:
    start, end = _times(own)
    wanted = "a certificate that is valid now"
    if end <= now:
        return [Fault(CERTIFICATE, f"{path}, which expired on {end:%Y-%m-%d}", wanted, "Renew it")]
    if start > now:
        found = f"{path}, which is valid from {start:%Y-%m-%d %H:%M} UTC on"
        return [Fault(CERTIFICATE, found, wanted, "Wait until then, or correct the controller's clock")]
    return []


def _times(own: x509.Certificate) -> tuple[datetime, datetime]:
    """When it begins and ends to be valid."""
    if hasattr(own, "not_valid_after_utc"):
        return own.not_valid_before_utc, own.not_valid_after_utc
    # cryptography before 42, such as Ubuntu 24.04 has it
    return own.not_valid_before.replace(tzinfo=timezone.utc), own.not_valid_after.replace(tzinfo=timezone.utc)


def _names(own: x509.Certificate) -> list[str]:
    """Names and addresses that a certificate is for."""
    try:
        found = own.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    addresses = map(str, found.get_values_for_type(x509.IPAddress))
    return [*found.get_values_for_type(x509.DNSName), *addresses]


def self_signed(names: Sequence[str], now: datetime) -> Certificate:
    """Make a certificate for some names and addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    # Clocks differ.
    start, end = now - timedelta(hours=1), now + timedelta(days=DAYS)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        # Clients take it as their root and as the server's own; some refuse the latter of a CA.
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM) + key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return Certificate(
        pem.decode().strip(), {"names": list(names), "not_after": int(end.timestamp()), "self_signed": True}
    )


def _usage() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def now() -> datetime:
    """The time."""
    return datetime.now(timezone.utc)
