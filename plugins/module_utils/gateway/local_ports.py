# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports on loopback between HAProxy and a router that stands in the middle (LiteLLM, vllm-router)."""

from __future__ import annotations

ROUTER = 29491
# What vllm-router tells of itself; nobody asks.
ROUTER_METRICS = 29492
# HAProxy listens for the router: one port for each replica, counted over all deployments, and one for each deployment.
REPLICAS = 29510
DEPLOYMENTS = 29560
