# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks as containers, and what else is on a host."""

from __future__ import annotations

from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import containers


def inspected(
    name: str, labels: dict[str, str] | None = None, status: str = "running", code: int = 0
) -> dict[str, Any]:
    """What ``docker container inspect`` says, as far as it is read."""
    return {
        "Name": f"/{name}",
        "State": {"Status": status, "ExitCode": code, "OOMKilled": False},
        "Config": {"Labels": labels},
    }


OURS = {
    "dgxspark.serving.deployment": "chat",
    "dgxspark.serving.replica": "chat-0",
    "dgxspark.serving.api": "http://127.0.0.1:8000",
}


def test_read() -> None:
    stranger, ours = containers.read([inspected("web"), inspected("dgxspark-chat-0-r0", OURS, "exited", 137)])[::-1]
    assert not stranger.is_ours
    assert ours.is_ours
    assert (ours.name, ours.status, ours.exit_code) == ("dgxspark-chat-0-r0", "exited", 137)
    assert (ours.deployment, ours.replica, ours.api) == ("chat", "chat-0", "http://127.0.0.1:8000")
    assert (ours.rank, ours.generation, ours.restarts) == (0, "", 0)


def test_read_all_that_a_change_needs() -> None:
    more = {"rank": "1", "generation": "g", "spec_digest": "d"}
    labels = {**OURS, **{f"dgxspark.serving.{name}": value for name, value in more.items()}}
    entry = inspected("dgxspark-chat-0-r1", labels)
    entry |= {"Id": "abc", "Image": "sha256:1111", "RestartCount": 4}
    entry["Config"]["Image"] = "acme/vllm:1"
    entry["State"]["StartedAt"] = "2026-11-29T12:00:00.5Z"
    [found] = containers.read([entry])
    assert (found.id, found.rank, found.generation, found.spec_digest) == ("abc", 1, "g", "d")
    assert (found.image, found.image_id, found.restarts) == ("acme/vllm:1", "sha256:1111", 4)
    assert found.started_at == "2026-11-29T12:00:00.5Z"


def test_a_stranger_of_the_wanted_name_d06() -> None:
    found = containers.read([inspected("taken", status="created"), inspected("mine", OURS)])
    assert containers.strange(found, "taken") == "created"
    assert containers.strange(found, "mine") == ""
    assert containers.strange(found, "free") == ""


def test_ranks_of_a_group_share_their_generation_and_only_rank_0_has_the_api() -> None:
    first, second = containers.with_labels([{"name": "a"}, {"name": "b"}], "chat", "chat-0", "http://127.0.0.1:8000")
    assert first["labels"]["dgxspark.serving.generation"] == second["labels"]["dgxspark.serving.generation"]
    assert first["labels"]["dgxspark.serving.spec_digest"] != second["labels"]["dgxspark.serving.spec_digest"]
    assert (first["labels"]["dgxspark.serving.rank"], second["labels"]["dgxspark.serving.rank"]) == ("0", "1")
    assert "dgxspark.serving.api" in first["labels"]
    assert "dgxspark.serving.api" not in second["labels"]


def test_a_change_of_one_rank_is_a_new_generation_for_all() -> None:
    def generation(second: str) -> str:
        return containers.with_labels([{"name": "a"}, {"name": second}], "c", "c-0", "")[0]["labels"][
            "dgxspark.serving.generation"
        ]

    assert generation("b") != generation("c")


def test_a_model_from_elsewhere_is_a_change() -> None:
    entry = inspected("dgxspark-chat-0-r0", OURS)
    entry["Mounts"] = [{"Type": "bind", "Source": "/srv/old", "Destination": "/models/hub"}]
    [found] = containers.read([entry])
    assert containers.changes(found, "", "", "") == []
    assert containers.changes(found, "", "", "", ("/srv/old", "/models/hub")) == []
    assert containers.changes(found, "", "", "", ("/srv/new", "/models/hub")) == [
        "its model comes from /srv/old, wanted /srv/new"
    ]
