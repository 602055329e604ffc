# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of a fabric test, the verdicts below it, and the same as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test import figures, results, verdict
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.host import is_up
from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_test.orders import RDMA_LATENCY
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

HEADER = ("pair", "test", "over", "measured", "good on a Spark")


def data(
    pairs: Sequence[Mapping[str, Any]], looks: Mapping[str, Mapping[str, Any]], found: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Each pair with its results and its verdict.

    :param pairs: ``name``, ``client``, ``server`` and ``links`` (client's and server's) of each
    :param looks: what :func:`host.read` says of each host
    :param found: the results of all pairs
    """
    rows = []
    for pair in pairs:
        own = [dict(one) for one in found if one["pair"] == pair["name"]]
        links = [
            verdict.Link(
                interface=link["client"]["interface"],
                rdma_device=link["client"]["rdma_device"],
                speed=speed,
                mtu=mtu,
                speed_at=speed_at,
                mtu_at=mtu_at,
                down_at=_down(pair, link, looks),
            )
            for link in pair["links"]
            for speed, speed_at in [_worse(pair, link, looks, "speed")]
            for mtu, mtu_at in [_worse(pair, link, looks, "mtu")]
        ]
        rows.append({**pair, "results": own, "verdict": asdict(verdict.judge(links, own))})
    return rows


def _worse(
    pair: Mapping[str, Any], link: Mapping[str, Any], looks: Mapping[str, Mapping[str, Any]], fact: str
) -> tuple[int, str]:
    """The lesser value of the two ends, and which end has it."""
    values = {
        f"{interface} of {host}": looks[host]["links"].get(interface, {}).get(fact, 0)
        for host, interface in _ends(pair, link)
    }
    least = min(values, key=lambda end: values[end])
    return values[least], least


def _down(pair: Mapping[str, Any], link: Mapping[str, Any], looks: Mapping[str, Mapping[str, Any]]) -> str:
    ends = _ends(pair, link)
    return next((f"{interface} of {host}" for host, interface in ends if not is_up(looks[host], interface)), "")


def _ends(pair: Mapping[str, Any], link: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(pair[end], link[end]["interface"]) for end in ("client", "server")]


def lines(rows: Sequence[Mapping[str, Any]], notes: Sequence[str]) -> list[str]:
    """What is printed.

    :param rows: as :func:`data` gives them
    :param notes: sentences about the whole run
    """
    # What is skipped for one reason is said once for each pair.
    cells = list(
        dict.fromkeys(
            (row["name"], results.title(one), "" if one["skipped"] else " + ".join(one["over"]), *_figures(one))
            for row in rows
            for one in row["results"]
        )
    )
    said = table(HEADER, cells) if cells else ["Nothing was measured."]
    remedies = [
        f"{one['skipped']}: {one['remedy']}."
        for row in rows
        for one in row["results"]
        if one["skipped"] and one["remedy"]
    ]
    for row in rows:
        said += _compared(row)
        judged = row["verdict"]
        said += ["", f"{row['name']}: {judged['word']}: {judged['why']}"]
        said += [f"  {judged['remedy']}"] if judged["remedy"] else []
        said += [f"  Note: {note}" for note in judged["notes"]]
    further = [*dict.fromkeys(remedies), *notes]
    return [*said, "", *further] if further else said


def _figures(result: Mapping[str, Any]) -> tuple[str, str]:
    return results.shown(result), "" if result["skipped"] else _good(result)


def _compared(row: Mapping[str, Any]) -> list[str]:
    """TCP without and with the settings of ``prepare``, a line for each link."""
    said = []
    tried = [one for one in row["results"] if one["settings"] and one["value"] is not None]
    for over in dict.fromkeys(one["over"][0] for one in tried):
        words = [f"{results.shown(one)} with the {one['settings']}" for one in tried if one["over"] == [over]]
        said.append(f"{row['name']}: TCP over {over} moved {'; '.join(words)}.")
    return ["", *said] if said else []


def _good(result: Mapping[str, Any]) -> str:
    figure = figures.GOOD[result["kind"]]
    return figure.one if len(result["over"]) == 1 or result["kind"] == RDMA_LATENCY else figure.both


def bad(rows: Sequence[Mapping[str, Any]]) -> str:
    """Why the run fails, in one sentence; empty when no verdict is bad."""
    poor = [row for row in rows if row["verdict"]["word"] not in verdict.GOOD]
    if not poor:
        return ""
    said = "; ".join(
        f"{row['name']}: {row['verdict']['word']}. {row['verdict']['why']} {row['verdict']['remedy']}" for row in poor
    )
    return f"{len(poor)} of {len(rows)} pairs are not as they should be. {said}".strip()
