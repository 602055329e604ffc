# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a child's output; the texts are those of ansible-core 2.19."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.suites import playbook_output

TEXT = """
PLAY [Serve] *******************************************************************

TASK [Plan the deployment] *****************************************************
ok: [spark1]

TASK [dgxspark.serving.replica : Replica | Make the rank's container] **********
changed: [spark1]
ok: [spark2]

RUNNING HANDLER [Restart it] ***************************************************
changed: [spark2] => (item=one)
changed: [spark2] => (item=two)

PLAY RECAP *********************************************************************
spark1                     : ok=28   changed=1    unreachable=0    failed=0    skipped=34   rescued=0    ignored=0
spark2                     : ok=26   changed=2    unreachable=0    failed=1    skipped=34   rescued=0    ignored=0
fe80::1                    : ok=0    changed=0    unreachable=1    failed=0    skipped=0    rescued=0    ignored=0

"""


def test_the_recap_says_what_changed_and_failed() -> None:
    found = playbook_output.recap(TEXT)
    assert found.changed == {"spark1": 1, "spark2": 2, "fe80::1": 0}
    assert found.failed == ("spark2", "fe80::1")


@pytest.mark.parametrize("text", ["", "ERROR! the playbook could not be found", TEXT.partition("PLAY RECAP")[0]])
def test_no_recap_is_not_an_unchanged_one(text: str) -> None:
    assert playbook_output.recap(text).changed == {}


def test_tasks_are_named() -> None:
    assert playbook_output.last_task("") == ""
    assert playbook_output.last_task(TEXT) == "Restart it"
    assert playbook_output.changed_tasks(TEXT) == [
        "spark1: dgxspark.serving.replica : Replica | Make the rank's container",
        "spark2: Restart it",
    ]


def test_the_tail_leaves_empty_lines_out() -> None:
    text = "\n\n".join(str(number) for number in range(100))
    assert playbook_output.tail(text).splitlines() == [str(number) for number in range(70, 100)]
