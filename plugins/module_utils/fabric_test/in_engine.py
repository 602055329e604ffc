# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All-gather by torch.distributed. Runs inside the engine's image, with its Python, as one file.

Argument: a JSON object with ``rank``, ``world_size``, ``address``, ``port``, ``bytes``, ``backend`` and ``limit``. It
prints the table of nccl-tests' all_gather_perf (out-of-place): the figures compare with those that others publish.
"""

from __future__ import annotations

import datetime
import importlib
import json
import signal
import sys
import time
from typing import Any

WARM_UP = 3
ITERATIONS = 10
# The sizes are the wanted one and this many parts of it.
PARTS = (64, 8, 1)
FLOAT = 4
HEADER = "#       size         count      type   redop    root     time   algbw   busbw  #wrong"


def row(size: int, count: int, seconds: float, world_size: int, wrong: int) -> str:
    """A line of the table: bytes that each rank has in the end, microseconds, GB/s."""
    algbw = size / seconds / 1e9
    busbw = algbw * (world_size - 1) / world_size
    return f"{size:>12} {count:>13} float none -1 {seconds * 1e6:.1f} {algbw:.2f} {busbw:.2f} {wrong}"


def measure(torch: Any, size: int, order: dict, device: Any) -> str:
    """One size: each rank sends its part to all."""
    world_size = order["world_size"]
    count = max(1, size // FLOAT // world_size)
    mine = torch.full((count,), float(order["rank"] + 1), device=device)
    all_of_it = torch.zeros(count * world_size, device=device)
    wait = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    for _warm_up in range(WARM_UP):
        torch.distributed.all_gather_into_tensor(all_of_it, mine)
    wait()
    start = time.perf_counter()
    for _iteration in range(ITERATIONS):
        torch.distributed.all_gather_into_tensor(all_of_it, mine)
    wait()
    seconds = (time.perf_counter() - start) / ITERATIONS
    parts = all_of_it.view(world_size, count)
    wrong = sum(int((parts[rank] != rank + 1).sum()) for rank in range(world_size))
    return row(count * world_size * FLOAT, count, seconds, world_size, wrong)


def main(order: dict) -> int:
    """Meet the other ranks and print the table; 3 when there is no GPU."""
    # Whatever hangs, a broken fabric above all, the container is gone after this.
    signal.alarm(int(order["limit"]))
    torch = importlib.import_module("torch")

    is_nccl = order["backend"] == "nccl"
    if is_nccl and not torch.cuda.is_available():
        sys.stdout.write("torch sees no GPU in the container\n")
        return 3
    device = torch.device("cuda", 0) if is_nccl else torch.device("cpu")
    torch.distributed.init_process_group(
        order["backend"],
        init_method=f"tcp://{order['address']}:{order['port']}",
        rank=order["rank"],
        world_size=order["world_size"],
        timeout=datetime.timedelta(seconds=order["limit"]),
    )
    sys.stdout.write(HEADER + "\n")
    for part in PARTS:
        sys.stdout.write(measure(torch, order["bytes"] // part, order, device) + "\n")
        sys.stdout.flush()
    torch.distributed.destroy_process_group()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(json.loads(sys.argv[1])))
