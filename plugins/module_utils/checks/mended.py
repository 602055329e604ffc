# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deployment mends by itself, and so is no reason to refuse a host: a model that another host has. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.checks.check import FAIL, Check, skipped
from ansible_collections.dgxspark.serving.plugins.module_utils.models import spread

MODEL = ("model.complete", "across.model")
# Images that differ between hosts, or do not fit.
IMAGE = ("across.image", "image.architecture")


def models(
    ranks: Mapping[str, Mapping[str, Any]], found: Mapping[str, Mapping[str, Any]], download: bool, truth: str
) -> dict[str, str]:
    """For each host that gets its model in the deployment, from where, in words.

    :param ranks: the plan's ranks by host
    :param found: what ``model_info`` said on each host that could be looked at
    :param download: whether what no host has is downloaded
    :param truth: the host whose files count as right; may be empty
    """
    views = [
        spread.view(host, ranks[host]["model_revision"], said, {})
        for host, said in found.items()
        if host in ranks and said
    ]
    decided = spread.decide(views, download, truth)
    loaders = {one.key: one.host for one in views if decided.steps.get(one.host) == spread.DOWNLOAD}
    words = {host: f"the deployment copies it from {source}" for host, source in decided.sources.items()}
    for one in views:
        if one.key in loaders:
            words[one.host] = f"the deployment downloads it on {loaders[one.key]}"
    # What cannot be written where it is cannot be mended there.
    return {host: text for host, text in words.items() if found[host]["writable"] is not False}


def without_mended(
    checks: Iterable[tuple[str, Check]], mended: Mapping[str, str], images: bool
) -> list[tuple[str, Check]]:
    """The findings, with those about what a deployment brings as not yet to be said.

    :param mended: what :func:`models` said
    :param images: whether the run gives all hosts another image
    """
    found = []
    for host, check in checks:
        if check.status == FAIL and check.id in MODEL and host in mended:
            check = skipped(check.id, f"{check.found}; {mended[host]}")
        elif check.status == FAIL and check.id in IMAGE and images:
            check = skipped(check.id, f"{check.found}; the deployment brings one image to all hosts")
        found.append((host, check))
    return found
