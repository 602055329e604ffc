# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that say what gateway there is to be: a part of the table in ``variables.py``.

One gateway serves all deployments, so what counts is what the first host of the group sees, and ``-e``.
"""

from __future__ import annotations

from ansible_collections.dgxspark.serving.plugins.module_utils.variable import Variable

HAPROXY, NGINX, LITELLM, VLLM_ROUTER = "haproxy", "nginx", "litellm", "vllm-router"
PINNED, BY_ID, OFF = "pinned", "by_id", "off"
SELF_SIGNED, GIVEN = "self-signed", "given"
# Requests that a replica takes at once where its engine's flags do not say.
CONCURRENCY = 64


def _option(name: str, kind: str, description: str, **more: object) -> Variable:
    return Variable(name, kind, description, scope="all", **more)  # type: ignore[arg-type]


OPTIONS = (
    _option(
        "gateway_enabled",
        "bool",
        "Whether all replicas get one address. Default: when there is more than one replica.",
    ),
    _option(
        "gateway_provider",
        "str",
        "The program that is the gateway; docs/gateway.md says what each can do.",
        default=HAPROXY,
        choices=(HAPROXY, NGINX, LITELLM, VLLM_ROUTER),
    ),
    _option(
        "gateway_hosts",
        "list",
        "Hosts of the group that run a gateway, each the same one. Default: the host of rank 0 of the first replica.",
        default=[],
    ),
    _option(
        "gateway_listen_address",
        "address",
        "Address that the gateway listens on.",
        default="0.0.0.0",
    ),
    _option("gateway_port", "int", "Port of the gateway.", default=8080, minimum=1, maximum=65535),
    _option(
        "gateway_tls",
        "str",
        "Whether the gateway talks TLS, with a certificate that it makes itself or with `gateway_tls_certificate`.",
        default=OFF,
        choices=(OFF, SELF_SIGNED, GIVEN),
    ),
    _option(
        "gateway_tls_certificate",
        "str",
        "With `gateway_tls: given`, the file on the controller with the certificate and what leads to its root.",
        default="",
    ),
    _option(
        "gateway_tls_key",
        "str",
        "With `gateway_tls: given`, the file on the controller with its private key, without a passphrase.",
        default="",
    ),
    _option(
        "gateway_concurrency",
        "int",
        "Requests that a replica is given at once; more wait in the gateway. Default: the `max-num-seqs` of its"
        f" `serving_engine_args`, else {CONCURRENCY}.",
        minimum=1,
        maximum=4096,
    ),
    _option(
        "gateway_queue",
        "int",
        "Requests of a deployment that may wait in the gateway; one more is answered 429.",
        default=128,
        minimum=0,
        maximum=4096,
    ),
    _option(
        "gateway_queue_timeout",
        "int",
        "Seconds that a request waits in the gateway before it is answered 503.",
        default=60,
        minimum=1,
        maximum=3600,
    ),
    _option(
        "gateway_timeout",
        "int",
        "Seconds of silence, of client or engine, after which the gateway ends a request: a long prompt is silent.",
        default=600,
        minimum=10,
        maximum=86400,
    ),
    _option(
        "gateway_body_limit",
        "int",
        "MiB that a request may have; images and long contexts are large.",
        default=64,
        minimum=1,
        maximum=1024,
    ),
    _option(
        "gateway_responses",
        "str",
        "How `/v1/responses` finds the engine that holds its state: `pinned` to one replica of the deployment, with no"
        " fail-over; `by_id`, by `previous_response_id`, where the provider can; `off` closes the path.",
        default=PINNED,
        choices=(PINNED, BY_ID, OFF),
    ),
    _option(
        "gateway_paths",
        "list",
        "Further paths of the engines that clients may use, such as `/v1/audio/transcriptions`; one that ends in `*`"
        " is the beginning of several.",
        default=[],
    ),
    _option(
        "gateway_metrics_address",
        "address",
        "Address at which Prometheus reads the gateway's metrics, `/metrics`, with no key asked.",
        default="127.0.0.1",
    ),
    _option("gateway_metrics_port", "int", "Port of these metrics.", default=8405, minimum=1, maximum=65535),
    _option(
        "gateway_engine_key",
        "bool",
        "Whether engines are given a key that only the gateway knows: a second lock behind the address they listen on.",
        default=True,
    ),
    _option(
        "gateway_vllm_router_policy",
        "str",
        "With `gateway_provider: vllm-router`, how it chooses: the less busy of two replicas, or the one that has"
        " seen the prompt's beginning (`cache_aware`), which can put all requests on one replica.",
        default="power_of_two",
        choices=("power_of_two", "cache_aware"),
    ),
    _option(
        "gateway_litellm_settings",
        "dict",
        "With `gateway_provider: litellm`, further `litellm_settings` of its configuration.",
        default={},
    ),
    _option(
        "gateway_litellm_env_file",
        "str",
        "With `gateway_provider: litellm`, a file on the controller with `DATABASE_URL` and `LITELLM_MASTER_KEY`, so"
        " that LiteLLM itself checks keys, with budgets. `gateway_keys` must be empty then.",
        default="",
    ),
)
