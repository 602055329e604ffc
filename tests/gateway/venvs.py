# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Virtual environments with LiteLLM and with vllm-router for this machine, made once and kept in the cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from lab.cache import cache_root, cached, content_key
from lab.gateway_wheels import LITELLM, VLLM_ROUTER
from lab.progress import long_step
from tools.venv import ensure_venv_module


def _run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-2000:]}"


def _environment(requirement: str) -> Path:
    """Return the folder of an environment with a package; its scripts name their place, so the entry is a link."""

    def build(entry: Path) -> None:
        trees = cache_root() / "venv-trees"
        trees.mkdir(parents=True, exist_ok=True)
        tree = Path(tempfile.mkdtemp(prefix="gateway-", dir=trees))
        try:
            with long_step(f"installing {requirement} (minutes, once)"):
                ensure_venv_module()
                _run(sys.executable, "-m", "venv", str(tree))
                _run(str(tree / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", requirement)
        except BaseException:
            shutil.rmtree(tree)
            raise
        entry.symlink_to(tree)

    return cached("gateway-venvs", content_key(requirement, sys.version.split()[0], sys.base_prefix), build)


#: Name of a gateway's environment -> what returns its folder, and makes it first if it is not there.
FOLDERS: dict[str, Callable[[], Path]] = {
    "litellm": lambda: _environment(LITELLM),
    "vllm-router": lambda: _environment(VLLM_ROUTER),
}
