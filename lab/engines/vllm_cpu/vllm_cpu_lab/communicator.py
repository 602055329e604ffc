# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How ranks of the lab's CPU platform talk to each other."""

from __future__ import annotations

from vllm.distributed.device_communicators.cpu_communicator import CpuCommunicator


class CrossHostCpuCommunicator(CpuCommunicator):
    """The stock communicator without its shortcut through shared memory.

    Under Ray the ranks of two hosts derive one name for the shared memory segment; the stock check takes that for one
    host and the start fails on a segment that is not there. Gloo over the fabric is right in every case.
    """

    def _all_group_ranks_share_shm_group_name(self) -> bool:
        return False
