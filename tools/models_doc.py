# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/models.md, computed from the configs of the recipes' models, and held against what engines logged.

`make docs` writes them between the page's marks; a unit test holds the page against what this gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.dgxspark.serving.plugins.module_utils.models import arithmetic, config, kv_pages, memory_plan
from ansible_collections.dgxspark.serving.plugins.module_utils.models.kv_pages import Shape
from ansible_collections.dgxspark.serving.plugins.module_utils.models.memory_plan import Plan
from ansible_collections.dgxspark.serving.plugins.module_utils.supervisor.memory import GIB
from tools.marks import between_marks, table

PAGE = Path("docs/models.md")
SPARK = 119 * GIB
SHARES = (0.7, 0.85)
CONTEXTS = (32768, 131072)


class Model:
    """A fixture of tests/fixtures/models, with what the code makes of it."""

    def __init__(self, path: Path) -> None:
        self.fixture = json.loads(path.read_text("utf-8"))
        self.id: str = self.fixture.get("model", path.stem)
        published = self.fixture["published"]
        self.facts = config.facts(self.fixture["config"], {})
        self.published = published.get("total_bytes") or published.get("disk_bytes")
        if "disk_bytes" in published:
            # What is packed is not known: all that lies on the disk is taken to be loaded.
            self.facts["weight_bytes"] = published["disk_bytes"]

    @property
    def disk(self) -> int:
        """Bytes on disk, published or by arithmetic."""
        parts = arithmetic.parts(self.fixture["config"])
        draft = parts.draft if parts else 0
        return self.published or self.facts["weight_bytes"] + draft * (1 if self.facts["quantization"] == "FP8" else 2)

    def plan(self, ranks: int, share: float, length: int | None = None, sequences: int | None = None) -> Plan:
        """The memory of a rank on a Spark."""
        found = memory_plan.plan(self.facts, ranks, 1, length, sequences, share, "auto", SPARK, SPARK, SPARK, 0)
        if found is None:
            raise ValueError(f"{self.id}: the size of its weights is not known")
        return found


def _gib(size: float) -> str:
    return f"{size / GIB:.1f}"


def _billions(number: int) -> str:
    return f"{number / 1e9:.1f} B"


def _models(models: list[Model]) -> str:
    rows = []
    for model in models:
        known = model.facts
        disk = f"{'' if model.published else 'about '}{model.disk / 1e9:.1f} GB"
        loaded = f"{'at most ' if 'disk_bytes' in model.fixture['published'] else ''}{_gib(known['weight_bytes'])} GiB"
        quantization = "BF16" if known["quantization"] == "none" else known["quantization"]
        counts = (_billions(known["parameters"]), _billions(known["active_parameters"]))
        rows.append((f"`{model.id}`", *counts, quantization, disk, loaded, str(known["context_length"])))
    return table("Model | Parameters | Active | Weights in | On disk | Loaded | Context", rows)


def _cache(models: list[Model]) -> str:
    rows = []
    for model in models:
        kinds = model.facts["kv"]["kinds"]
        for ranks in (1, 2):
            shape = Shape(tensor_parallel_size=ranks)
            lengths = (*CONTEXTS, model.facts["context_length"])
            each = [_gib(kv_pages.bytes_per_sequence(kinds, length, shape)) for length in lengths]
            token = f"{kv_pages.bytes_per_token(kinds, shape) / 1024:g} KiB"
            rows.append((f"`{model.id}`", str(ranks), token, *each))
    return table("Model | TP | A token | 32768 tokens | 131072 tokens | The whole context", rows)


def _fits(models: list[Model]) -> str:
    rows = []
    for model in models:
        for ranks in (1, 2):
            plans = [model.plan(ranks, share) for share in SHARES]
            cells = [text for found in plans for text in _room(found)]
            rows.append((f"`{model.id}`", str(ranks), _gib(plans[0].weights), _gib(plans[0].overhead), *cells))
    header = "Model | TP | Weights | Itself | Cache at 0.70 | Holds | Cache at 0.85 | Holds"
    return table(header, rows)


def _room(found: Plan) -> tuple[str, str]:
    room = found.engine_share - found.weights - found.overhead
    if not found.largest_context:
        return "none", "does not fit"
    if found.sequences is not None and found.sequences < 1:
        return _gib(room), f"one of {found.largest_context}"
    return _gib(room), f"{found.sequences:.1f} of {found.max_model_len}"


def _recipes(models: Mapping[str, Model], recipes: Mapping[str, Mapping[str, Any]]) -> str:
    rows = []
    for name, recipe in recipes.items():
        given = recipe["defaults"]
        ranks, sequences = given["tensor_parallel"], given["max_num_seqs"]
        share, length = given["gpu_memory_utilization"], given["max_model_len"]
        found = models[recipe["model"]].plan(ranks, share, length, sequences)
        fits = f"{_gib(found.needed)} of {_gib(found.engine_share)} GiB"
        rows.append((f"`{name}`", str(ranks), str(length), fits, f"{found.sequences:.1f}", str(sequences)))
    return table("Recipe | Hosts | Context | Needs | At once | Asked", rows)


def _logged(models: Mapping[str, Model], starts: list[dict[str, Any]]) -> str:
    rows = []
    for start in starts:
        model, text = models[start["model"]], "\n".join(start["lines"])
        shape = Shape(start.get("tensor_parallel_size", 1), 1, start.get("element_bytes", 2))
        for said, computed in _both(model, shape, start.get("states", kv_pages.STATES), text):
            rows.append((f"`{model.id}`", str(shape.tensor_parallel_size), said, computed, start["source"]))
    return table("Shape of | TP | Logged | Computed | Where", rows)


def _both(model: Model, shape: Shape, states: int, text: str) -> Iterable[tuple[str, str]]:
    """What a log says, and what the code computes for it."""
    kinds = model.facts["kv"]["kinds"]
    loaded = re.search(r"Model loading took ([\d.]+) GiB", text)
    cache = re.search(r"Available KV cache memory: ([\d.]+) GiB", text)
    tokens = re.search(r"GPU KV cache size: ([\d,]+) tokens", text)
    held = re.search(r"concurrency for ([\d,]+) tokens per request: ([\d.]+)x", text)
    if loaded:
        yield f"weights {loaded[1]} GiB", f"{memory_plan.rank_weights(model.facts, shape) / GIB:.2f} GiB"
    if cache and tokens:
        fitting = float(cache[1]) * GIB / kv_pages.bytes_per_token(kinds, shape)
        yield f"{cache[1]} GiB hold {tokens[1]} tokens", f"{fitting:,.0f}"
    if cache and held:
        length = int(held[1].replace(",", ""))
        fitting = float(cache[1]) * GIB / kv_pages.bytes_per_sequence(kinds, length, shape, states)
        yield f"{cache[1]} GiB hold {held[2]} sequences of {held[1]} tokens", f"{fitting:.2f}"


def tables(checkout: Path) -> dict[str, str]:
    """The tables, by the names of their marks.

    :param checkout: the folder of the repository
    """
    fixtures = checkout / "tests" / "fixtures"
    by_name = {path.stem: Model(path) for path in sorted((fixtures / "models").glob("*.json"))}
    by_id = {model.id: model for model in by_name.values()}
    recipes = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(checkout.glob("recipes/*.yaml"))}
    # The lab's models are folders.
    recipes = {name: recipe for name, recipe in recipes.items() if not recipe["model"].startswith("/")}
    models = [by_id[name] for name in dict.fromkeys(recipe["model"] for recipe in recipes.values())]
    starts = json.loads((fixtures / "logs" / "vllm-sizes.json").read_text("utf-8"))
    return {
        "models": _models(models),
        "sources": "".join(f"- `{model.id}`: {model.fixture['source']}.\n" for model in models),
        "cache": _cache(models),
        "fits": _fits(models),
        "recipes": _recipes(by_id, recipes),
        "logged": _logged(by_name, starts),
    }


def page(text: str, found: Mapping[str, str]) -> str:
    """The page with its tables anew; see :func:`between_marks`."""
    return between_marks(PAGE, text, found)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8"), tables(Path())), "utf-8")
