# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was laid for a run, and is removed with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.run import laid
from ansible_collections.dgxspark.serving.tests.unit.plugins.module_utils.bench.run.run_rounds import order

RUN = order()["run"]["id"]
KEY, CA = f"/run/dgxspark-benchmark-{RUN}.key", f"/run/dgxspark-benchmark-{RUN}.ca.pem"


def of(**more: Any) -> dict[str, Any]:
    return order(targets=[{**order()["targets"][0], **more}])


def test_what_was_laid_for_the_run_is_named() -> None:
    both = of(key_file=KEY, ca_file=CA)
    assert laid.laid_keys(both) == [KEY]
    assert laid.laid_files(both) == [KEY, CA]
    assert laid.laid_keys(of(engines=[{"url": "http://s1:8000", "key_file": KEY}])) == [KEY]


def test_files_of_others_are_never_named() -> None:
    for path in ("/etc/dgxspark-serving/engine.key", "/home/ann/api.key", KEY.replace(RUN, "another"), ""):
        assert laid.laid_files(of(key_file=path, ca_file=path)) == []


def test_they_are_removed_if_they_can_be(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret", encoding="ascii")
    laid.remove([str(tmp_path / "gone"), str(tmp_path), str(tmp_path / "key")])
    assert list(tmp_path.iterdir()) == []
