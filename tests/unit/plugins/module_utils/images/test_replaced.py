# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images that lost their name."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.dgxspark.serving.plugins.module_utils.images import replaced


def test_each_is_remembered_once_and_the_newest_stay(tmp_path: Path) -> None:
    for number in range(replaced.KEEP + 2):
        replaced.remember(f"sha256:{number}", tmp_path)
    replaced.remember("sha256:5", tmp_path)
    known = replaced.replaced(tmp_path)
    assert (len(known), known[0], known[-2:]) == (replaced.KEEP, "sha256:2", ["sha256:51", "sha256:5"])


def test_none(tmp_path: Path) -> None:
    assert replaced.replaced(tmp_path) == []
    (tmp_path / replaced.NAME).write_text("{", encoding="utf-8")
    assert replaced.replaced(tmp_path) == []
