# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What logind takes away with a session."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.facts import logind
from ansible_collections.dgxspark.serving.plugins.module_utils.facts.raw import Raw

ETC = "/etc/systemd/logind.conf"


@pytest.mark.parametrize(
    ("files", "removes"),
    [
        ({}, True),
        ({ETC: "[Login]\n#RemoveIPC=yes\n"}, True),
        ({ETC: "[Login]\nRemoveIPC=no\n"}, False),
        ({ETC: "[Login]\n RemoveIPC = off\n"}, False),
        ({ETC: "[Login]\nRemoveIPC=no\nRemoveIPC=yes\n"}, True),
        ({ETC: "[Login]\nRemoveIPC=no\n", f"{ETC}.d/10-a.conf": "[Login]\nRemoveIPC=yes\n"}, True),
        ({"/usr/lib/systemd/logind.conf.d/10-a.conf": "RemoveIPC=no\n", f"{ETC}.d/10-a.conf": "\n"}, True),
        ({ETC: "\n", "/usr/lib/systemd/logind.conf": "RemoveIPC=no\n"}, True),
    ],
)
def test_n02_remove_ipc(files: dict[str, str], removes: bool) -> None:
    assert logind.removes_ipc(logind.configuration(files)) is removes


def test_n02_linger() -> None:
    path = "/var/lib/systemd/linger/dev"
    assert path in logind.sources("dev").files
    assert logind.lingers(Raw({path: ""}), "dev")
    assert not logind.lingers(Raw({path: ""}), "other")
