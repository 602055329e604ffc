# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the GPU's clock keeps to its cap, from what nvidia-smi says. Pure."""

from __future__ import annotations

QUERY = ["--query-gpu=clocks.current.sm,utilization.gpu", "--format=csv,noheader,nounits"]
# Percent of use from which the clock is as high as it may be.
LOAD = 50
VERIFIED, UNVERIFIED, BROKEN = "verified", "unverified", "broken"


def judge(text: str, cap: int) -> tuple[str, str]:
    """The verdict and a sentence for it.

    :param text: nvidia-smi's answer to ``QUERY``
    :param cap: MHz
    """
    words = [word.strip() for word in (text.splitlines() or [""])[0].split(",")]
    if len(words) != 2 or not all(word.isdigit() for word in words):
        return UNVERIFIED, f"The cap of {cap} MHz is unverified: nvidia-smi does not say clock and load."
    megahertz, load = map(int, words)
    if load < LOAD:
        return UNVERIFIED, f"The cap of {cap} MHz is unverified: the GPU is used to {load} % only. See it under load."
    if megahertz > cap:
        return BROKEN, f"The cap of {cap} MHz does not hold: {megahertz} MHz at {load} % load."
    return VERIFIED, f"The cap of {cap} MHz holds: {megahertz} MHz at {load} % load."
