# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""As much of an AnsibleModule as modules under test take."""

from __future__ import annotations

from typing import Any


class Ended(Exception):
    """The module's result."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__(str(result))
        self.result = result


class FakeModule:
    """An AnsibleModule whose end is an exception."""

    def __init__(self, params: dict[str, Any], check_mode: bool = False) -> None:
        self.params = params
        self.check_mode = check_mode

    def exit_json(self, **result: Any) -> None:
        raise Ended(result)

    def fail_json(self, **result: Any) -> None:
        raise Ended({**result, "failed": True})
