# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command of a recipe: a template with ``{placeholders}`` in, an engine's flags out. No shell is ever asked."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.engines import sglang, vllm
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import named_list, show

# How a command may begin, and whose it is then.
PROGRAMS = {
    ("vllm", "serve"): "vllm",
    ("python", "-m", "vllm.entrypoints.openai.api_server"): "vllm",
    ("sglang", "serve"): "sglang",
    ("python", "-m", "sglang.launch_server"): "sglang",
}

ALIASES = {"vllm": vllm.ALIASES, "sglang": {}}

# Values may name others, as in base_url: http://localhost:{port}; deeper than this they name each other.
DEEPEST = 8

_DOUBLED = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}")
_SINGLE = re.compile(r"\{([A-Za-z_]\w*)\}")
_CONTINUED = re.compile(r"\\[ \t]*\n")
_COMMENT = re.compile(r"^[ \t]*#.*\n?", re.MULTILINE)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_NUMBER = re.compile(r"-\.?\d.*")
_LEVEL = re.compile(r"-O(\d)")
_SINGLE_QUOTED = re.compile(r"'[^']*'")
_SHELL = re.compile(r"\S*(?:\$[A-Za-z_{(]|`)\S*")
_OPERATORS = "();<>|&\n"


@dataclass(frozen=True)
class Command:
    """What a command line says.

    :ivar engine: ``vllm`` or ``sglang``
    :ivar model: what it serves; empty when it does not say
    :ivar flags: by the engine's one name for each: ``True`` for a bare flag, ``False`` for vLLM's ``--no-`` form, a
        list for several values, a mapping for dotted flags, text otherwise
    :ivar env: variables that are set in front of the program
    """

    engine: str
    model: str = ""
    flags: dict[str, Any] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)


def placeholders(template: str) -> set[str]:
    """The names that a template asks for."""
    return set(_pattern(template).findall(template)) - {""}


def _pattern(template: str) -> re.Pattern[str]:
    # Double braces stand for single ones only where somebody opens with them: '{"a": {"b": 1}}' ends with two.
    return _DOUBLED if "{{" in template else _SINGLE


def fill(template: str, values: Mapping[str, Any], place: str) -> tuple[str, list[Fault]]:
    """Put the values into a template.

    >>> fill("--port {port} --x '{{\\"a\\": 1}}'", {"port": 8000}, "command")
    ('--port 8000 --x \\'{"a": 1}\\'', [])
    """
    faults: list[Fault] = []

    def value_of(name: str, depth: int) -> str:
        found = f"the placeholder {{{name}}}"
        if name not in values:
            known = named_list(sorted(values))
            remedy = f"Add {name} to the recipe's defaults, or correct the name"
            faults.append(Fault(place, found, f"a name among {known}", remedy))
            return ""
        if depth > DEEPEST:
            faults.append(Fault(place, f"{found} within itself", "a value", f"Give {name} a value of its own"))
            return ""
        return _SINGLE.sub(lambda match: value_of(match.group(1), depth + 1), text_of(values[name]))

    def replaced(match: re.Match[str]) -> str:
        return value_of(match.group(1), 1) if match.group(1) else match.group()[0]

    return _pattern(template).sub(replaced, template), faults


def text_of(value: Any) -> str:
    """A value of the recipe as its command has it."""
    if value is None:
        return ""
    if isinstance(value, (bool, Mapping, list, tuple)):
        return json.dumps(value)
    return str(value)


def parse(text: str, place: str) -> tuple[Command | None, list[Fault]]:
    """Read one command line.

    :param text: the filled template
    :param place: how a fault names it
    """
    words, faults = _words(text, place)
    env: dict[str, str] = {}
    while words and (match := _ASSIGNMENT.fullmatch(words[0])):
        env[match.group(1)] = match.group(2)
        del words[0]
    if faults or not words:
        return None, faults or [_not_an_engine("nothing", place)]
    program = _program(words)
    if program is None:
        return None, [_not_an_engine(show(" ".join(words[:3])), place)]
    engine = PROGRAMS[program]
    words = words[len(program) :]
    model = ""
    if program == ("vllm", "serve") and words and not _is_flag(words[0]):
        model, words = words[0], words[1:]
    flags, faults = _flags(words, engine, place)
    for name in ("model", "model-path"):
        model = str(flags.pop(name, model))
    return (None, faults) if faults else (Command(engine, model, flags, env), [])


def _program(words: Sequence[str]) -> tuple[str, ...] | None:
    # python3 and python3.12 are the same to us.
    head = (re.sub(r"^python[0-9.]*$", "python", words[0]), *words[1:3])
    return next((program for program in PROGRAMS if head[: len(program)] == program), None)


def _not_an_engine(found: str, place: str) -> Fault:
    wanted = named_list(" ".join(program) for program in PROGRAMS)
    return Fault(place, found, f"a command that begins with {wanted}", "Write the engine's command and nothing else")


def _words(text: str, place: str) -> tuple[list[str], list[Fault]]:
    # A shell removes a backslash at the end of a line; with a space behind it, it was meant so all the same.
    joined = _CONTINUED.sub(" ", _COMMENT.sub("", text)).strip()
    lexer = shlex.shlex(joined, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return [], [Fault(place, "a quotation mark that is not closed", "balanced quotation marks", "Close it")]
    for word in words:
        # Line ends are operators as well: what follows one is another command.
        if word and not word.strip(_OPERATORS):
            found = "a second line" if "\n" in word else f"the shell operator {word}"
            remedy = "Leave one command; end each of its lines but the last with a backslash"
            return [], [Fault(place, found, "one command, without a shell", remedy)]
    expression = _SHELL.search(_SINGLE_QUOTED.sub("", joined))
    if expression:
        found = f"the shell expression {show(expression.group())}"
        remedy = "Write the value itself, or a {placeholder} with a default"
        return [], [Fault(place, found, "plain words, for no shell runs", remedy)]
    return words, []


def _is_flag(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not _NUMBER.fullmatch(word)


def _flags(words: Sequence[str], engine: str, place: str) -> tuple[dict[str, Any], list[Fault]]:
    found: dict[str, list[str]] = {}
    faults: list[Fault] = []
    current: list[str] | None = None
    for word in words:
        if _is_flag(word):
            name, equals, value = word.partition("=")
            level = _LEVEL.fullmatch(name)
            if level:
                name, equals, value = "--optimization-level", "=", level.group(1)
            short = name.lstrip("-").partition(".")[0]
            if not name.startswith("--") and short not in ALIASES[engine]:
                faults.append(Fault(place, f"the short flag {name}", "a flag that is known", "Write its long name"))
            name = vllm.dashed(name) if engine == "vllm" else sglang.dashed(name)
            current = found.setdefault(name, [])
            if equals:
                current.append(value)
                current = None
        elif current is None:
            remedy = "Put the model first, and each value behind its flag"
            faults.append(Fault(place, f"the word {show(word)}, which belongs to no flag", "flags and values", remedy))
        else:
            current.append(word)
    return ({}, faults) if faults else _merged(found, engine, place)


def _merged(found: Mapping[str, list[str]], engine: str, place: str) -> tuple[dict[str, Any], list[Fault]]:
    flags: dict[str, Any] = {}
    faults = []
    for name, values in found.items():
        stem, dot, path = name.partition(".")
        distinct = list(dict.fromkeys(values))
        value: Any = True if not distinct else distinct[0] if len(distinct) == 1 else distinct
        if dot:
            if not _set_within(flags.setdefault(stem, {}), path.split("."), value):
                remedy = "Write it in one of the two ways"
                faults.append(Fault(place, f"both --{stem} and --{name}", "each value once", remedy))
        elif stem in flags:
            faults.append(Fault(place, f"--{stem} in two ways", "each value once", "Write it in one of the two ways"))
        elif engine == "vllm" and value is True and stem.startswith("no-"):
            flags[stem.removeprefix("no-")] = False
        else:
            flags[stem] = value
    return flags, faults


def _set_within(config: Any, path: Sequence[str], value: Any) -> bool:
    """Set ``a.b.c`` in nested mappings, as vLLM does with dotted flags; false where something else is in the way."""
    for key in path[:-1]:
        if not isinstance(config, dict):
            return False
        config = config.setdefault(key, {})
    if not isinstance(config, dict):
        return False
    try:
        config[path[-1]] = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        config[path[-1]] = value
    return True
