# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The providers of the gateway by name."""

from __future__ import annotations

from types import ModuleType

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import haproxy, litellm, nginx, vllm_router

#: Name -> module with `render(description, host) -> Rendered`.
PROVIDERS: dict[str, ModuleType] = {
    "haproxy": haproxy,
    "nginx": nginx,
    "litellm": litellm,
    "vllm-router": vllm_router,
}
