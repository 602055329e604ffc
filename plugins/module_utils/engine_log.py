# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine's log says about how far it is. Pure; the log is that of ``docker logs``, oldest line first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# Stages in the order in which an engine passes them.
IMPORTS = "imports"
DISTRIBUTED = "distributed"
WEIGHTS = "loading weights"
COMPILING = "compiling"
PROFILING = "profiling"
GRAPHS = "graphs"
SERVING = "ready"

# What begins or belongs to a stage; of several in one line the last one counts.
_STAGES: dict[str, re.Pattern[str]] = {
    IMPORTS: re.compile(
        r"vLLM (?:API )?server version|version [\d.]\S* model |Initializing a V1 LLM engine|server_args=ServerArgs"
        r"|Automatically detected"
    ),
    DISTRIBUTED: re.compile(
        r"distributed_init_method=|Init torch distributed|NCCL INFO (?:Bootstrap|NET/)|Connecting to existing Ray"
        r"|Ray runtime started"
    ),
    WEIGHTS: re.compile(
        r"Starting to load model|[Ll]oading safetensors|checkpoint shards|Loading pt checkpoint|Load weight begin"
        r"|Loading weights took|Model loading took|Load weight end"
    ),
    COMPILING: re.compile(r"torch\.compile|Dynamo bytecode|[Cc]ompil(?:ing|e) (?:a )?(?:graph|range)|AOT compil"),
    PROFILING: re.compile(
        r"profiling/warmup|Available KV cache memory|KV cache size|Memory pool end|KV Cache is allocated"
    ),
    GRAPHS: re.compile(r"[Cc]aptur(?:ing|e)\b.*graphs?|Graph capturing finished"),
    SERVING: re.compile(r"Application startup complete|The server is fired up"),
}
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_PERCENT = re.compile(r"(?<![\w.])(\d{1,3})(?:\.\d+)?\s?%")
# A progress bar, not a figure such as "GPU KV cache usage: 0.0%".
_BAR = re.compile(r"%\s*(?:Completed\s*)?\|")
# In front of what a line says: who says it, how bad it is, when, and where in the source.
_PREFIX = re.compile(
    r"^(?:\([\w=:.,\- ]+\)\s+|\[\d{4}-\d\d-\d\d[^\]]*\]\s*|\[rank\d+\]:?\s*"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*Z?(?:[+-]\d\d:?\d\d)?\s+"
    r"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b:?\s*(?:\d\d-\d\d \d\d:\d\d:\d\d\s*)?"
    r"|\[[\w./-]+\.(?:py|cc|cpp|cu):\d+\]\s*)"
)
# Lines that come for ever and mean nothing: requests for the state, separators, drawings.
_NOISE = re.compile(r'"(?:GET|HEAD) /(?:health|ping|metrics|v1/models|version)\b|^[\W_]*$|^\s*[\^~]+\s*$')
_SECRETS = (
    re.compile(r"\bhf_[A-Za-z0-9]{4,}"),
    re.compile(r"(?<=[Bb]earer )[^\s'\"]+"),
    re.compile(r"(?<=--api-key[ =])[^\s'\"]+"),
    re.compile(r"(?<=api_key=)(?!None)(?:\[[^\]]*\]|'[^']*'|[^\s,)]+)"),
    re.compile(r"(?<=['\"]api_key['\"]: )(?!None)(?:\[[^\]]*\]|'[^']*'|\"[^\"]*\"|[^\s,}]+)"),
    re.compile(r"(?<=_TOKEN=)[^\s'\",)]+"),
)
_WORLD_SIZE = re.compile(r"(?<![\w.])world_size=(\d+)")
_SGLANG_SIZES = re.compile(r"(?<![\w.])(tp_size|pp_size)=(\d+)")
_NETWORK = re.compile(r"NCCL INFO Using network (\w+)")


@dataclass(frozen=True)
class Progress:
    """How far an engine is.

    :ivar stage: the last stage that the log shows; empty before the first one
    :ivar percent: of that stage, where the log tells it
    :ivar line: the last line that means something, without its prefix
    """

    stage: str = ""
    percent: int | None = None
    line: str = ""


def texts_of(lines: Iterable[str]) -> list[str]:
    """Lines as a terminal would leave them: no colours, one text for each redraw of a bar, secrets masked."""
    texts = []
    for line in lines:
        for part in _ANSI.sub("", line).replace("\x00", "").split("\r"):
            if part.strip():
                texts.append(masked(part.rstrip()))
    return texts


def telling(lines: Iterable[str]) -> list[str]:
    """The lines of a log without those that come for ever and mean nothing."""
    return [text for text in texts_of(lines) if not _NOISE.search(text)]


def masked(text: str) -> str:
    """``text`` without the tokens and keys that engines and libraries print (field fault M15)."""
    for secret in _SECRETS:
        text = secret.sub("***", text)
    return text


def bare(text: str) -> str:
    """What a line says, without process, level, time and place in the source."""
    while True:
        shorter = _PREFIX.sub("", text, count=1)
        if shorter == text:
            return text.strip()
        text = shorter


def progress(lines: Sequence[str]) -> Progress:
    """Read how far the engine is from its log, or from the end of it."""
    stage, percent, last = "", None, ""
    for text in telling(lines):
        said = bare(text)
        if not said:
            continue
        last = said
        for name, pattern in _STAGES.items():
            if pattern.search(text):
                if name != stage:
                    percent = None
                stage = name
        if _BAR.search(text):
            found = _PERCENT.search(text)
            percent = min(int(found.group(1)), 100) if found else percent
    return Progress(stage, percent, last)


def nccl_network(lines: Sequence[str]) -> str | None:
    """Name the network that NCCL says it uses, ``IB`` or ``Socket``; None when it says nothing (field fault D11)."""
    said = (line for line in lines if "Using network" in line)
    names = [found.group(1) for text in texts_of(said) for found in _NETWORK.finditer(text)]
    return names[-1] if names else None


def world_size(lines: Sequence[str]) -> int | None:
    """Give the number of ranks that the engine says it runs with; None when it does not say.

    vLLM says ``world_size=``, SGLang the sizes of which it is the product.
    """
    seen = None
    for text in texts_of(line for line in lines if "_size=" in line):
        for found in _WORLD_SIZE.finditer(text):
            seen = int(found.group(1))
        sizes = {name: int(number) for name, number in _SGLANG_SIZES.findall(text)}
        if "tp_size" in sizes:
            seen = sizes["tp_size"] * sizes.get("pp_size", 1)
    return seen
