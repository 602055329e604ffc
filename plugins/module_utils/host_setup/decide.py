# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done so that a host becomes as wanted. Pure: it decides, the role's tasks act.

Installing a package, enabling a unit and a new drop-in all make systemd read its units again, and that takes the GPU
from the containers that run (field fault D08). So while one has the GPU such work waits, and the user is told.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup import runtime, texts
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.packages import Offer
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.state import (
    CONTAINERD,
    DOCKER,
    EARLYOOM,
    NOTHING,
    SSH,
    UNITS,
    Due,
    Missing,
    Seen,
    Wanted,
    holders,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.host_setup.units import Unit

# sshd gives itself -1000, and to every login the score that it was started with: one set for the service would spare
# every program of every user.
SCORES = {DOCKER: -900, CONTAINERD: -900}
TOOLKIT = "nvidia-container-toolkit"
SNAP = "/snap/"
LATER = "Run the playbook stop, and then prepare again."


def missing(wanted: Wanted, seen: Seen) -> Missing:
    """The packages that the wanted parts need and that are not there."""
    needed, optional = [], []
    if wanted.earlyoom and "earlyoom" not in seen.programs:
        needed.append("earlyoom")
    if wanted.docker:
        if "docker" not in seen.programs:
            needed.append("docker.io")
            optional.append("docker-cli")
        if _lacks_runtime(seen) and "nvidia-ctk" not in seen.programs:
            needed.append(TOOLKIT)
    return Missing(tuple(needed), tuple(optional))


def decide(wanted: Wanted, seen: Seen, offer: Offer = NOTHING, fresh: bool = True) -> Due:
    """What to do.

    :param offer: what apt says of the packages that are missing
    :param fresh: whether apt's lists can be believed when they lack a package
    """
    due = Due()
    using = holders(seen)
    _packages(missing(wanted, seen), offer, fresh, using, due)
    _limits(wanted, seen, due)
    _drop_ins(wanted, seen, due)
    _earlyoom(wanted, seen, using, due)
    _runtime(wanted, seen, due)
    _clock(wanted, seen, using, due)
    _scores(wanted, seen, due)
    _group(wanted, seen, due)
    _reload(seen, using, due)
    return due


def _packages(lacking: Missing, offer: Offer, fresh: bool, using: str, due: Due) -> None:
    names = [name for name in lacking.needed if name not in offer.unknown]
    unknown = [name for name in lacking.needed if name in offer.unknown]
    due.refresh = bool(unknown) and not fresh
    if unknown and fresh:
        due.later.append(
            f"{_list(unknown)}: apt does not know it. Add the repository that has it, or switch that part off."
        )
    if not names:
        return
    if offer.reason:
        due.later.append(f"{_list(names)} cannot be installed, for apt says: {offer.reason}")
    elif using:
        due.later.append(f"{_list(names)}: not installed while these use the GPU: {using}. {LATER}")
    else:
        due.packages = names + [name for name in lacking.optional if name not in offer.unknown]
        due.notes.update({f"package:{name}": True for name in offer.new})


def _limits(wanted: Wanted, seen: Seen, due: Due) -> None:
    if not wanted.memlock:
        return
    if not seen.capable:
        # PAM refuses every login whose limits it cannot set.
        due.impossible.append("memlock: root may not raise limits here, and a login with a raised one would fail.")
    else:
        _file(seen, due, texts.LIMITS_PATH, texts.LIMITS)


def _drop_ins(wanted: Wanted, seen: Seen, due: Due) -> None:
    for name in (SSH, DOCKER, CONTAINERD):
        coming = name != SSH and "docker.io" in due.packages
        if not seen.unit(name).there and not coming:
            continue
        before = texts.read_drop_in(seen.files.get(texts.drop_in_path(name), ""))
        settings = _settings(name, wanted, seen.unit(name), before)
        if settings:
            _file(seen, due, texts.drop_in_path(name), texts.drop_in(settings))


def _settings(name: str, wanted: Wanted, unit: Unit, before: dict[str, str]) -> dict[str, str]:
    """The settings of a service that we have to give: where its own are no better, and those that we gave before."""
    rows: list[tuple[str, str, bool, Callable[[], bool]]] = [
        ("OOMPolicy", "continue", wanted.oom and name == SSH, lambda: unit.oom_policy != "continue"),
        ("LimitMEMLOCK", "infinity", wanted.memlock and name != SSH, lambda: unit.memlock < math.inf),
    ]
    if name in SCORES:
        score = SCORES[name]
        rows.insert(0, ("OOMScoreAdjust", str(score), wanted.oom, lambda: unit.oom_score > score))
    return {key: value for key, value, on, worse in rows if key in before or (on and (not unit.there or worse()))}


def _earlyoom(wanted: Wanted, seen: Seen, using: str, due: Due) -> None:
    unit, coming = seen.unit(EARLYOOM), "earlyoom" in due.packages
    if not wanted.earlyoom or not (coming or "earlyoom" in seen.programs):
        return
    if not coming and not unit.there:
        reason = "is masked" if unit.masked else "has no service"
        due.later.append(f"earlyoom {reason} on this host, and was left alone. Mend that, or set host_earlyoom: false.")
        return
    command = (seen.programs.get("earlyoom", wanted.earlyoom[0]), *wanted.earlyoom[1:])
    _file(seen, due, texts.drop_in_path(EARLYOOM), texts.command_drop_in(command))
    if coming:
        return  # its package starts it
    if unit.active and unit.enabled == "enabled" and seen.earlyoom == command:
        return
    if using:
        due.later.append(f"earlyoom keeps its settings while these use the GPU: {using}. {LATER}")
        return
    due.earlyoom = True
    due.notes["earlyoom"] = {"enabled": unit.enabled == "enabled", "active": unit.active}


def _lacks_runtime(seen: Seen) -> bool:
    """Whether Docker, there or yet to come, does not know how to give the GPU to a container."""
    if not seen.nvidia or seen.programs.get("docker", "").startswith(SNAP):
        return False
    if "docker" not in seen.programs:
        return True
    return seen.runtimes is not None and "nvidia" not in seen.runtimes


def _runtime(wanted: Wanted, seen: Seen, due: Due) -> None:
    if not wanted.docker:
        return
    if seen.programs.get("docker", "").startswith(SNAP):
        due.later.append(
            "Docker is a snap, which NVIDIA's runtime does not work with. Remove it (snap remove docker), and run"
            " prepare again."
        )
        return
    if not _lacks_runtime(seen) or not ("nvidia-ctk" in seen.programs or TOOLKIT in due.packages):
        return
    if not runtime.named(seen.files.get(runtime.DAEMON_JSON, "")):
        due.configure = True
        due.keep.append(runtime.DAEMON_JSON)
        due.notes["runtime"] = True
    if seen.running:
        names = ", ".join(container.name for container in seen.running)
        due.later.append(
            f"Docker does not know the NVIDIA runtime before it starts anew, and these containers run: {names}."
            " Stop them, and then: systemctl restart docker."
        )
    else:
        due.docker = True


def _clock(wanted: Wanted, seen: Seen, using: str, due: Due) -> None:
    if not wanted.clock:
        return
    program = seen.programs.get("nvidia-smi")
    if not program:
        due.later.append("The GPU's clock: there is no nvidia-smi. Install the driver, and run prepare again.")
        return
    _file(seen, due, texts.CLOCK_PATH, texts.clock_unit(program, wanted.clock))
    unit = seen.unit(texts.CLOCK_UNIT)
    if texts.CLOCK_PATH not in due.files and unit.active and unit.enabled == "enabled" and not unit.stale:
        return
    due.notes["clock"] = True
    if using:
        due.later.append(f"The GPU's clock is not capped while these use the GPU: {using}. {LATER}")
    else:
        due.clock = True


def _scores(wanted: Wanted, seen: Seen, due: Due) -> None:
    if not wanted.oom:
        return
    due.scores = {unit: score for unit, score in SCORES.items() if seen.scores.get(unit, score) > score}
    if due.scores and not seen.capable:
        due.impossible.append(f"OOM scores of {_list(due.scores)}: root may not lower them here.")
        due.scores = {}
    due.notes.update({f"score:{unit}": seen.scores[unit] for unit in due.scores})


def _group(wanted: Wanted, seen: Seen, due: Due) -> None:
    coming = "docker" in seen.all_groups or "docker.io" in due.packages
    # Root needs no group.
    if not wanted.user or wanted.user == "root" or not coming:
        return
    if seen.groups is None:
        due.later.append(f"The group docker: there is no user {wanted.user}. Correct host_docker_user.")
    elif "docker" not in seen.groups:
        due.user = wanted.user
        due.notes[f"group:{wanted.user}"] = True


def _reload(seen: Seen, using: str, due: Due) -> None:
    units = (*UNITS, texts.CLOCK_UNIT)
    of_units = {texts.drop_in_path(unit) for unit in units} | {texts.CLOCK_PATH}
    if not any(seen.unit(unit).stale for unit in units) and not of_units & set(due.files):
        return
    if using:
        due.later.append(f"systemd takes up new settings of services only when nothing uses the GPU: {using}. {LATER}")
    else:
        due.reload = True


def _file(seen: Seen, due: Due, path: str, text: str) -> None:
    if seen.files.get(path) != text:
        due.files[path] = text


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
