# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks on what a rank brings to a host: its name and ports, its image, its model. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import Check, failed, passed, skipped
from ansible_collections.dgxspark.serving.plugins.module_utils.host_problems import Problem
from ansible_collections.dgxspark.serving.plugins.module_utils.sizes import size

NOTHING_PLANNED = "nothing is planned for this host"


def from_problems(name: str, problems: Sequence[Problem] | None, good: str) -> list[Check]:
    """One failed check for each problem; one that passed when there is none.

    :param problems: None where nothing could be looked at
    :param good: what is found then
    """
    if problems is None:
        return [skipped(name, NOTHING_PLANNED)]
    found = [failed(name, problem.found, problem.wanted, problem.remedy) for problem in problems]
    return found or [passed(name, good)]


def image(wanted: str, found: Mapping[str, Any] | None, architecture: str) -> list[Check]:
    """Whether the image is there, and fits (field fault D01).

    :param wanted: its name; empty when nothing is planned, or Docker does not answer
    :param found: it as the host has it; None when it does not
    :param architecture: the architecture that it must have, in Docker's words
    """
    names = ("image.present", "image.architecture")
    if not wanted:
        return [skipped(name, NOTHING_PLANNED) for name in names]
    if found is None:
        return [skipped(names[0], f"{wanted} is not on this host yet"), skipped(names[1], f"{wanted} is not there yet")]
    there = passed(names[0], f"{wanted} is there")
    if found["architecture"] == architecture:
        return [there, passed(names[1], found["architecture"])]
    return [
        there,
        failed(
            names[1],
            f"image {wanted} is for {found['architecture']}",
            architecture,
            f"Set serving_image to an image for {architecture}, and remove this one with: docker image rm {wanted}",
        ),
    ]


def model(found: Mapping[str, Any] | None) -> list[Check]:
    """Whether the model is complete.

    :param found: what ``model_info`` says; None when nothing is planned
    """
    name = "model.complete"
    if not found:
        return [skipped(name, NOTHING_PLANNED)]
    place = found["path"] or found["root"]
    if not found["problems"]:
        notes = list(found["notes"])
        if found["leftovers"].get("bytes"):
            notes.append(f"{size(found['leftovers']['bytes'])} that no model needs: model_prune=true removes them")
        return [passed(name, place, "; ".join(notes))]
    return [
        failed(
            name,
            f"model {found['model']} in {place} is not complete: {'; '.join(found['problems'])}",
            "a config, a tokenizer and all weight files",
            "Copy or download the model again, or set serving_model or model_cache_dir.",
        )
    ]
