# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages and virtual environments."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import programs

POLICY = """\
haproxy:
  Installed: 3.0.11-1+deb13u5
  Candidate: 3.0.11-1+deb13u6
  Version table:
 *** 3.0.11-1+deb13u5 500
nginx:
  Installed: (none)
  Candidate: 1.26.3-3
"""


def test_versions() -> None:
    found = programs.versions(POLICY, ["haproxy", "nginx", "unknown"])
    assert found == {
        "haproxy": {"installed": "3.0.11-1+deb13u5", "candidate": "3.0.11-1+deb13u6"},
        "nginx": {"installed": "", "candidate": "1.26.3-3"},
        "unknown": {"installed": "", "candidate": ""},
    }
    assert programs.missing(found) == ["nginx", "unknown"]
    (problem,) = programs.problems(found)
    assert (problem.id, problem.found) == ("package", "no package unknown, and apt knows none to install")


@pytest.mark.parametrize(
    ("requirement", "folders", "ready"),
    [
        ("litellm[proxy]==1.108.7", ["litellm-1.108.7.dist-info"], True),
        ("litellm[proxy]==1.108.7", ["litellm-1.108.8.dist-info"], False),
        ("litellm[proxy]==1.108.7", ["litellm_enterprise-1.108.7.dist-info"], False),
        ("vllm-router==0.1.17", ["vllm_router-0.1.17.dist-info"], True),
        ("vllm-router", ["vllm_router-9.dist-info"], True),
        ("vllm-router==0.1.17", [], False),
    ],
)
def test_a_virtual_environment(requirement: str, folders: list[str], ready: bool) -> None:
    assert programs.is_ready(requirement, folders) == ready
