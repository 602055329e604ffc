# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CPU platform of the lab."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import torch
from vllm.platforms.cpu import CpuPlatform

if TYPE_CHECKING:
    from vllm.config import VllmConfig

# On virtual machines with AMX a worker died of SIGILL when a second engine used the tiles at the same time. oneDNN is
# told by ONEDNN_MAX_CPU_ISA in the image, and vLLM asks this.
torch.cpu._is_amx_tile_supported = lambda: False


class LabCpuPlatform(CpuPlatform):
    """The stock CPU platform, with a device that Ray knows and with forked engine processes."""

    #: Ray schedules workers by this resource; the lab's hosts announce one GPU each, as a Spark does.
    ray_device_key = "GPU"

    @classmethod
    def check_and_update_config(cls, vllm_config: VllmConfig) -> None:
        """Apply the stock settings, then let engine and workers fork from what is already imported.

        The stock platform asks for `spawn`, with which each of the two imports torch and vLLM anew. No OpenMP thread
        runs before the fork here (the image sets OMP_NUM_THREADS=1).
        """
        super().check_and_update_config(vllm_config)
        os.environ["VLLM_WORKER_MULTIPROC_METHOD"] = "fork"

    @classmethod
    def get_device_communicator_cls(cls) -> str:
        """Name the communicator class."""
        return "vllm_cpu_lab.communicator.CrossHostCpuCommunicator"
