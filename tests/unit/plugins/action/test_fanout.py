# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How work in the background is followed, and what the hosts of a copy are told."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from ansible_collections.dgxspark.serving.plugins.action import fanout
from ansible_collections.dgxspark.serving.plugins.plugin_utils import followed

OFFERS = {
    "s1": {"key": "m", "what": "model m", "source": True, "root": "/hub"},
    "s2": {"key": "m", "what": "model m", "source": False, "root": "/other", "distrust": ["w"]},
    "s3": {"key": "n", "what": "model n", "source": True, "root": "/hub"},
}
WAYS = {"s1": {"listen": ["192.0.2.1"], "peers": ["192.0.2.2"], "upstreams": []}}
VARIABLES = {"s1": {"made": {"manifest": {"entries": ["m"]}}}, "s3": {"made": {"manifest": {"entries": ["n"]}}}}
JOB = {"state": "running", "done": 10**9, "total": 2 * 10**9, "text": "", "seconds": 10.0}


class Run:
    """The plugin on one host, with answers that are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, host: str, answers: list[dict[str, Any]], **more: Any) -> None:
        self.calls: list[dict[str, Any]] = []
        self.shown: list[str] = []
        arguments = {"offers": OFFERS, "manifest_variable": "made", "token": "secret", **more}
        task = MagicMock(args=arguments, check_mode=False, async_val=0)
        plugin = fanout.ActionModule(task, MagicMock(), MagicMock(), MagicMock(), MagicMock(), MagicMock())

        def execute(module_name: str, module_args: dict[str, Any], task_vars: Any) -> dict[str, Any]:
            assert module_name == "dgxspark.serving.fanout"
            self.calls.append(module_args)
            return answers[len(self.calls) - 1]

        monkeypatch.setattr(plugin, "_execute_module", execute)
        monkeypatch.setattr(followed.Display, "display", lambda display, text: self.shown.append(text))
        self.result = plugin.run(task_vars={"inventory_hostname": host, "hostvars": VARIABLES})


def test_it_asks_until_the_end_and_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    done = {**JOB, "state": "done"}
    run = Run(monkeypatch, "s2", [{"job": JOB}, {"job": {**JOB, "seconds": 20.0}}, {"job": done, "changed": True}])
    assert [call.get("job_stage") for call in run.calls] == [None, "poll", "poll"]
    assert len({call["job_id"] for call in run.calls}) == 1
    assert run.shown == [
        "s2: copying model m: 1.0 GB of 2.0 GB, 0.10 GB/s, 10 s",
        "s2: copying model m: 1.0 GB of 2.0 GB, 20 s",
    ]
    assert run.result["changed"] is True


def test_it_is_only_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, "s2", [{"job": JOB}], follow=False, job_wait=0)
    assert len(run.calls) == 1
    assert "follow" not in run.calls[0]
    other = Run(monkeypatch, "s2", [{}], job_stage="stop")
    assert run.calls[0]["job_id"] == other.calls[0]["job_id"]


@pytest.mark.parametrize(
    ("host", "stage", "root", "distrust", "entries"),
    [("s1", "serve", "/hub", [], ["m"]), ("s2", "copy", "/other", ["w"], ["m"]), ("s3", "serve", "/hub", [], ["n"])],
)
def test_what_each_host_is_told(
    monkeypatch: pytest.MonkeyPatch, host: str, stage: str, root: str, distrust: list[str], entries: list[str]
) -> None:
    told = Run(monkeypatch, host, [{}], ways=WAYS).calls[0]
    assert (told["stage"], told["root"], told["distrust"], told["manifest"]) == (
        stage,
        root,
        distrust,
        {"entries": entries},
    )
    assert told.get("listen") == (["192.0.2.1"] if host == "s1" else None)
    assert not {"offers", "ways", "manifest_variable"} & set(told)


def test_a_failure_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(monkeypatch, "s2", [{"job": JOB}, {"failed": True, "msg": "no", "job": {**JOB, "state": "failed"}}])
    assert (run.result["failed"], run.result["msg"], len(run.calls)) == (True, "no", 2)
