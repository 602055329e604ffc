# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tiny Qwen3 and Qwen3-MoE models with random weights, made from nothing but the standard library.

They have everything that a downloaded model folder has (configuration, safetensors weights, tokenizer, chat template)
in about 1-5 MB, so that a real engine loads them and every check of a model folder holds. What they say is noise, but
noise made of words: the output rows of tokens that are no text are zero, those of words are large.
"""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from pathlib import Path

HIDDEN = 128
LAYERS = 4
HEADS, KEY_VALUE_HEADS, HEAD_DIM = 4, 2, 32
INTERMEDIATE = 384
EXPERTS, EXPERTS_PER_TOKEN, EXPERT_INTERMEDIATE = 8, 2, 128
CONTEXT = 4096
VOCABULARY_MULTIPLE = 64
SPECIAL_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
PAD_ID, END_ID = 0, 2
#: Weights are random in sign and size, between a power of two and the next; these are the exponents of the powers.
INNER_EXPONENT = -4
EMBEDDING_EXPONENT = -1
#: A normalised hidden state has length sqrt(HIDDEN): with this the logits of words clearly win over those of zero rows.
OUTPUT_EXPONENT = -2

WORDS = (
    "a about again all also an and answer any are as ask at back be because before begin better between but by can "
    "come could day do each end even every few find first for from get give go good great group hand have he help "
    "here high hold home how if in into is it just keep know large last late learn leave let life light line list "
    "little long look make many may mean model more most move much must name near need never new next no not now "
    "number of off old on once one only open or order other our out over own part people place plan play point port "
    "quick rank read ready real request right run same say second see seem serve server set she show side small so "
    "some start state still such system take talk tell than that the their them then there these they thing think "
    "this time to token together too turn two under up use very wait want water way we well what when where which "
    "while who why will with word work world would write year yes you your"
).split()

CHAT_TEMPLATE = """\
{%- for message in messages %}
{{- '<|im_start|>' + message.role + '\\n' }}
{%- if message.content is string %}
{{- message.content }}
{%- else %}
{%- for part in message.content or [] %}
{{- part.text }}
{%- endfor %}
{%- endif %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""


@dataclass(frozen=True)
class Tensor:
    """A weight to be written: its name, its shape and the size of its random entries (2**exponent to twice that).

    `ones` makes it all 1 (the norms). `blank_rows` are left zero.
    """

    name: str
    shape: tuple[int, ...]
    exponent: int = INNER_EXPONENT
    ones: bool = False
    blank_rows: frozenset[int] = frozenset()


def byte_symbols() -> list[str]:
    """Return the 256 printable characters that byte-level BPE puts in place of bytes 0..255."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    symbols = {}
    spare = 0x100
    for byte in range(256):
        if byte in printable:
            symbols[byte] = chr(byte)
        else:
            symbols[byte] = chr(spare)
            spare += 1
    return [symbols[byte] for byte in range(256)]


def vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """Return token -> id, and the merges: every beginning of ` word` is a token, built one letter at a time."""
    symbols = byte_symbols()
    tokens = {token: number for number, token in enumerate([*SPECIAL_TOKENS, *symbols])}
    merges = []
    for word in WORDS:
        prefix = symbols[ord(" ")]
        for letter in word:
            longer = prefix + letter
            if longer not in tokens:
                tokens[longer] = len(tokens)
                merges.append((prefix, letter))
            prefix = longer
    return tokens, merges


def word_ids() -> frozenset[int]:
    """Return the ids of the whole words, the tokens that the models are made to say."""
    space = byte_symbols()[ord(" ")]
    tokens, _merges = vocabulary()
    return frozenset(tokens[space + word] for word in WORDS)


def vocabulary_size() -> int:
    """Return the number of rows of the embeddings: the tokens, rounded up."""
    return -(-len(vocabulary()[0]) // VOCABULARY_MULTIPLE) * VOCABULARY_MULTIPLE


def model_config(mixture: bool) -> dict[str, object]:
    """Return config.json of a dense (Qwen3) or mixture-of-experts (Qwen3-MoE) model."""
    config: dict[str, object] = {
        "architectures": ["Qwen3MoeForCausalLM" if mixture else "Qwen3ForCausalLM"],
        "model_type": "qwen3_moe" if mixture else "qwen3",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "dtype": "bfloat16",
        "bos_token_id": None,
        "eos_token_id": END_ID,
        "pad_token_id": PAD_ID,
        "head_dim": HEAD_DIM,
        "hidden_act": "silu",
        "hidden_size": HIDDEN,
        "initializer_range": 0.02,
        "intermediate_size": INTERMEDIATE,
        "max_position_embeddings": CONTEXT,
        "num_attention_heads": HEADS,
        "num_hidden_layers": LAYERS,
        "num_key_value_heads": KEY_VALUE_HEADS,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
        "sliding_window": None,
        "tie_word_embeddings": False,
        "use_cache": True,
        "use_sliding_window": False,
        "vocab_size": vocabulary_size(),
    }
    if mixture:
        config |= {
            "decoder_sparse_step": 1,
            "mlp_only_layers": [],
            "moe_intermediate_size": EXPERT_INTERMEDIATE,
            "norm_topk_prob": True,
            "num_experts": EXPERTS,
            "num_experts_per_tok": EXPERTS_PER_TOKEN,
            "output_router_logits": False,
            "router_aux_loss_coef": 0.001,
        }
    return config


def _feed_forward(prefix: str, width: int) -> Iterator[Tensor]:
    yield Tensor(f"{prefix}.gate_proj.weight", (width, HIDDEN))
    yield Tensor(f"{prefix}.up_proj.weight", (width, HIDDEN))
    yield Tensor(f"{prefix}.down_proj.weight", (HIDDEN, width))


def tensors(mixture: bool) -> Iterator[Tensor]:
    """Yield every weight of the model."""
    rows = vocabulary_size()
    yield Tensor("model.embed_tokens.weight", (rows, HIDDEN), EMBEDDING_EXPONENT)
    yield Tensor("model.norm.weight", (HIDDEN,), ones=True)
    silent = frozenset(range(rows)) - word_ids() - {END_ID}
    yield Tensor("lm_head.weight", (rows, HIDDEN), OUTPUT_EXPONENT, blank_rows=silent)
    for number in range(LAYERS):
        layer = f"model.layers.{number}"
        yield Tensor(f"{layer}.input_layernorm.weight", (HIDDEN,), ones=True)
        yield Tensor(f"{layer}.post_attention_layernorm.weight", (HIDDEN,), ones=True)
        yield Tensor(f"{layer}.self_attn.q_norm.weight", (HEAD_DIM,), ones=True)
        yield Tensor(f"{layer}.self_attn.k_norm.weight", (HEAD_DIM,), ones=True)
        yield Tensor(f"{layer}.self_attn.q_proj.weight", (HEADS * HEAD_DIM, HIDDEN))
        yield Tensor(f"{layer}.self_attn.k_proj.weight", (KEY_VALUE_HEADS * HEAD_DIM, HIDDEN))
        yield Tensor(f"{layer}.self_attn.v_proj.weight", (KEY_VALUE_HEADS * HEAD_DIM, HIDDEN))
        yield Tensor(f"{layer}.self_attn.o_proj.weight", (HIDDEN, HEADS * HEAD_DIM))
        if mixture:
            yield Tensor(f"{layer}.mlp.gate.weight", (EXPERTS, HIDDEN))
            for expert in range(EXPERTS):
                yield from _feed_forward(f"{layer}.mlp.experts.{expert}", EXPERT_INTERMEDIATE)
        else:
            yield from _feed_forward(f"{layer}.mlp", INTERMEDIATE)


def _bfloat16_tables(exponent: int) -> tuple[bytes, bytes]:
    """Return, for every random byte, the lower and the upper byte of a bfloat16.

    Its sign and seven bits of mantissa are those of the random byte, so that one byte is all a weight needs.
    """
    biased = exponent + 127
    lower = bytes((biased & 1) << 7 | (byte & 0x7F) for byte in range(256))
    upper = bytes((byte & 0x80) | biased >> 1 for byte in range(256))
    return lower, upper


def _content(tensor: Tensor, source: random.Random) -> bytes:
    count = prod(tensor.shape)
    if tensor.ones:
        return b"\x80\x3f" * count
    chance = source.randbytes(count)
    lower, upper = _bfloat16_tables(tensor.exponent)
    values = bytearray(2 * count)
    values[0::2], values[1::2] = chance.translate(lower), chance.translate(upper)
    row_bytes = 2 * tensor.shape[-1]
    for row in tensor.blank_rows:
        values[row * row_bytes : (row + 1) * row_bytes] = bytes(row_bytes)
    return bytes(values)


def write_weights(target: Path, mixture: bool) -> None:
    """Write model.safetensors: an 8-byte length, a JSON header with each tensor's place, then the tensors."""
    source = random.Random(0)
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    contents = []
    offset = 0
    for tensor in tensors(mixture):
        content = _content(tensor, source)
        header[tensor.name] = {
            "dtype": "BF16",
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(content)],
        }
        offset += len(content)
        contents.append(content)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with target.open("wb") as stream:
        stream.write(struct.pack("<Q", len(head)) + head)
        stream.writelines(contents)


def tokenizer_json() -> dict[str, object]:
    """Return tokenizer.json: byte-level BPE, so that any text can be encoded."""
    tokens, merges = vocabulary()
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
    special = [
        {
            "id": tokens[token],
            "content": token,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for token in SPECIAL_TOKENS
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": byte_level,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": tokens,
            "merges": [list(pair) for pair in merges],
        },
    }


def _write_json(target: Path, value: object) -> None:
    target.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def write_model(folder: Path, mixture: bool = False) -> None:
    """Make the folder of a model, all files 0644; `mixture` asks for Qwen3-MoE instead of Qwen3."""
    folder.mkdir(parents=True)
    _write_json(folder / "config.json", model_config(mixture))
    _write_json(
        folder / "generation_config.json",
        {"do_sample": True, "eos_token_id": END_ID, "pad_token_id": PAD_ID, "temperature": 0.7, "top_p": 0.9},
    )
    _write_json(folder / "tokenizer.json", tokenizer_json())
    _write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "eos_token": SPECIAL_TOKENS[END_ID],
            "pad_token": SPECIAL_TOKENS[PAD_ID],
            "model_max_length": CONTEXT,
            "clean_up_tokenization_spaces": False,
        },
    )
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE, encoding="utf-8")
    write_weights(folder / "model.safetensors", mixture)
    for path in folder.iterdir():
        path.chmod(0o644)
