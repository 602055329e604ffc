# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How ``vllm-rs bench serve`` is found and run in an engine's container, as vLLM 0.33 has it. Pure.

Each script is given to ``docker exec CONTAINER sh -c``. The engine's key is read inside the container, from the file or
the variable that the engine itself has it from: it is in no command line, and never leaves the container.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.engines.keyed import KEY_MOUNT

NAME = "vllm-rs"
# What it does is bounded by the requests; a server that hangs is given up after so long.
LIMIT_S = 900
# Lines of its own words that are told when it fails.
WORDS = 3
# It makes random tokens, and text of them, until the server counts as many: with some tokenizers it gives up.
NO_PROMPTS = "failed to converge"
_NAMES = ("program", "version", "tokenizer")

# $1 is the model's folder, $2 the revision in it. In vLLM's wheel the program lies in the package; importlib finds that
# without running it.
FIND = """
p=$(command -v vllm-rs) || {
    d=$(python3 -c 'import importlib.util as u; print(u.find_spec("vllm").submodule_search_locations[0])' 2>/dev/null)
    p=$d/vllm-rs
}
[ -x "$p" ] || exit 0
m=$1
if [ -n "$2" ]; then
    r=$(cat "$1/refs/$2" 2>/dev/null) || r=$2
    m=$1/snapshots/$r
fi
printf '%s\\n' "$p" "$("$p" --version)" "$m"
"""

# $@ is the program with its options; it asks the engine itself, whatever proxies the container has.
RUN = f"""
d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
OPENAI_API_KEY=$(cat {KEY_MOUNT} 2>/dev/null) || OPENAI_API_KEY=${{VLLM_API_KEY:-}}
export OPENAI_API_KEY
[ -n "$OPENAI_API_KEY" ] || unset OPENAI_API_KEY
t=$(command -v timeout) && set -- "$t" -k 5 {LIMIT_S} "$@"
"$@" --result-dir "$d" --result-filename result.json >"$d/log" 2>&1 </dev/null || {{
    c=$?
    tail -n {WORDS} "$d/log" >&2
    exit $c
}}
cat "$d/result.json"
"""


@dataclass(frozen=True)
class Program:
    """The program in a container.

    :ivar version: as it says itself
    :ivar tokenizer: folder of the model's tokenizer in the container
    """

    program: str
    version: str
    tokenizer: str


def find(docker: str, wanted: Mapping[str, Any]) -> list[str]:
    """The command that looks for it.

    :param docker: path of the command
    :param wanted: as ``choice.wanted_of`` made it
    """
    return [docker, "exec", wanted["container"], "sh", "-c", FIND, "sh", wanted["folder"], wanted["revision"]]


def found(output: str) -> Program | None:
    """What ``find`` has printed; None when the container has no such program.

    >>> found("/usr/bin/vllm-rs\\nvllm-rs 0.33.0\\n/models/m\\n")
    Program(program='/usr/bin/vllm-rs', version='0.33.0', tokenizer='/models/m')
    """
    lines = output.splitlines()
    if len(lines) < len(_NAMES):
        return None
    program, version, tokenizer = lines[-len(_NAMES) :]
    return Program(program, version.removeprefix(f"{NAME} "), tokenizer)


def run(docker: str, wanted: Mapping[str, Any], point: Mapping[str, Any], program: Program) -> list[str]:
    """The command that asks one point once more, and prints the JSON of its result."""
    inside = [docker, "exec", wanted["container"], "sh", "-c", RUN, "sh"]
    return [*inside, program.program, *arguments(wanted, point, program.tokenizer)]


def arguments(wanted: Mapping[str, Any], point: Mapping[str, Any], tokenizer: str) -> list[str]:
    """Its arguments: the same users, answers of the same length, the likeliest token, new prompts.

    :param point: of ``wanted["points"]``
    """
    where = ["--backend=openai-chat", f"--base-url={wanted['url']}", "--endpoint=/v1/chat/completions"]
    what = [f"--model={wanted['served_model_name']}", f"--tokenizer={tokenizer}", "--dataset-name=random"]
    what += [f"--random-input-len={point['prompt_tokens']}", f"--random-output-len={point['output_tokens']}"]
    what += [f"--seed={point['seed']}", "--ignore-eos", "--temperature=0"]
    # One wave opens its connections and warms up, as the first round of ours does.
    load = [f"--num-prompts={point['requests']}", f"--max-concurrency={point['n']}", f"--num-warmups={point['n']}"]
    out = ["--percentile-metrics=ttft,tpot,itl,e2el", "--disable-tqdm", "--save-result", "--save-detailed"]
    return ["bench", "serve", *where, *what, *load, *out]


def absent(wanted: Mapping[str, Any]) -> str:
    """What is said when the container has no such program."""
    return (
        f"vllm-rs was not asked: found none in the image {wanted['image']} on {wanted['host']}, wanted an image with "
        "the program vllm-rs on its PATH or in its package vllm, as vLLM 0.33 has it. Serve from such an image, or "
        "set benchmark_second_source: none."
    )


def failed(wanted: Mapping[str, Any], what: str, code: int, words: str) -> str:
    """What is said when it ended without a result."""
    said = " ".join(words.split())[-300:] or "it says nothing"
    return (
        f"vllm-rs gave no result for {what} on {wanted['host']}: exit code {code} ({said}). "
        f"Try it there: docker exec {wanted['container']} vllm-rs bench serve --help."
    )
