# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys by which hosts may copy from each other, and do nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.fabric_setup import copy_keys

PEER: dict[str, Any] = {
    "host": "spark2",
    "addresses": ["192.0.2.12", "198.51.100.12"],
    "public_key": "ssh-ed25519 AAAApeer dgxspark-serving-fabric@spark2",
    "host_keys": ["ssh-rsa AAAArsa root@spark2", "ssh-ed25519 AAAAhost root@spark2"],
}
OTHERS = "# mine\nssh-ed25519 AAAAme me@home\n"


def test_a_peer_may_read_one_folder_from_its_fabric_addresses() -> None:
    assert copy_keys.authorized(PEER, "/usr/bin/rrsync", "/srv/models") == (
        'restrict,from="192.0.2.12,198.51.100.12",command="/usr/bin/rrsync -ro -no-lock \'/srv/models\'"'
        " ssh-ed25519 AAAApeer dgxspark-serving-fabric@spark2"
    )


@pytest.mark.parametrize(
    "folder", ["models", "/", '/srv/my"models', "/srv/it's", "/srv/a\nb", "/srv/$HOME", "/srv/`x`"]
)
def test_a_folder_that_could_open_more_is_refused(folder: str) -> None:
    with pytest.raises(copy_keys.NotSafe, match="wanted is the absolute path of one folder below /"):
        copy_keys.authorized(PEER, "/usr/bin/rrsync", folder)


def test_host_keys_stand_for_all_fabric_addresses() -> None:
    assert copy_keys.known_hosts([PEER]) == (
        "192.0.2.12,198.51.100.12 ssh-ed25519 AAAAhost\n192.0.2.12,198.51.100.12 ssh-rsa AAAArsa\n"
    )


@pytest.mark.parametrize("text", ["", OTHERS, OTHERS.rstrip("\n"), OTHERS + "# dgxspark-serving-fabric@x\n"])
def test_lines_of_others_stay_byte_for_byte(text: str) -> None:
    line = copy_keys.authorized(PEER, "/usr/bin/rrsync", "/srv/models")
    written = copy_keys.with_ours(text, [line])
    assert written.endswith(f"{line}\n")
    assert copy_keys.with_ours(written, [line]) == written
    assert copy_keys.without_ours(written).removesuffix("" if text.endswith("\n") or not text else "\n") == text


def test_a_peer_that_is_gone_loses_its_line() -> None:
    line = copy_keys.authorized(PEER, "/usr/bin/rrsync", "/srv/models")
    assert copy_keys.with_ours(copy_keys.with_ours(OTHERS, [line]), []) == OTHERS
