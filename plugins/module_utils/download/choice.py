# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files of a repository an engine needs: one format of weights, and nothing for other programs. Pure."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable

# Folders with the same weights once more, for other programs.
_OTHER_FOLDERS = ("original", "metal", "onnx", "openvino", "coreml", "gguf", "mlx")
# Weights of other frameworks, or of what made the model; what an engine reads is *.safetensors.
_OTHER_WEIGHTS = re.compile(
    r"\.(?:gguf|ggml|onnx|onnx_data|h5|msgpack|ot|tflite|mlmodel|ckpt|pt|pth|nemo|engine|llamafile)$"
    r"|(?:^|/)(?:pytorch_model|adapter_model|consolidated|flax_model|tf_model|training_args|optimizer|scheduler)"
    r"[^/]*\.bin(?:\.index\.json)?$"
)
_KEEPING = re.compile(r"(?:^|/)\.git")
# Mistral's own layout beside that of Hugging Face: the weights a second time, and the config that goes with them.
_MISTRAL = re.compile(r"consolidated[^/]*\.safetensors(?:\.index\.json)?|params\.json")
_PLAIN = re.compile(r"model[^/]*\.safetensors")
SAFETENSORS = ".safetensors"


class NoWeights(Exception):
    """The repository has nothing that an engine could load; the text says what it has."""


def wanted(names: Iterable[str]) -> list[str]:
    """Files to download, sorted.

    :param names: all files of the repository
    :raises NoWeights: none of them is a ``*.safetensors``
    """
    every = sorted(names)
    chosen = [name for name in every if not _is_other(name)]
    if not any(name.endswith(SAFETENSORS) for name in chosen):
        raise NoWeights(_kinds(every))
    if "config.json" in chosen and any(_PLAIN.fullmatch(name) for name in chosen):
        chosen = [name for name in chosen if not _MISTRAL.fullmatch(name)]
    return chosen


def _is_other(name: str) -> bool:
    in_other = name.split("/", 1)[0] in _OTHER_FOLDERS and "/" in name
    return in_other or bool(_OTHER_WEIGHTS.search(name) or _KEEPING.search(name))


def _kinds(names: Iterable[str]) -> str:
    """The commonest endings.

    >>> _kinds(["a.gguf", "b.gguf", "README.md"])
    '2 *.gguf, 1 *.md'
    """
    endings = Counter(posixpath.splitext(name)[1] or posixpath.basename(name) for name in names)
    found = [f"{count} *{ending}" for ending, count in endings.most_common(4)]
    return ", ".join(found) or "no file"
