# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long it takes to find that a 240 GB model of 200 files is complete; the aim is under 1 s.

The weight files have real headers, of a mixture of experts quantized to FP8, and holes in place of weights: nothing but
headers, index and configuration may be read. The result is printed and appended to benchmarks/RESULTS.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import struct
import tempfile
import time
from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.models import look
from ansible_collections.dgxspark.serving.plugins.module_utils.models.weights import MAIN_INDEX
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

RESULTS = Path(__file__).with_name("RESULTS.md")
HEADER = ("files", "GB", "tensors", "bytes read", "s median", "s most")
ID = "acme/mixture-fp8"
SHARDS, SMALL = 190, 10
LAYERS, EXPERTS, HIDDEN, WIDTH = 94, 128, 4096, 1616
CONFIG = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "hidden_size": HIDDEN,
    "moe_intermediate_size": WIDTH,
    "num_hidden_layers": LAYERS,
    "num_experts": EXPERTS,
    "num_experts_per_tok": 8,
    "num_attention_heads": 64,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "torch_dtype": "bfloat16",
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}


def tensors() -> dict[str, tuple[str, list[int], int]]:
    """Each tensor of the model: type, shape, bytes."""
    found = {}
    for layer in range(LAYERS):
        for expert in range(EXPERTS):
            for part, shape in (("gate", [WIDTH, HIDDEN]), ("up", [WIDTH, HIDDEN]), ("down", [HIDDEN, WIDTH])):
                name = f"model.layers.{layer}.mlp.experts.{expert}.{part}_proj.weight"
                scale = [-(-width // 128) for width in shape]
                found[name] = ("F8_E4M3", shape, shape[0] * shape[1])
                found[f"{name}_scale_inv"] = ("F32", scale, 4 * scale[0] * scale[1])
    return found


def lay(hub: Path) -> tuple[int, int, int]:
    """Make the model in a cache: its number of tensors, its bytes, and those of headers, index and configuration."""
    repository = hub / ("models--" + ID.replace("/", "--"))
    commit = "0" * 40
    snapshot = repository / "snapshots" / commit
    for folder in (snapshot, repository / "blobs", repository / "refs"):
        folder.mkdir(parents=True)
    (repository / "refs/main").write_text(commit, encoding="utf-8")
    everything = tensors()
    names = list(everything)
    files = [f"model-{number + 1:05d}-of-{SHARDS:05d}.safetensors" for number in range(SHARDS)]
    size = read = 0
    for number, file in enumerate(files):
        header: dict[str, Any] = {}
        end = 0
        for name in names[number::SHARDS]:
            dtype, shape, length = everything[name]
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + length]}
            end += length
        text = json.dumps(header, separators=(",", ":")).encode()
        blob = repository / "blobs" / f"{number:064x}"
        with blob.open("wb") as stream:
            stream.write(struct.pack("<Q", len(text)) + text)
            stream.truncate(8 + len(text) + end)
        (snapshot / file).symlink_to(f"../../blobs/{blob.name}")
        size += 8 + len(text) + end
        read += 8 + len(text)
    weight_map = {name: files[number % SHARDS] for number, name in enumerate(names)}
    index = {"metadata": {"total_size": sum(length for _type, _shape, length in everything.values())}}
    small = {"config.json": CONFIG, "tokenizer.json": {}, MAIN_INDEX: {**index, "weight_map": weight_map}}
    small |= {f"extra_{number}.json": {"number": number} for number in range(SMALL - len(small))}
    for name, content in small.items():
        blob = repository / "blobs" / f"{name}.blob"
        blob.write_text(json.dumps(content), encoding="utf-8")
        (snapshot / name).symlink_to(f"../../blobs/{blob.name}")
        size += blob.stat().st_size
        read += blob.stat().st_size
    return len(names), size, read


def measure(hub: Path, rounds: int) -> list[float]:
    """Seconds of each look."""
    seconds = []
    for _round in range(rounds):
        start = time.perf_counter()
        found = look.look(ID, str(hub))
        seconds.append(time.perf_counter() - start)
        if found.problems:
            raise SystemExit(f"The model is not complete: {found.problems}")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="model-info-") as folder:
        hub = Path(folder)
        count, size, read = lay(hub)
        seconds = measure(hub, rounds)
    row = (SHARDS + SMALL, f"{size / 1e9:.0f}", count, read, f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}")
    lines = "\n".join(table(HEADER, [[str(cell) for cell in row]]))
    print(lines)
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write("\n## A look at a complete model, `model_info`\n\nThe aim is under 1 s.\n")
        file.write(f"\n### {today}, {os.cpu_count()} cores, {rounds} looks\n\n```text\n{lines}\n```\n")


if __name__ == "__main__":
    main()
