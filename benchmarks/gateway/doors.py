# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The supervisor's door before each mock engine: the real one, of replicas that serve and are proven.

`python -m benchmarks.gateway.doors FOLDER NAME:DOOR_PORT:ENGINE_PORT ...`; a file FOLDER/NAME.json is a drain flag.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor import admission, drained
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.admission import Standing
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.door import Door
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.door_request import (
    AGENT,
    READY,
    Asked,
    http_answer,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.engine import Engine
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.health_look import HealthLook
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.state import SERVING


def open_door(folder: Path, name: str, port: int, engine_port: int) -> None:
    """Answer for one replica from now on."""
    health = HealthLook(Engine(f"http://127.0.0.1:{engine_port}"))
    standing = Standing(name, SERVING, proven=True)

    def answer(asked: Asked, _address: str) -> bytes:
        flag = drained.read(folder / f"{name}.json", name, time.time())
        if asked.what == AGENT:
            return admission.agent_line(standing, flag).encode() + b"\n"
        if asked.what == READY:
            return http_answer(*admission.answer(standing, health.trouble(), flag, {}, asked.new))
        return http_answer(asked.status, {})

    Door("127.0.0.1", port, answer, lambda: None).begin()


def main() -> None:
    folder, *doors = sys.argv[1:]
    for door in doors:
        name, port, engine_port = door.split(":")
        open_door(Path(folder), name, int(port), int(engine_port))
    signal.pause()


if __name__ == "__main__":
    main()
