# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of the page: text that is safe, tables in boxes of their own, pictures."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.headline import Cell


@dataclass(frozen=True)
class Picture:
    """A drawn figure.

    :ivar id: fixed, and unlike any other in the page
    :ivar place: the section's subject: a case's name, a host's name, or ``pairs`` or ``comparison``
    :ivar svg: the drawing itself, without ids that another one has
    """

    id: str
    place: str
    title: str
    caption: str
    svg: str


def slug(name: str) -> str:
    """A name as part of an id."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"


def safe(text: object) -> str:
    """Text in which nothing is HTML, nor a control character."""
    cleaned = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", "\ufffd", str(text))
    return html.escape(cleaned, quote=True)


def section(identity: str, title: str, body: Sequence[str], level: int = 2) -> list[str]:
    """A section with its head; nothing when it has no body."""
    if not body:
        return []
    return [f'<section id="{identity}">', f"<h{level}>{safe(title)}</h{level}>", *body, "</section>"]


def table(label: str, head: Sequence[str], rows: Sequence[Sequence[Cell]]) -> list[str]:
    """A table that scrolls within its own box when the window is narrow."""
    if not rows:
        return []
    numbers = [all(row[column].is_number for row in rows) for column in range(len(head))]
    titles = [f'<th scope="col"{_kind(number)}>{safe(name)}</th>' for name, number in zip(head, numbers, strict=True)]
    lines = [
        f'<div class="scroll" role="region" aria-label="{safe(label)}" tabindex="0">',
        "<table>",
        f"<thead><tr>{''.join(titles)}</tr></thead>",
        "<tbody>",
    ]
    lines += [
        "<tr>" + "".join(_cell(cell, number) for cell, number in zip(row, numbers, strict=True)) + "</tr>"
        for row in rows
    ]
    return [*lines, "</tbody>", "</table>", "</div>"]


def items(lines: Sequence[str]) -> list[str]:
    """A list of sentences that are safe already."""
    return ["<ul>", *[f"<li>{line}</li>" for line in lines], "</ul>"] if lines else []


def pictures(drawn: Sequence[Picture], *places: str) -> list[str]:
    """The pictures of a section, side by side where there is room."""
    own = [one for one in drawn if one.place in places]
    if not own:
        return []
    lines = ['<div class="pictures">']
    for one in own:
        lines += [
            f'<figure id="{one.id}">',
            f"<figcaption><b>{safe(one.title)}</b> {safe(one.caption)}</figcaption>",
            one.svg,
            "</figure>",
        ]
    return [*lines, "</div>"]


def badge(word: str) -> str:
    """A verdict or a severity, coloured; the word says it as well."""
    return f'<span class="badge {slug(word)}">{safe(word)}</span>'


_BADGES = ("regression", "worse", "improvement", "better", "no change", "no difference", "inconclusive", "NO")


def _kind(number: bool) -> str:
    return ' class="number"' if number else ""


def _cell(cell: Cell, number: bool) -> str:
    said = badge(cell.text) if cell.text in _BADGES else safe(cell.text)
    if cell.why:
        said = f'<abbr title="{safe(cell.why)}">{said}</abbr>'
    if cell.more:
        said += f' <span class="more">({safe(cell.more)})</span>'
    return f"<td{_kind(number)}>{said}</td>"
