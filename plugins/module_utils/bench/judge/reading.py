# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file as a result that can be compared; everything else is refused by name."""

from __future__ import annotations

import json
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result import check
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault


def read(text: str, place: str) -> dict[str, Any]:
    """The result in a file's text.

    :param place: the file's name, for the refusal
    :raises ConfigurationError: when it is no JSON or no result of the schema that is read here
    """
    try:
        document = json.loads(text)
    except ValueError as error:
        wanted = "the result.json of a run"
        raise ConfigurationError([Fault(place, f"no JSON ({error})", wanted, "Give that file or its folder")]) from None
    faults = check.faults(document, place)
    if faults:
        raise ConfigurationError(faults)
    result: dict[str, Any] = document
    return result
