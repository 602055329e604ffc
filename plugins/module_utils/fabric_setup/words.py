# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the fabric's role says when peers do not answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def unanswered(silent: Sequence[Mapping[str, Any]], mtu: int, revert_after: int) -> str:
    """Why a change is not kept, from the peers that do not answer.

    :param silent: each with ``host``, ``address``, ``interface`` and ``small``, whether a small packet passes
    :param mtu: in bytes
    :param revert_after: seconds
    """
    words = []
    for peer in silent:
        who = f"{peer['host']} ({peer['address']}) over {peer['interface']}"
        if peer["small"]:
            words.append(f"{who} answers, but no frame of {mtu} bytes passes: set fabric_mtu alike on both ends")
        else:
            words.append(f"{who} does not answer: check the cable, and address and prefix length on both ends")
    end = f"Nothing is kept: a host that was changed puts back what was there within {revert_after} s."
    return f"{'; '.join(words)}. {end}"
