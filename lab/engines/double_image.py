# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image `lab/engine-double`: the base, the package double/, called as `vllm` and `ray`, and double_packages/.

The latter are what other programs import: `ray` to ask for the cluster's nodes, `vllm` for the parser of its flags.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from lab.cache import cached, content_key
from lab.engines import archive as archive_module
from lab.engines import base_image
from lab.engines.archive import ImageConfig, copied_layer, tree_layer, write_archive
from lab.engines.engine import IMAGE_ARCHITECTURE, serving_vars, tiny_models

REFERENCE = "lab/engine-double:1"
SOURCES = Path(__file__).parent / "double"
PACKAGES = SOURCES.with_name("double_packages")
PACKAGE = "engine_double"
COMMANDS = ("vllm", "ray")
LAUNCHER = f"""\
#!/usr/bin/python3
import sys

from {PACKAGE}.__main__ import main

sys.exit(main())
"""
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    # One GPU per host, as a Spark has, whether or not `ray start` is told.
    "RAY_OVERRIDE_RESOURCES": '{"GPU": 1}',
}


def _build(target: Path) -> None:
    work = target.with_name(f"{target.name}.work")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    try:
        launcher = work / "launcher"
        launcher.write_text(LAUNCHER, encoding="utf-8")
        launcher.chmod(0o755)
        trees = {f"{base_image.SITE_PACKAGES}/{PACKAGE}": SOURCES}
        trees |= {f"{base_image.SITE_PACKAGES}/{path.name}": path for path in PACKAGES.iterdir()}
        trees |= {f"usr/local/bin/{name}": launcher for name in COMMANDS}
        layers = [copied_layer(base_image.base_layer()), tree_layer(trees, lambda name: "__pycache__" not in name)]
        write_archive(target, ImageConfig(REFERENCE, IMAGE_ARCHITECTURE, ENVIRONMENT), layers)
    finally:
        shutil.rmtree(work)


class EngineDouble:
    """The double (double/README.md)."""

    reference = REFERENCE

    def archive(self) -> Path:
        """Return the image as a docker-archive; built in a second once the base is there."""
        sources = (SOURCES, PACKAGES, Path(__file__), Path(archive_module.__file__), Path(base_image.__file__))
        return cached("engine-double", content_key(*sources), _build)

    def models(self) -> dict[str, Path]:
        """Return the tiny dense and mixture-of-experts models: the double looks only at their configuration."""
        return tiny_models()

    def host_vars(self) -> dict[str, object]:
        """Return the inventory variables."""
        return serving_vars(REFERENCE)
