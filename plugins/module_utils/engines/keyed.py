# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How an engine is given its key: by a file, which neither its command line nor ``docker inspect`` shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Where the container sees the key file of its host.
KEY_MOUNT = "/run/dgxspark-serving/engine.key"

# vLLM without a key asks nobody for one: a file that is not there, or is empty, must end the start. What follows as $0
# and $@ is the engine's own entrypoint and command.
SCRIPT = (
    f'VLLM_API_KEY="$(cat {KEY_MOUNT})"'
    f' && : "${{VLLM_API_KEY:?there is no key in {KEY_MOUNT}}}"'
    " && export VLLM_API_KEY"
    ' && exec "$0" "$@"'
)


def keyed(container: Mapping[str, Any], key_file: str) -> dict[str, Any]:
    """What is special about a container, with a key for its engine.

    :param container: as an engine's ``rank_container`` gives it
    :param key_file: path of the key on the host; with an empty one nothing changes
    """
    if not key_file:
        return dict(container)
    return {
        **container,
        "entrypoint": ["sh", "-c", SCRIPT, *container["entrypoint"]],
        "mounts": [*container["mounts"], {"source": key_file, "target": KEY_MOUNT}],
    }
