# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The results as Markdown: the table of the tools, the matrix of faults, and the figures that ours is held to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from benchmarks.client.cells import MATRIX_REQUESTS, Cell
from benchmarks.client.contenders import OURS
from benchmarks.client.dialect import FAULTS
from benchmarks.gateway.report import markdown

NAMES = ("ttft_ms", "decode_ms", "output_tps", "itl_p99_ms")
HEADER = (
    "tool",
    "N",
    "TTFT err %",
    "decode err %",
    "aggregate err %",
    "p99 ITL err %",
    "CPU s / 1,000 tok",
    "memory MB",
    "processes",
    "start -> 1st request s",
    "last token -> exit s",
    "wall s",
)
# What each fault ends as, by our names.
KINDS = {"err-in-200": "stream_error", "trunc": "truncated", "http500": "http_5xx", "short": "short_output"}
TTFT_LIMIT, ITL_LIMIT, CPU_LIMIT, MEMORY_LIMIT, START_LIMIT, DECODE_LIMIT = 3.0, 5.0, 0.03, 40.0, 0.3, 1.0
# CPU falls with the number of users, as the tokens of many come by one wake.
TTFT_USERS, ITL_USERS, CPU_USERS = 128, 256, 32
# Of the matrix, where the TTFT is 200 ms.
MATRIX_TTFT_LIMIT = 5.0

Cells = Mapping[tuple[str, int], Sequence[Cell]]


def middle(values: Iterable[float | None]) -> float | None:
    """The median of what there is."""
    found = [value for value in values if value is not None]
    return median(found) if found else None


def signed(value: float | None, digits: int = 1) -> str:
    """A percentage with its sign."""
    return "-" if value is None else f"{value:+.{digits}f}"


def plain(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def tools_table(cells: Cells) -> str:
    """A row for each tool and number of users: the median of the rounds."""
    rows = []
    for (tool, users), rounds in cells.items():
        usable = [cell for cell in rounds if not cell.why]
        if not usable:
            rows.append([tool, str(users), rounds[0].why.replace("|", "/")[:200], *[""] * (len(HEADER) - 3)])
            continue
        usages = [cell.usage for cell in usable if cell.usage]
        rows.append(
            [
                tool + ("" if _valid(usable) else " (marked invalid by itself)"),
                str(users),
                *(signed(middle(cell.wrong[name] for cell in usable)) for name in NAMES),
                plain(middle(cell.cpu_per_thousand for cell in usable), ".3f"),
                plain(middle(usage.memory_mb for usage in usages), ".0f"),
                plain(middle(usage.processes for usage in usages), ".0f"),
                plain(middle(cell.to_first for cell in usable), ".2f"),
                plain(middle(cell.after_last for cell in usable), ".1f"),
                plain(middle(usage.wall for usage in usages), ".1f"),
            ]
        )
    return markdown(HEADER, rows)


def _valid(cells: Sequence[Cell]) -> bool:
    return all(cell.figures.more.get("valid", True) for cell in cells)


def fault_cell(cell: Cell) -> str:
    """What a tool made of a fault."""
    if cell.why:
        return cell.why.replace("|", "/")[:80]
    ttft, decode, output = (signed(cell.wrong[name]) for name in NAMES[:3])
    ok = "?" if cell.figures.ok is None else cell.figures.ok
    return f"ok {ok}/{MATRIX_REQUESTS}, ttft {ttft}, tpot {decode}, tok/s {output}"


def matrix_table(matrix: Mapping[str, Mapping[str, Cell]]) -> str:
    """A row for each fault, a column for each tool; the right number of successes first."""
    names = list(dict.fromkeys(name for row in matrix.values() for name in row))
    rows = [
        [fault, FAULTS[fault], f"{next(iter(row.values())).truth.ok}/{MATRIX_REQUESTS}"]
        + [fault_cell(row[name]) if name in row else "" for name in names]
        for fault, row in matrix.items()
    ]
    return markdown(["fault", "what it is", "really", *names], rows)


def fault_verdict(fault: str, cell: Cell) -> str:
    """What is wrong with our answer to a fault; nothing when it is right."""
    if cell.why:
        return cell.why
    wrong = []
    if cell.figures.ok != cell.truth.ok:
        wrong.append(f"{cell.figures.ok} successes, really {cell.truth.ok}")
    kinds = dict(cell.figures.more.get("kinds", {}))
    failed = MATRIX_REQUESTS - cell.truth.ok
    expected = {KINDS[fault]: failed} if failed and fault in KINDS else {}
    if kinds != expected:
        wrong.append(f"kinds {kinds}, wanted {expected}")
    ttft, decode = cell.wrong["ttft_ms"], cell.wrong["decode_ms"]
    if cell.truth.ttft_ms is not None and (ttft is None or abs(ttft) > MATRIX_TTFT_LIMIT):
        wrong.append(f"TTFT {signed(ttft)} %")
    # Without usage there is no number of tokens, and then no figure is the right one.
    if fault == "nousage":
        if decode is not None and abs(decode) > DECODE_LIMIT:
            wrong.append(f"TPOT {signed(decode)} %")
    elif cell.truth.decode_ms is not None and (decode is None or abs(decode) > DECODE_LIMIT):
        wrong.append(f"TPOT {signed(decode)} %")
    return "; ".join(wrong)


def verdict_table(cells: Cells, matrix: Mapping[str, Mapping[str, Cell]]) -> str:
    """The figures that our client is held to. A point that it marks invalid is not reported, so it cannot be wrong."""
    ours = {users: [cell for cell in rounds if not cell.why] for (tool, users), rounds in cells.items() if tool == OURS}
    rows: list[list[str]] = []

    def add(figure: str, limit: float, value: float | None, unit: str, of: str = "") -> None:
        verdict = "not measured" if value is None else "holds" if value <= limit else "**missed**"
        rows.append([figure, f"<= {limit:g} {unit}", plain(value, ".3g") + f" {unit}{of}", verdict])

    def add_worst(figure: str, limit: float, name: str, most: int) -> None:
        found = {
            users: middle(cell.wrong[name] for cell in rounds)
            for users, rounds in ours.items()
            if users <= most and rounds and _valid(rounds)
        }
        sizes = {users: abs(value) for users, value in found.items() if value is not None}
        of = f" (N = {', '.join(map(str, sizes))})" if sizes else ""
        add(f"{figure}, N <= {most}", limit, max(sizes.values(), default=None), "%", of)

    add_worst("TTFT error", TTFT_LIMIT, "ttft_ms", TTFT_USERS)
    add_worst("p99 ITL error", ITL_LIMIT, "itl_p99_ms", ITL_USERS)
    cells_of_ours = [cell for rounds in ours.values() for cell in rounds]
    add(f"CPU of measuring per 1,000 tokens, N >= {CPU_USERS}", CPU_LIMIT, _measuring(cells_of_ours), "s")
    memory = [cell.usage.memory_mb for cell in cells_of_ours if cell.usage and cell.users <= ITL_USERS]
    add(f"memory, N <= {ITL_USERS}", MEMORY_LIMIT, max(memory, default=None), "MB")
    add("start of the process to the first request", START_LIMIT, middle(c.to_first for c in cells_of_ours), "s")
    invalid = sorted(users for users, rounds in ours.items() if rounds and not _valid(rounds))
    rows.append(["points marked invalid by the client itself", "", ", ".join(f"N={n}" for n in invalid) or "none", ""])
    for fault, row in matrix.items():
        if OURS in row:
            wrong = fault_verdict(fault, row[OURS])
            rows.append([f"fault {fault}", "right", wrong or "right", "**missed**" if wrong else "holds"])
    return markdown(["figure", "wanted", "found", "verdict"], rows)


def _measuring(cells: Sequence[Cell]) -> float | None:
    """The highest CPU of `play` alone, by number of users the median: the start costs the same however long it runs."""
    by_users: dict[int, list[float]] = {}
    for cell in cells:
        cpu = (cell.figures.more.get("client") or {}).get("cpu_s")
        if cell.users >= CPU_USERS and cpu is not None and cell.truth.tokens:
            by_users.setdefault(cell.users, []).append(1000 * cpu / cell.truth.tokens)
    return max((median(values) for values in by_users.values()), default=None)
