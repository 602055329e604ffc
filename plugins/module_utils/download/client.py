# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the program that downloads, in its virtual environment: an edge, it makes a process and reads what that says."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from ansible_collections.dgxspark.serving.plugins.module_utils.download import in_venv

HUGGING_FACE = "https://huggingface.co"
# Seconds between two looks at how far it is.
STEP = 0.5


def source() -> str:
    """The program."""
    spec = in_venv.__spec__
    text = spec.loader.get_source(spec.name)  # type: ignore[union-attr]
    # Ansible's own loader gives bytes, the one that a module on a host is loaded by gives text.
    return text.decode() if isinstance(text, bytes) else str(text)


def environment(own: Mapping[str, str], endpoint: str) -> dict[str, str]:
    """Variables of the program: those of the user, network on, all files of a model in its own folder.

    :param own: the user's environment
    :param endpoint: a mirror of the hub; empty for the user's, or the hub itself
    """
    mirror = endpoint or own.get("HF_ENDPOINT", HUGGING_FACE)
    # A mirror passes files on, not the storage behind them.
    xet = {} if mirror.rstrip("/") == HUGGING_FACE else {"HF_HUB_DISABLE_XET": "1"}
    return {
        **{name: value for name, value in own.items() if name not in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")},
        "DO_NOT_TRACK": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_SHARED_BLOBS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "TQDM_DISABLE": "1",
        **xet,
    }


class Driver:
    """The program while it runs. Its questions go through a pipe, so that a token is in no list of processes."""

    def __init__(self, python: Path, question: Mapping[str, Any]) -> None:
        """Start it and ask.

        :raises OSError: there is no such Python
        """
        self._process = subprocess.Popen(
            [str(python), "-I", "-c", source()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(os.environ, str(question["endpoint"])),
            text=True,
        )
        self._said: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.tell(question)

    def tell(self, words: Mapping[str, Any]) -> None:
        """Say a line to it; to one that is gone, nothing."""
        stdin = cast("Any", self._process.stdin)
        try:
            stdin.write(json.dumps(words) + "\n")
            stdin.flush()
        except BrokenPipeError:
            return

    def events(self) -> Iterator[dict[str, Any] | None]:
        """What it says, and None about twice a second while it says nothing; ends with ``done`` or ``error``."""
        while True:
            try:
                event = self._said.get(timeout=STEP)
            except queue.Empty:
                yield None
                continue
            yield event
            if event["event"] in ("done", "error"):
                self.close()
                return

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        stdout = cast("Any", self._process.stdout)
        for line in stdout:
            if line.startswith(in_venv.MARK):
                self._said.put(json.loads(line[len(in_venv.MARK) :]))
        code = self._process.wait()
        text = f"the program that downloads ended with {code} and no word"
        self._said.put({"event": "error", "kinds": [], "status": 0, "code": "", "text": text, "token": False})
