# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the words of Docker and of registries mean for another attempt."""

from __future__ import annotations

import pytest

from ansible_collections.dgxspark.serving.plugins.module_utils.images.pull_errors import judge, pauses, words

WAIT = "The registry limits how much may be pulled"
REACH = "Check that the host reaches the image's registry"
TOO_MANY = "toomanyrequests: You have reached your pull rate limit. You may increase the limit by authenticating"
DAEMON = "Error response from daemon: "
CLIENT = "Error pulling image acme/vllm:nope - 404 Client Error for http+docker://localhost/images/create: Not Found "
SERVER = "Error pulling image acme/vllm:1 - 500 Server Error for http+docker://localhost/images/create: "


@pytest.mark.parametrize(
    ("message", "again", "remedy"),
    [
        (SERVER + f'Internal Server Error ("{TOO_MANY}")', True, WAIT),
        (DAEMON + "error parsing HTTP 429 response body: Too Many Requests", True, WAIT),
        (SERVER + 'Get "https://registry.example/v2/": net/http: TLS handshake timeout', True, REACH),
        (DAEMON + "Get https://registry.example/v2/: dial tcp 203.0.113.1:443: i/o timeout", True, REACH),
        (
            DAEMON + "Get https://registry.example/v2/: dial tcp 203.0.113.1:443: connect: connection refused",
            True,
            REACH,
        ),
        (DAEMON + "Get https://registry.example/v2/: context deadline exceeded", True, REACH),
        (DAEMON + "dial tcp: lookup registry.example on 127.0.0.53:53: server misbehaving", True, REACH),
        (DAEMON + "received unexpected HTTP status: 503 Service Unavailable", True, REACH),
        ("unexpected EOF", True, REACH),
        (CLIENT + '("manifest for acme/vllm:nope not found: manifest unknown")', False, "Correct the name or the tag"),
        (DAEMON + "manifest for acme/vllm:nope not found: manifest unknown", False, "Correct the name or the tag"),
        (
            DAEMON + "pull access denied for acme/vllm, repository does not exist or may require 'docker login'",
            False,
            "Correct serving_image, or log in",
        ),
        (
            DAEMON + "no matching manifest for linux/arm64/v8 in the manifest list entries",
            False,
            "Set serving_image to a tag that has arm64",
        ),
        (DAEMON + "lookup registry.invalid: no such host", False, "Let the host reach the image's registry"),
        (DAEMON + "write /var/lib/docker/tmp/x: no space left on device", False, "Make room on the host"),
        # Docker itself does not run.
        ("Error connecting: ('Connection aborted.', ConnectionRefusedError(111, 'Connection refused'))", False, ""),
        ("words that nobody knows", False, "Correct serving_image, let the host reach the image's registry"),
        ("", False, ""),
    ],
)
def test_d10_what_may_help_is_tried_again(message: str, again: bool, remedy: str) -> None:
    found = judge(message)
    assert found.again is again
    assert found.remedy.startswith(remedy)


@pytest.mark.parametrize(("attempts", "expected"), [(4, [10, 20, 40]), (1, []), (0, [])])
def test_pauses_double(attempts: int, expected: list[float]) -> None:
    assert list(pauses(attempts, 10)) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (SERVER + f'Internal Server Error ("{TOO_MANY}.")', TOO_MANY),
        (SERVER + 'Internal Server Error ("Get "https://r.example/v2/": EOF")', 'Get "https://r.example/v2/": EOF'),
        (DAEMON + "manifest\n unknown.", DAEMON + "manifest unknown"),
        ("", "no reason given"),
    ],
)
def test_words_are_those_of_docker(message: str, expected: str) -> None:
    assert words(message) == expected
