# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gateways of every provider that claims what a test is about, before mock engines on loopback.

A test says by `@pytest.mark.feature("queue", ...)` what a provider must be able to do; it runs once for each such one.
`gateway` is the usual one (two replicas, client keys, an engine key), shared by the tests of a provider and mended
between them; `serve(...)` starts one for one test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.conftest import install_collection_loader

install_collection_loader()

from tests.gateway.clients import Client  # noqa: E402
from tests.gateway.engines import MockEngine, wait_until  # noqa: E402
from tests.gateway.providers import start  # noqa: E402
from tests.gateway.serving import ENGINE_KEY, KEYS, Gateway, Serve, able, description  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "feature(*names): what a provider must be able to do for this test")
    config.addinivalue_line("markers", "only(*providers): the test is about these")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test for every provider that claims what it is about."""
    if "provider" in metafunc.fixturenames:
        wanted = [name for mark in metafunc.definition.iter_markers("feature") for name in mark.args]
        only = [name for mark in metafunc.definition.iter_markers("only") for name in mark.args]
        # LiteLLM takes 15 s to start: what starts one of its own is in test_litellm.py. vllm-router takes some, too;
        # what its front does is HAProxy's: it starts anew for field faults alone.
        rare = {"litellm"} | ({"vllm-router"} if not metafunc.definition.name.startswith("test_g") else set())
        some = [name for name in able(wanted) if name not in rare or "serve" not in metafunc.fixturenames]
        metafunc.parametrize("provider", only or some, scope="session")


@pytest.fixture
def serve(provider: str, tmp_path: Path) -> Iterator[Serve]:
    """Return what starts a gateway for one test: `serve(replicas=2, **changes of the description)`; `before` gets
    each engine when it runs and the gateway does not."""
    made: list[Gateway] = []

    def one(
        replicas: int = 2,
        *,
        engine_key: str = ENGINE_KEY,
        certificate: str = "",
        before: Callable[[MockEngine], None] | None = None,
        **changes: Any,
    ) -> Gateway:
        engines = [MockEngine(f"chat-{number}", engine_key) for number in range(replicas)]
        for engine in engines if before else []:
            before(engine)
        described = description(provider, engines, engine_key=bool(engine_key), **changes)
        folder = tmp_path / f"gateway{len(made)}"
        started = start(described, folder, keys=KEYS, engine_key=engine_key, certificate=certificate)
        made.append(Gateway(started, engines, Client(started.url, KEYS["laptop"])))
        if before:
            # A router takes seconds to start; a replica that is not ready gets nothing meanwhile either.
            wait_until(lambda: made[-1].client.chat().status == 200, "one replica answers", 30.0)
        else:
            made[-1].wait_rotation({engine.name for engine in engines})
        return made[-1]

    yield one
    for gateway in made:
        gateway.started.stop()
        for engine in gateway.engines:
            engine.close()


@pytest.fixture(scope="session")
def usual(provider: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Return the usual gateway of a provider."""
    engines = [MockEngine(f"chat-{number}", ENGINE_KEY) for number in range(2)]
    folder = tmp_path_factory.mktemp(provider)
    started = start(description(provider, engines), folder, keys=KEYS, engine_key=ENGINE_KEY)
    yield Gateway(started, engines, Client(started.url, KEYS["laptop"]))
    started.stop()
    for engine in engines:
        engine.close()


@pytest.fixture
def gateway(usual: Gateway) -> Gateway:
    """Return the usual gateway with all engines in rotation."""
    usual.mend()
    return usual
