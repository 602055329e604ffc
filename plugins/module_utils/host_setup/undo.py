# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done so that a host becomes as it was before the role host. Pure: it decides, the role's tasks act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import runtime, texts
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.state import (
    EARLYOOM,
    UNITS,
    Seen,
    Undo,
    holders,
)

LATER = "Run teardown with --tags host again when nothing of it runs."


def noted(notes: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The notes ``KIND:name`` by their name."""
    start = f"{kind}:"
    return {key.removeprefix(start): value for key, value in notes.items() if key.startswith(start)}


def undo(
    records: Sequence[str],
    notes: Mapping[str, Any],
    kept: Mapping[str, str | None],
    seen: Seen,
    strangers: Sequence[str] = (),
) -> Undo:
    """What to do.

    :param records: the parts of which there is a record
    :param notes: what the role noted when it changed the host
    :param kept: the former texts of files, by path; None for one that was not there
    :param strangers: packages that need those that we installed, and that are not ours
    """
    result = Undo(records=list(records))
    if "setup" not in records:
        return result
    using = holders(seen)
    if using:
        result.later.append(f"Files, units and packages stay as they are while these use the GPU: {using}. {LATER}")
        return result
    result.setup = True
    result.clock = "clock" in notes and seen.unit(texts.CLOCK_UNIT).there
    result.scores = {unit: score for unit, score in noted(notes, "score").items() if unit in seen.scores}
    result.user = next((user for user in noted(notes, "group") if "docker" in (seen.groups or ())), "")
    _packages(list(noted(notes, "package")), strangers, seen, result)
    _earlyoom(notes, seen, result)
    _runtime(notes, kept, seen, result)
    of_units = {texts.drop_in_path(unit) for unit in UNITS} | {texts.CLOCK_PATH}
    result.reload = any(path in of_units for path in kept)
    return result


def _packages(names: list[str], strangers: Sequence[str], seen: Seen, result: Undo) -> None:
    result.purge = [name for name in names if name == "earlyoom"]
    # Purging Docker would delete its images.
    others = [name for name in names if name != "earlyoom"]
    if not others:
        return
    if strangers or seen.running:
        by = ", ".join(strangers or [container.name for container in seen.running or ()])
        result.later.append(f"These packages stay, for they are in use by {by}: {', '.join(others)}.")
    else:
        result.remove = others


def _earlyoom(notes: Mapping[str, Any], seen: Seen, result: Undo) -> None:
    if "earlyoom" in notes and seen.unit(EARLYOOM).there and not result.purge:
        result.earlyoom = dict(notes["earlyoom"])


def _runtime(notes: Mapping[str, Any], kept: Mapping[str, str | None], seen: Seen, result: Undo) -> None:
    if "runtime" not in notes or runtime.DAEMON_JSON not in kept:
        return
    now = seen.files.get(runtime.DAEMON_JSON, "")
    before = kept[runtime.DAEMON_JSON]
    if now == (before or ""):
        return
    if not runtime.only_added(before or "", now):
        result.drop = [runtime.DAEMON_JSON]
        result.later.append(
            f"{runtime.DAEMON_JSON} was changed by others too, and stays. Take runtimes.nvidia out of it yourself."
        )
    elif seen.running:
        names = ", ".join(container.name for container in seen.running)
        result.later.append(f"Docker has the old settings after its next start; these run: {names}.")
    else:
        result.docker = "docker.io" not in result.remove
