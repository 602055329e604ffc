# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which cases a suite plays, once the user has had a say. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.cases.case import LANGUAGES, Case
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites.suite import Part
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import named_list, show


def expand(name: str, languages: Iterable[str]) -> list[str]:
    """The cases that a name means: one, or one for each language.

    >>> expand("short", ["en", "zh"]), expand("short-zh", ["en"])
    (['short-en', 'short-zh'], ['short-zh'])
    """
    if name.endswith(tuple(f"-{language}" for language in LANGUAGES)):
        return [name]
    return [f"{name}-{language}" for language in languages]


def chosen_parts(
    parts: Sequence[Part],
    wished: Sequence[str],
    languages: Sequence[str],
    known: Mapping[str, Case],
    own: Sequence[str],
) -> tuple[list[Part], list[Fault]]:
    """The parts of a suite with the full names of the cases that are to be played.

    :param wished: ``benchmark_cases``; a case that the suite has not is played as its last closed part
    :param languages: ``benchmark_languages``
    :param known: all cases by name
    :param own: the cases of the user's own files, which are played with or without a wish
    """
    spelt = [replace(part, cases=tuple(_names(part.cases, languages or part.languages))) for part in parts]
    have = {name for part in spelt for name in part.cases}
    more: list[str] = []
    wanted: set[str] = set()
    faults = []
    for number, name in enumerate(wished):
        exact = name in known or name in have
        names = [name] if exact else expand(name, languages or _languages_of(name, have) or LANGUAGES[:1])
        if not set(names) <= set(known):
            bases = sorted({case.rpartition("-")[0] for case in known} | set(known))
            remedy = "Name one of these, or give the file of your own with benchmark_case_files"
            faults.append(Fault(f"benchmark_cases[{number}]", show(name), named_list(bases), remedy))
            continue
        wanted |= set(names)
        more += [name for name in names if name not in have]
    if not wished:
        wanted = have | set(own)
        more = [name for name in own if name not in have]
    lacking = sorted(name for name in wanted if name not in known)
    if lacking and not faults:
        found = f"the case{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}"
        remedy = "Leave out the language that they do not have, or choose among the cases"
        faults.append(Fault("suite", found, named_list(sorted(known)), remedy))
    kept = [replace(part, cases=tuple(name for name in part.cases if name in wanted)) for part in spelt]
    return [part for part in _with_more(kept, list(dict.fromkeys(more))) if part.cases], faults


def _names(cases: Iterable[str], languages: Iterable[str]) -> list[str]:
    return [name for case in cases for name in expand(case, languages)]


def _languages_of(name: str, have: Iterable[str]) -> list[str]:
    """The languages in which a suite has a case."""
    return [language for language in LANGUAGES if f"{name}-{language}" in have]


def _with_more(parts: list[Part], more: list[str]) -> list[Part]:
    """Add cases that the suite has not to its last closed part, or to its last one."""
    if not more:
        return parts
    closed = [number for number, part in enumerate(parts) if part.load == "closed"]
    place = closed[-1] if closed else len(parts) - 1
    return [replace(part, cases=(*part.cases, *more)) if number == place else part for number, part in enumerate(parts)]
