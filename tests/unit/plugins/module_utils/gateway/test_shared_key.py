# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The key of gateway and engines."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.gateway.shared_key import Choice, choose

HOSTS = ("spark1", "spark2", "spark3")


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        ({"spark1": "", "spark2": "", "spark3": ""}, Choice("fresh", HOSTS)),
        ({"spark1": "", "spark2": "old", "spark3": "old"}, Choice("old", ("spark1",))),
        ({"spark1": "a", "spark2": "b", "spark3": "a"}, Choice("a", ("spark2",))),
        ({"spark1": "a", "spark2": "a", "spark3": "a"}, Choice("a", ())),
        ({"spark2": "old"}, Choice("old", ())),
    ],
)
def test_one_key_for_all(keys: dict[str, str], wanted: Choice) -> None:
    assert choose(HOSTS, keys, "fresh") == wanted


def test_no_second_key_while_a_host_that_may_have_the_first_is_away() -> None:
    choice = choose(HOSTS, {"spark2": ""}, "fresh")
    assert choice.key == ""
    assert choice.problem == (
        "found no key on spark2, and spark1, spark3, which may have it, are not here. "
        "Run once without --limit and with all of these hosts up."
    )
