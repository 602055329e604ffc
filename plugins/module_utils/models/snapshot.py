# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which snapshot of a model is meant: never silently one of several."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# A part of a commit that is long enough to mean it.
_COMMIT_PART = re.compile(r"[0-9a-f]{7,40}")
# So many snapshots are named in one problem.
_MOST_NAMES = 5


@dataclass(frozen=True)
class Choice:
    """The snapshot that was chosen.

    :ivar name: its folder's name; empty when there is none
    :ivar problem: why there is none
    :ivar note: what the user should know about the choice
    """

    name: str = ""
    problem: str = ""
    note: str = ""


def choose(revision: str, refs: Mapping[str, str], snapshots: Sequence[str], defaults: Sequence[str]) -> Choice:
    """Choose the snapshot.

    :param revision: branch, tag or commit that the user names, or nothing
    :param refs: what each file below ``refs`` holds, by its path there
    :param snapshots: names of the folders below ``snapshots``
    :param defaults: branches that count when nothing is named, the first one that exists
    """
    if revision:
        return _named(revision, refs, snapshots)
    branch = next((name for name in defaults if name in refs or name in snapshots), "")
    if branch:
        return _of_branch(branch, refs.get(branch, branch), snapshots)
    if len(snapshots) == 1:
        return Choice(
            snapshots[0], note=f"nothing says which snapshot is {defaults[0]}, so the only one is taken: {snapshots[0]}"
        )
    if snapshots:
        return Choice(
            problem=f"nothing says which of {len(snapshots)} snapshots is {defaults[0]}"
            f" (set serving_model_revision to one of {_names(snapshots)})"
        )
    return Choice(problem="no snapshot")


def _named(revision: str, refs: Mapping[str, str], snapshots: Sequence[str]) -> Choice:
    if revision in refs:
        return _of_branch(revision, refs[revision], snapshots)
    if revision in snapshots:
        return Choice(revision)
    hits = [name for name in snapshots if _COMMIT_PART.fullmatch(revision) and name.startswith(revision)]
    if len(hits) == 1:
        return Choice(hits[0])
    if hits:
        return Choice(problem=f"revision {revision} may be any of {_names(hits)} (set serving_model_revision to one)")
    there = f"there is {_names(snapshots)}" if snapshots else "there is no snapshot"
    return Choice(problem=f"no revision {revision}: {there}")


def _of_branch(branch: str, commit: str, snapshots: Sequence[str]) -> Choice:
    if commit in snapshots:
        return Choice(commit)
    there = f"there is {_names(snapshots)}" if snapshots else "there is none"
    return Choice(problem=f"refs/{branch} names snapshot {commit or '(nothing)'}, which is not there: {there}")


def _names(snapshots: Sequence[str]) -> str:
    rest = len(snapshots) - _MOST_NAMES
    return ", ".join(sorted(snapshots)[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
