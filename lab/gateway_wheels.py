# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wheels of the gateways that are Python programs, for the hosts, which have no index to install from."""

from __future__ import annotations

from pathlib import Path

from lab.hub.wheels import wheels

# The versions of the role `gateway`.
LITELLM = "litellm[proxy]==1.108.7"
VLLM_ROUTER = "vllm-router==0.1.17"


def gateway_wheels() -> Path:
    """Return the folder of wheels for both, about 200 MB, downloaded if needed; raises LabError when pip cannot.

    They are this machine's own: only a host's system Python says that it is aarch64, one of a virtual environment does
    not.
    """
    return wheels((LITELLM, VLLM_ROUTER))
