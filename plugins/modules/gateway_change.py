#!/usr/bin/python
# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Have the gateway of a host as described, or none."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gateway_change
short_description: Have the gateway of a host as described, or none
version_added: 0.1.0
description:
  - The controller reads keys and certificates and makes the provider's configuration from O(description). On the host
    it is written beside the live one, checked by the provider's program, and then takes its place; the one before is
    kept.
  - HAProxy and nginx are reloaded, so that no stream breaks, and restarted when they listen elsewhere or are new.
  - A gateway that does not take up its new configuration, or does not answer, gets its former one back, and the module
    fails with what it said.
  - Nothing is done to the units that a distribution brings with its packages.
  - Needs root on the host, and nothing of it with O(validate_only).
author:
  - dgxspark.serving contributors (@dgxspark)
options:
  state:
    description:
      - V(present) installs the gateway and starts it. V(absent) removes it with its user, its files and its virtual
        environments.
      - V(noted) remembers O(packages) on the host.
    type: str
    choices: [present, absent, noted]
    default: present
  description:
    description: The gateway as RV(dgxspark.serving.plan#module:gateway) describes it. Needed with O(state=present).
    type: dict
    default: {}
  keys:
    description: Clients' keys, those that O(description) names. HAProxy's hosts get their digests only.
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the key, which the access log shows.
        type: str
      key:
        description: The key itself, from a vault.
        type: str
      file:
        description: File on the controller with the key in it; one that is encrypted by Ansible Vault, too.
        type: str
  validate_only:
    description: Only hold keys and certificates on the controller against what they should be.
    type: bool
    default: false
  engine_key_file:
    description: File on the host with the key that engines ask for.
    type: path
    default: /etc/dgxspark-serving/engine.key
  packages:
    description: Debian packages that were installed for the gateway, with O(state=noted).
    type: list
    elements: str
    default: []
  provider:
    description: The program that is the gateway. The controller fills it in, as all that follow.
    type: str
    default: ""
  files:
    description: C(name), C(text) with placeholders for secrets, and C(mode) of each file.
    type: list
    elements: dict
    default: []
  units:
    description: C(name) and C(text) of each unit.
    type: list
    elements: dict
    default: []
  check:
    description: Commands that check the files before they go live.
    type: list
    elements: list
    default: []
  secrets:
    description: Secrets by placeholder.
    type: dict
    default: {}
  certificate:
    description: C(names), C(not_after) in Unix seconds, and C(self_signed) of the certificate.
    type: dict
    default: {}
  listen:
    description: C(address), C(port) and C(tls) of the gateway.
    type: dict
    default: {}
  router:
    description: C(port) of the router behind HAProxy, whether it works C(alone), and the C(seconds) it needs.
    type: dict
    default: {}
  deployments:
    description: C(name) and C(replicas), by name, of each deployment.
    type: list
    elements: dict
    default: []
attributes:
  check_mode:
    description: Can run in check mode.
    support: full
  diff_mode:
    description: Returns what would change.
    support: full
    details: With placeholders in place of secrets.
"""

EXAMPLES = r"""
- name: See that keys and certificates can be used
  dgxspark.serving.gateway_change:
    description: "{{ plan.gateway }}"
    keys: "{{ gateway_keys }}"
    validate_only: true
  run_once: true

- name: Have the gateway
  dgxspark.serving.gateway_change:
    description: "{{ plan.gateway }}"
    keys: "{{ gateway_keys }}"
  become: true
"""

RETURN = r"""
words:
  description: What was done, and why.
  returned: with O(state=present) or O(state=absent)
  type: str
acts:
  description: For each unit that was or would be touched V(start), V(reload) or V(restart).
  returned: with O(state=present)
  type: dict
needs_certificate:
  description: Whether the controller has to make a certificate and call again.
  returned: with O(state=present)
  type: bool
packages:
  description: Debian packages that were remembered.
  returned: with O(state=absent) or O(state=noted)
  type: list
  elements: str
"""

import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.dgxspark.serving.plugins.module_utils import engine_key
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import decide, placeholders, record, rendered
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.apply import Gateway, Router
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.removal import Removal
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.host import Refused

# A shorter secret would be struck out of words that have nothing to do with it.
SHORTEST = 6


class Work:
    """One call of the module."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.params = module.params
        self.gateway = Gateway()
        self.before = record.Record.parse(self.gateway.folder.record())

    def present(self) -> None:
        texts = {one["name"]: one["text"] for one in self.params["files"]}
        modes = {one["name"]: int(one["mode"]) for one in self.params["files"]}
        used = placeholders.used(texts.values())
        secrets = {**self.params["secrets"]}
        certificate = self.params["certificate"]
        if placeholders.TLS_PEM in used - set(secrets):
            # A certificate that we made stays until its end is near.
            live = self.gateway.folder.content().get(placeholders.TLS_FILE)
            if live is None or not record.still_good(self.before.certificate, certificate, time.time()):
                self.module.exit_json(changed=False, words="", acts={}, needs_certificate=True)
            secrets[placeholders.TLS_PEM] = live.data.decode().strip()
            certificate = self.before.certificate
        if rendered.ENGINE_KEY in used:
            secrets[rendered.ENGINE_KEY] = self._engine_key()
        self._hide(secrets)
        missing = sorted(used - set(secrets))
        if missing:
            raise Refused(
                f"found no value for {', '.join(missing)}, wanted one for each. Give these keys in gateway_keys."
            )
        self._install(texts, modes, secrets, certificate)

    def _engine_key(self) -> str:
        path = self.params["engine_key_file"]
        key = engine_key.read_key(path)
        if not key and not self.module.check_mode:
            raise Refused(
                f"found no {path}, wanted the key that engines ask for. Run the whole deployment, which makes it."
            )
        return key

    def _hide(self, secrets: dict[str, str]) -> None:
        """Keep secrets that the module has found itself, or that a program may quote alone, out of its output."""
        parts = [
            part for text in secrets.values() for line in text.splitlines() for part in (line, line.partition("=")[2])
        ]
        self.module.no_log_values.update(part for part in parts if len(part) >= SHORTEST)

    def _install(
        self, texts: dict[str, str], modes: dict[str, int], secrets: dict[str, str], certificate: dict[str, Any]
    ) -> None:
        params = self.params
        now = record.Record(params["provider"], params["listen"], params["deployments"], certificate, texts)
        files = {
            name: decide.Content(placeholders.filled(text, secrets).encode(), modes[name])
            for name, text in texts.items()
        }
        files[record.NAME] = decide.Content(now.text().encode(), record.MODE)
        wanted = decide.Wanted(files, {one["name"]: one["text"] for one in params["units"]}, params["listen"])
        here = self.gateway.look()
        due = decide.decide(here, wanted)
        if due.later:
            self.module.warn(f"{due.later}.")
        if due.reasons and not self.module.check_mode:
            router = Router(**params["router"]) if params["router"] else None
            self.gateway.change(here, wanted, due, params["check"], router)
        self.module.exit_json(
            changed=bool(due.reasons),
            words="; ".join(due.reasons),
            acts=due.acts,
            needs_certificate=False,
            diff=record.differences(self.before, now, due, here.units, wanted.units),
        )

    def absent(self) -> None:
        removal = Removal(self.gateway)
        packages, words = removal.noted(), removal.words()
        if not self.module.check_mode and (words or packages):
            removal.remove()
        removed = f"removed {', '.join(words)}" if words else "there was nothing to remove"
        diff = {"before": "".join(f"{word}\n" for word in words), "after": ""}
        self.module.exit_json(changed=bool(words or packages), words=removed, packages=packages, diff=diff)

    def noted(self) -> None:
        removal = Removal(self.gateway)
        packages = sorted({*removal.noted(), *self.params["packages"]})
        changed = packages != removal.noted()
        if changed and not self.module.check_mode:
            removal.note(packages)
        self.module.exit_json(changed=changed, packages=packages)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent", "noted"], "default": "present"},
            "description": {"type": "dict", "default": {}},
            "keys": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "no_log": True,
                "options": {
                    "name": {"type": "str"},
                    "key": {"type": "str", "no_log": True},
                    "file": {"type": "str"},
                },
            },
            "validate_only": {"type": "bool", "default": False},
            "engine_key_file": {"type": "path", "default": engine_key.KEY_FILE, "no_log": False},
            "packages": {"type": "list", "elements": "str", "default": []},
            "provider": {"type": "str", "default": ""},
            "files": {"type": "list", "elements": "dict", "default": []},
            "units": {"type": "list", "elements": "dict", "default": []},
            "check": {"type": "list", "elements": "list", "default": []},
            "secrets": {"type": "dict", "default": {}, "no_log": True},
            "certificate": {"type": "dict", "default": {}},
            "listen": {"type": "dict", "default": {}},
            "router": {"type": "dict", "default": {}},
            "deployments": {"type": "list", "elements": "dict", "default": []},
        },
        supports_check_mode=True,
    )
    work = Work(module)
    try:
        getattr(work, module.params["state"])()
    except (Refused, ValueError) as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        module.fail_json(msg=f"The gateway's files cannot be changed: {error}. It needs root and room on the disk.")


if __name__ == "__main__":
    main()
