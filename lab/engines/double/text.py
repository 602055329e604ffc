# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens and text: counted exactly, made the same way for the same prompt."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any

PIECE = re.compile(r"\s*[^\W_]+|\s*[^\s]|\s+")
VOCABULARY = 32000
NATURAL_LENGTH = 32  # tokens of an answer that nothing else ends
WORDS = (
    "the lab answers this request with plain words and every one of them is a token so that counts are exact while "
    "nothing here was computed by a model"
).split()


def token_ids(text: str) -> list[int]:
    """Return one id per word or sign of a text."""
    return [zlib.crc32(piece.encode()) % VOCABULARY for piece in PIECE.findall(text)]


def message_text(message: dict[str, Any]) -> str:
    """Return the text of a chat message, whose content is a string, a list of parts or null."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or "")


def chat_text(messages: list[dict[str, Any]]) -> str:
    """Return the prompt that a chat template makes of messages."""
    turns = [f"<{message.get('role')}>\n{message_text(message)}\n" for message in messages]
    return "".join([*turns, "<assistant>\n"])


def answer(prompt: str) -> Iterator[str]:
    """Yield the answer's tokens without end; where it begins depends on the prompt."""
    position = zlib.crc32(prompt.encode()) % len(WORDS)
    while True:
        yield " " + WORDS[position]
        position = (position + 1) % len(WORDS)
