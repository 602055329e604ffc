# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The findings of a preflight over all hosts: what fails, what is shown, and what is written. Pure."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import FAIL, PASS, SKIP, WARN, Check
from ansible_collections.dgxspark.serving.plugins.module_utils.checks.ids import IDS
from ansible_collections.dgxspark.serving.plugins.module_utils.report.table import table

IGNORED = "ignored"
HEADER = ("host", "check", "status", "found", "wanted")
#: The host of a finding that is about all of them.
ALL = "all"
WIDTH = 60


@dataclass(frozen=True)
class Finding:
    """The answer to one check on one host."""

    host: str
    check: Check
    status: str


def findings(
    checks: Iterable[tuple[str, Check]], hosts: Sequence[str], ignore: Collection[str], strict: bool
) -> list[Finding]:
    """Bring the answers in order, with what the user says of them.

    :param checks: host and answer; the host is empty for what is about all of them
    :param ignore: ids of checks that count as said and known
    :param strict: whether a warning fails
    """
    order = {host: number for number, host in enumerate(hosts)}
    found = []
    for host, check in checks:
        status = check.status
        if status in (WARN, FAIL):
            status = IGNORED if check.id in ignore else FAIL if strict else status
        found.append(Finding(host or ALL, check, status))
    return sorted(found, key=lambda one: (order.get(one.host, len(order)), IDS.index(one.check.id)))


def failed_hosts(found: Iterable[Finding], hosts: Sequence[str]) -> list[str]:
    """Hosts that failed; all of them where something fails that is about all."""
    failed = {one.host for one in found if one.status == FAIL}
    return [host for host in hosts if host in failed or ALL in failed]


def refusals(found: Sequence[Finding], hosts: Sequence[str], replicas: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Why hosts may not go on, by host: those that failed, and those that share a replica with one (field fault A10).

    :param hosts: all hosts of the play
    """
    failed = failed_hosts(found, hosts)
    words = {}
    for host in failed:
        own = [one for one in found if one.status == FAIL and one.host in (host, ALL)]
        lines = "\n".join(f"  {number}. {sentence(one.check)}" for number, one in enumerate(own, 1))
        words[host] = f"{host}: the preflight failed, so nothing was changed here.\n{lines}"
    for replica in replicas:
        lame = [host for host in replica["hosts"] if host in failed]
        for host in replica["hosts"]:
            if lame and host not in failed:
                others = ", ".join(lame)
                words[host] = (
                    f"{host}: replica {replica['name']} is left as it is, for the preflight failed on {others}."
                )
    return words


def sentence(check: Check) -> str:
    """A finding in words."""
    wanted = f", wanted {check.wanted}" if check.wanted else ""
    return f"{check.id}: {check.found}{wanted}. {_stopped(check.remedy)}".rstrip()


def _stopped(text: str) -> str:
    """A sentence with its full stop."""
    return f"{text.rstrip('.')}." if text else ""


def counts(found: Iterable[Finding]) -> dict[str, int]:
    """How many have each status."""
    seen = Counter(one.status for one in found)
    return {
        "failed": seen[FAIL],
        "warned": seen[WARN],
        "passed": seen[PASS],
        "skipped": seen[SKIP],
        "ignored": seen[IGNORED],
    }


def lines(found: Sequence[Finding], everything: bool) -> list[str]:
    """What the user sees: a table of what is not well, what to do about it, and the sum.

    :param everything: show what passed or was skipped, too
    """
    shown = [one for one in found if everything or one.status in (WARN, FAIL)]
    text = []
    if shown:
        text += [*_table(shown), ""]
    text += _remedies([one for one in shown if one.status in (WARN, FAIL, IGNORED)])
    return [*text, _sum(found)]


def _table(shown: Sequence[Finding]) -> list[str]:
    rows = []
    for one in shown:
        # A long answer is cut over lines, for a terminal would break the whole row.
        found, wanted = textwrap.wrap(one.check.found, WIDTH) or [""], textwrap.wrap(one.check.wanted, WIDTH) or [""]
        for number in range(max(len(found), len(wanted))):
            first = (one.host, one.check.id, one.status.upper() if one.status == FAIL else one.status)
            cells = [part[number] if number < len(part) else "" for part in (found, wanted)]
            rows.append((*(first if number == 0 else ("", "", "")), *cells))
    return table(HEADER, rows)


def _remedies(shown: Sequence[Finding]) -> list[str]:
    """What to do, once for all hosts that need the same."""
    hosts: dict[tuple[str, str, str], list[str]] = {}
    for one in shown:
        hosts.setdefault((one.check.id, one.check.remedy, one.check.detail), []).append(one.host)
    if not hosts:
        return []
    text = ["What to do:"]
    for (name, remedy, detail), where in hosts.items():
        text.append(f"  {name} ({', '.join(where)}): {' '.join(filter(None, map(_stopped, (remedy, detail))))}")
    return [*text, ""]


def _sum(found: Sequence[Finding]) -> str:
    number = len({one.host for one in found} - {ALL})
    seen = counts(found)
    words = [
        f"{seen[word]} {word}" for word in ("failed", "warned", "ignored", "passed") if seen[word] or word == "passed"
    ]
    more = f", {seen['skipped']} do not apply here or need root" if seen["skipped"] else ""
    where = " docs/troubleshooting.md explains each." if seen["failed"] or seen["warned"] else ""
    return f"Preflight of {number} host{'' if number == 1 else 's'}: checks {', '.join(words)}{more}.{where}"


def document(found: Sequence[Finding], hosts: Sequence[str]) -> dict[str, Any]:
    """All answers as plain data: ``hosts`` and ``all`` hold lists of checks, then come the sums."""
    entries: dict[str, list[dict[str, str]]] = {host: [] for host in (*hosts, ALL)}
    for one in found:
        check = one.check
        entries[one.host].append(
            {
                "id": check.id,
                "status": one.status,
                "found": check.found,
                "wanted": check.wanted,
                "detail": check.detail,
                "remedy": check.remedy,
            }
        )
    return {"hosts": {host: entries[host] for host in hosts}, ALL: entries[ALL], **counts(found)}
