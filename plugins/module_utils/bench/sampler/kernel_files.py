# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of the kernel that are opened once and read again for each sample: an edge."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.sampler import parse
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.counters import WORD

# More than any file that is read here has.
MOST = 65536


class KernelFile:
    """One file, kept open: reading it from its start again gives what it says now."""

    def __init__(self, path: Path) -> None:
        try:
            self._descriptor: int | None = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._descriptor = None

    @property
    def there(self) -> bool:
        """Whether it can be read, as far as is known."""
        return self._descriptor is not None

    def read(self) -> str:
        """Its text; empty when it is not there, or not any more."""
        if self._descriptor is None:
            return ""
        try:
            return os.pread(self._descriptor, MOST, 0).decode(errors="replace")
        except OSError:
            self.close()
            return ""

    def close(self) -> None:
        """Let it go."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


class KernelFiles:
    """Memory, pressure, network and RDMA of the host.

    :param root: ``/`` on a host
    """

    def __init__(self, root: Path) -> None:
        self._meminfo = KernelFile(root / "proc/meminfo")
        self._net = KernelFile(root / "proc/net/dev")
        names = sorted({name for name, _line in parse.PRESSURES.values()})
        self._pressures = {name: KernelFile(root / "proc/pressure" / name) for name in names}
        self._ports = {
            path.name: {
                key: KernelFile(path / f"ports/1/counters/port_{word}_data")
                for key, word in (("rx", "rcv"), ("tx", "xmit"))
            }
            for path in sorted(root.glob("sys/class/infiniband/*"))
        }

    def sample(self) -> dict[str, Any]:
        """What a sample has of them."""
        return {
            "mem": parse.memory(self._meminfo.read()),
            "psi": parse.pressures({name: file.read() for name, file in self._pressures.items()}),
            "net": parse.interfaces(self._net.read()),
            "rdma": {name: counters for name, files in self._ports.items() if (counters := _bytes(files))},
        }

    def close(self) -> None:
        """Let all of them go."""
        for file in (self._meminfo, self._net, *self._pressures.values()):
            file.close()
        for files in self._ports.values():
            for file in files.values():
                file.close()


def _bytes(files: Mapping[str, KernelFile]) -> dict[str, int]:
    """Both counters of an RDMA port in bytes; empty when one has no answer."""
    texts = {key: file.read().strip() for key, file in files.items()}
    if not all(text.isdigit() for text in texts.values()):
        return {}
    return {key: int(text) * WORD for key, text in texts.items()}
