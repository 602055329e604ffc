# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`nvidia-ctk` of the stand-in package nvidia-container-toolkit: its version, and Docker's runtime in daemon.json."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

VERSION = "1.17.8"
RUNTIME = {"args": [], "path": "nvidia-container-runtime"}


def configure(config: Path, default: bool) -> None:
    """Add the runtime to Docker's configuration, whose other settings stay; restarting Docker is the caller's."""
    text = config.read_text(encoding="utf-8") if config.exists() else ""
    document = json.loads(text or "{}")
    document.setdefault("runtimes", {})["nvidia"] = RUNTIME
    if default:
        document["default-runtime"] = "nvidia"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(json.dumps(document, indent=4), encoding="utf-8")
    print(f'level=info msg="Wrote updated config to {config}"', file=sys.stderr)
    print('level=info msg="It is recommended that docker daemon be restarted."', file=sys.stderr)


def main(arguments: list[str]) -> int:
    """Do what the command line says; return the exit code."""
    parser = argparse.ArgumentParser(prog="nvidia-ctk")
    parser.add_argument("--version", action="version", version=f"NVIDIA Container Toolkit CLI version {VERSION}")
    made = parser.add_subparsers(required=True).add_parser("runtime").add_subparsers(required=True)
    options = made.add_parser("configure")
    options.add_argument("--runtime", choices=("docker",), default="docker")
    options.add_argument("--config", type=Path, default=Path("/etc/docker/daemon.json"))
    options.add_argument("--set-as-default", "--nvidia-set-as-default", action="store_true")
    chosen = parser.parse_args(arguments)
    configure(chosen.config, chosen.set_as_default)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
