# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A variable of a host, also when its template fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError

from ansible_collections.dgxspark.serving.plugins.module_utils.variables import Unreadable


def variable(host_variables: Mapping[str, Any], name: str) -> Any:
    """Its value, None when it is not set, or what stands for one that could not be templated."""
    try:
        return host_variables.get(name)
    except AnsibleError as error:
        return Unreadable(" ".join(str(error).split()))
