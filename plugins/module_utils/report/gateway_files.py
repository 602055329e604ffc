# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway as the files that a person would write. Secrets are not in them: their places hold names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.providers import PROVIDERS
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.rendered import FOLDER, Rendered

UNITS = "/etc/systemd/system"


def gateway_files(gateway: Mapping[str, Any]) -> list[str]:
    """Lines that show a gateway: for each host its address, files and units. What is alike on hosts is shown once.

    :param gateway: the description of the plan
    """
    lines: list[str] = []
    shown: dict[str, str] = {}
    for host in gateway["hosts"]:
        rendered = PROVIDERS[gateway["provider"]].render(gateway, host)
        lines += ["", f"# {host}: gateway {gateway['provider']} at {gateway['urls'][host]}"]
        for path, text in _texts(rendered):
            if shown.get(path) == text:
                lines.append(f"# {host}: {path}, the same")
                continue
            shown[path] = text
            lines += ["", f"# {host}: {path}", *text.splitlines()]
    return lines


def _texts(rendered: Rendered) -> list[tuple[str, str]]:
    files = [(f"{FOLDER}/{file.name}", file.text) for file in rendered.files]
    return files + [(f"{UNITS}/{unit.name}", unit.text) for unit in rendered.units]
