# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel's account of a thread's waits for a processor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.client.run_queue import RunQueue, waited_ns


@pytest.mark.parametrize(
    ("text", "waited"),
    [
        pytest.param(b"28788825 811017 34\n", 811017, id="account"),
        pytest.param(b"28788825 0 34\n", 0, id="never-waited"),
        pytest.param(b"28788825 811017 34 7\n", 811017, id="more-fields"),
        pytest.param(b"0 0 0\n", None, id="no-account-is-kept"),
        pytest.param(b"28788825 811017\n", None, id="fields-are-missing"),
        pytest.param(b"28788825 -1 34\n", None, id="no-number"),
        pytest.param(b"", None, id="empty"),
    ],
)
def test_accounts(text: bytes, waited: int | None) -> None:
    assert waited_ns(text) == waited


def test_each_wait_is_told_once(tmp_path: Path) -> None:
    account = tmp_path / "schedstat"
    account.write_text("1000 5000000 3\n", encoding="ascii")
    queue = RunQueue(str(account))
    assert queue.known
    assert queue.waited() == 0.0
    account.write_text("1000 7500000 4\n", encoding="ascii")
    assert queue.waited() == 0.0025
    assert queue.waited() == 0.0
    queue.close()


@pytest.mark.parametrize("text", [None, "", "0 0 0\n", "nonsense\n"])
def test_where_the_kernel_keeps_none_nothing_is_known_and_no_file_stays_open(tmp_path: Path, text: str | None) -> None:
    account = tmp_path / "schedstat"
    if text is not None:
        account.write_text(text, encoding="ascii")
    before = sorted(os.listdir("/proc/self/fd"))
    queue = RunQueue(str(account))
    assert not queue.known
    assert queue.waited() == 0.0
    queue.close()
    assert sorted(os.listdir("/proc/self/fd")) == before
