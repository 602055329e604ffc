# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that a reader of a run's figures must know beside them, errors first. Pure, and null-safe: what is not there is
not found.

Each finding is ``{"code", "severity", "text"}``; the text names host or target, found, wanted and remedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge import (
    findings_fabric,
    findings_hosts,
    findings_rounds,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.finding import Finding, in_order
from ansible_collections.dgxspark.serving.plugins.module_utils.bench.judge.watched import (
    at,
    entries,
    groups,
    keyed,
    samples_of,
    text,
    windows,
)


def findings_of(order: Mapping[str, Any], rounds: Sequence[Any], snapshots: Mapping[str, Any] | None) -> list[Finding]:
    """Findings of a run.

    :param rounds: ROUNDs, with or without their requests
    :param snapshots: by host, as a sampler returns them or as a result keeps them; None when nobody looked
    """
    rounds = list(rounds) if isinstance(rounds, Sequence) else []
    watched = keyed(snapshots)
    seen = {host: samples_of(one) for host, one in watched.items()}
    found = findings_rounds.of_rounds(order, rounds)
    for group in groups(order, rounds, seen):
        found += findings_fabric.of_group(group, seen)
    # An experiment on deployments replaces containers itself.
    redeployed = len({text(target, "deployment") for target in entries(order, "targets")} - {""}) > 1
    for host, samples in seen.items():
        times = windows(rounds, _targets_of(order, host))
        if samples:
            found += findings_hosts.of_host(host, samples, times, redeployed)
        said = [one for one in entries(watched[host], "errors") if isinstance(one, str)]
        found += findings_hosts.of_sampler(host, said, at(watched[host], "cost"))
    if snapshots is not None:
        found += [findings_hosts.of_unseen(host) for host in _hosts(order) if not seen.get(host)]
    return in_order(found)


def _hosts(order: Any) -> list[str]:
    """Hosts behind targets, each once."""
    named = [host for target in entries(order, "targets") for host in entries(target, "hosts")]
    return list(dict.fromkeys(host for host in named if isinstance(host, str)))


def _targets_of(order: Any, host: str) -> list[str] | None:
    """Targets that a host is behind; None, which is all, for one that is behind none, such as the client's."""
    named = [text(target, "name") for target in entries(order, "targets") if host in entries(target, "hosts")]
    return named or None
