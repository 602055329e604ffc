# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a change of the fabric is not kept."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup.words import unanswered

PEER = {"host": "spark2", "address": "192.0.2.12", "interface": "enp1s0f0np0"}
END = "Nothing is kept: a host that was changed puts back what was there within 60 s."


@pytest.mark.parametrize(
    ("small", "why"),
    [
        (True, "answers, but no frame of 9000 bytes passes: set fabric_mtu alike on both ends"),
        (False, "does not answer: check the cable, and address and prefix length on both ends"),
    ],
)
def test_mtu_and_address_are_told_apart(small: bool, why: str) -> None:
    said = unanswered([{**PEER, "small": small}], 9000, 60)
    assert said == f"spark2 (192.0.2.12) over enp1s0f0np0 {why}. {END}"
