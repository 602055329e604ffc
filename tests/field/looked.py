# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A host in captured text, and one answer of the preflight about it."""

from __future__ import annotations

from typing import Any, Protocol

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import GROUPS
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.want import Want
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Output, Raw


class Group(Protocol):
    """A file of ``checks/``."""

    def checks(self, raw: Raw, want: Want) -> list[Check]: ...


def captured(
    files: dict[str, str] | None = None, links: dict[str, str] | None = None, **outputs: tuple[int, str] | str
) -> Raw:
    """What was read on a host.

    :param outputs: for each command its text, or exit code and text (of stdout, or of stderr where it failed)
    """
    said = {}
    for name, output in outputs.items():
        code, text = (0, output) if isinstance(output, str) else output
        said[name] = Output(code, text if not code else "", text if code else "")
    return Raw(files or {}, links or {}, said)


def answer(group: Group, name: str, raw: Raw, **want: Any) -> Check:
    """The one answer with this id; all ids of the group must be there, in their order."""
    found = group.checks(raw, Want(**want))
    prefix = name.partition(".")[0]
    ids = list(dict.fromkeys(check.id for check in found))
    assert ids == [f"{prefix}.{word}" for word in GROUPS[prefix] if f"{prefix}.{word}" in ids]
    [check] = [check for check in found if check.id == name]
    return check
