# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugin ``gateway_change``: reads keys and certificates, makes the provider's files, and calls the module."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import local_ports, options, placeholders, units
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.providers import PROVIDERS
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import File, Rendered
from ansible_collections.dgxspark.serving.plugins.plugin_utils import gateway_certificate, gateway_keys

MODULE = "dgxspark.serving.gateway_change"
# Seconds until a router listens: LiteLLM imports most of its 750 MB first, and vllm-router waits for a replica.
ALONE_SECONDS, WAITING_SECONDS = 120, 20


class ActionModule(ActionBase):
    """One round trip, and a second one where a certificate has to be made."""

    TRANSFERS_FILES = False

    def run(self, tmp: Any = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        arguments = {name: value for name, value in self._task.args.items() if name not in ("keys", "description")}
        if arguments.get("state", "present") != "present":
            return {**result, **self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)}
        described = self._task.args.get("description") or {}
        if described.get("provider") not in PROVIDERS:
            known = ", ".join(PROVIDERS)
            found = described.get("provider")
            msg = f"description has provider {found!r}, wanted one of {known}: give the plan's gateway."
            return {**result, "failed": True, "msg": msg}
        secrets, certificate, faults, warnings = self._secrets(described)
        if warnings:
            result["warnings"] = warnings
        if faults:
            return {**result, "failed": True, "msg": str(ConfigurationError(faults))}
        if arguments.pop("validate_only", False):
            return {**result, "changed": False}
        host = (task_vars or {}).get("inventory_hostname", "")
        rendered = PROVIDERS[described["provider"]].render(described, host)
        arguments |= _arguments(described, rendered, secrets, certificate)
        seen = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        if seen.get("needs_certificate"):
            made = gateway_certificate.self_signed(described["names"], gateway_certificate.now())
            arguments["secrets"][placeholders.TLS_PEM] = made.pem
            arguments["certificate"] = made.facts
            seen = self._execute_module(module_name=MODULE, module_args=arguments, task_vars=task_vars)
        return {**result, **seen, **({"warnings": warnings + seen.get("warnings", [])} if warnings else {})}

    def _secrets(self, described: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any], list[Fault], list[str]]:
        """Secrets by placeholder, facts of the certificate, all that is wrong, and warnings."""
        keys, faults = gateway_keys.read_keys(self._task.args.get("keys") or [], described["keys"], self._read)
        secrets = gateway_keys.secrets(keys)
        facts: dict[str, Any] = {}
        warnings: list[str] = []
        paths = described["files"]
        if described["tls"] == options.GIVEN:
            certificate, more, warnings = gateway_certificate.given(
                paths["tls_certificate"], paths["tls_key"], self._read, gateway_certificate.now()
            )
            faults += more
            if certificate:
                secrets[placeholders.TLS_PEM], facts = certificate.pem, certificate.facts
        elif described["tls"]:
            facts = {"names": described["names"]}
        if paths["litellm_env"]:
            text, more = gateway_keys.read_environment(paths["litellm_env"], self._read)
            faults += more
            secrets[placeholders.LITELLM_ENV] = text
        return secrets, facts, faults, warnings

    def _read(self, path: str) -> str:
        """A file of the controller, beside the playbook when its path is relative; a vault's is decrypted."""
        real = self._loader.path_dwim(path)
        # Ansible's own way to read does not say why it could not.
        with open(real, "rb"):
            pass
        try:
            plain = self._loader.get_real_file(real)
        except AnsibleError as error:
            raise ValueError(str(error)) from error
        try:
            return Path(plain).read_text(encoding="utf-8", errors="replace")
        finally:
            self._loader.cleanup_tmp_file(plain)


def _arguments(
    described: Mapping[str, Any], rendered: Rendered, secrets: Mapping[str, str], certificate: Mapping[str, Any]
) -> dict[str, Any]:
    """What the module is told; of the secrets only those that stand in a file."""
    files = list(rendered.files)
    if described["tls"]:
        files.append(File(placeholders.TLS_FILE, f"{placeholders.TLS_PEM}\n"))
    if described["provider"] == options.LITELLM and placeholders.LITELLM_ENV in secrets:
        # systemd reads it, as root.
        files.append(File(units.ENV_FILE, f"{placeholders.LITELLM_ENV}\n", 0o600))
    used = placeholders.used(file.text for file in files)
    found = {
        "provider": described["provider"],
        "files": [{"name": file.name, "text": file.text, "mode": file.mode} for file in files],
        "units": [{"name": unit.name, "text": unit.text} for unit in rendered.units],
        "check": [list(argv) for argv in rendered.check],
        "secrets": {name: secret for name, secret in secrets.items() if name in used},
        "certificate": dict(certificate),
        "listen": {**described["listen"], "tls": bool(described["tls"])},
        "deployments": [
            {"name": one["name"], "replicas": [replica["name"] for replica in one["replicas"]]}
            for one in described["deployments"]
        ],
    }
    if any(unit.name == units.ROUTER for unit in rendered.units):
        # vllm-router listens when HAProxy tells it of a replica that is ready; LiteLLM needs nobody.
        alone = described["provider"] == options.LITELLM
        seconds = ALONE_SECONDS if alone else WAITING_SECONDS
        found["router"] = {"port": local_ports.ROUTER, "alone": alone, "seconds": seconds}
    return found
