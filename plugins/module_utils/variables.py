# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables that say what to serve: their names, types, bounds and defaults, and the check of what a user wrote.

This table is the one source: the plan reads it, ``docs/variables.md`` is written from it, and a name that
is not in it is reported as misspelt. The variables of the roles are in their ``meta/argument_specs.yml``.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.faults import Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.gateway import options as gateway_options
from ansible_collections.dgxspark.serving.plugins.module_utils.variable import Variable

ENGINES = ("vllm", "sglang")
BACKENDS = ("mp", "ray")
TRANSPORTS = ("auto", "roce", "socket")

# Names that belong to this collection alone: any unknown one is a mistake.
OWN_PREFIXES = ("serving_", "fabric_", "fanout_", "replica_", "preflight_", "gateway_", "benchmark_")
# Names that other collections may use too: only one that looks like ours is a mistake.
SHARED_PREFIXES = ("image_", "model_", "host_")
# How alike two names must be to call one a misspelling of the other (0 to 1, as in difflib).
LIKENESS = 0.8

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")


VARIABLES = (
    Variable(
        "serving_group",
        "str",
        "Inventory group of the hosts. Only with `-e`: a play chooses its hosts before it reads their variables.",
        default="sparks",
        scope="all",
    ),
    Variable(
        "serving_deployments",
        "list",
        "Named sets of replicas. Without it, one deployment holds every host of the group. Each entry has a `name`,"
        " optionally `replicas` (a list of host lists), and any variable of a deployment, without its prefix.",
        scope="all",
    ),
    Variable(
        "serving_model",
        "str",
        "What to serve: a Hugging Face id (`ORG/NAME`) that lies in the cache of each host, or the absolute path of a"
        " model folder on each host.",
        short="model",
    ),
    Variable(
        "serving_model_hub",
        "str",
        "The hub that an id of `serving_model` is of, and whose cache on the hosts is looked through.",
        default="huggingface",
        choices=("huggingface", "modelscope"),
        short="model_hub",
    ),
    Variable(
        "serving_model_revision",
        "str",
        "Branch, tag or commit of the model. Default: what `refs/main` of the cache names, or the only snapshot there"
        " is.",
        default="",
        short="model_revision",
    ),
    Variable(
        "serving_recipe",
        "str",
        "Name of a recipe of this collection, or the path of a recipe file on the controller. What it says stands"
        " behind every other variable. See docs/recipes.md.",
        short="recipe",
    ),
    Variable(
        "serving_recipe_allow",
        "list",
        "What of a recipe you consent to, by name: `trust_remote_code`, `mods`, or a hook. See docs/recipes.md.",
        default=[],
    ),
    Variable(
        "serving_served_model_name",
        "str",
        "The name under which clients ask for the model. Default: the id, or the last part of the path.",
        short="served_model_name",
    ),
    Variable(
        "serving_image",
        "str",
        "Container image of the engine, for arm64. Default: `nvcr.io/nvidia/vllm:26.05-py3` for vllm,"
        " `lmsysorg/sglang:latest-cu130` for sglang.",
        short="image",
    ),
    Variable("serving_engine", "str", "The engine.", default="vllm", choices=ENGINES, short="engine"),
    Variable(
        "serving_backend",
        "str",
        "How the ranks of a replica of several hosts find each other. Without effect where a replica has one host.",
        default="mp",
        choices=BACKENDS,
        short="backend",
    ),
    Variable(
        "serving_tensor_parallel_size",
        "int",
        "Hosts that share each layer of the model. A Spark has one GPU. Default: what the playbook serves, 1 for"
        " `deploy`.",
        minimum=1,
        maximum=64,
        short="tensor_parallel_size",
    ),
    Variable(
        "serving_pipeline_parallel_size",
        "int",
        "Groups of hosts that hold successive layers of the model.",
        default=1,
        minimum=1,
        maximum=64,
        short="pipeline_parallel_size",
    ),
    Variable(
        "serving_transport",
        "str",
        "How the ranks of a replica of several hosts talk: `roce` is RDMA over the fabric, `socket` is TCP over it,"
        " `auto` is `roce` where every link in use has an `rdma_device`.",
        default="auto",
        choices=TRANSPORTS,
        short="transport",
    ),
    Variable(
        "serving_master_port",
        "int",
        "Port at which rank 0 gathers the ranks, on its fabric address.",
        default=29501,
        minimum=1024,
        maximum=65535,
    ),
    Variable(
        "serving_ray_port",
        "int",
        "Port of the Ray head on rank 0's host, with `serving_backend: ray`. Ray listens there on every network, with"
        " no key asked: close it in the host's firewall but for the fabric.",
        default=6379,
        minimum=1024,
        maximum=65535,
    ),
    Variable(
        "serving_group_port",
        "int",
        "UDP port by which the supervisors of a replica's ranks hear each other, on the fabric addresses.",
        default=29400,
        minimum=1024,
        maximum=65535,
    ),
    Variable(
        "serving_distributed_timeout",
        "int",
        "Seconds after which the engine itself gives up on a rank that is silent. The supervisor notices within"
        " seconds; ranks that load at very different speed need more.",
        default=300,
        minimum=10,
        maximum=86400,
    ),
    Variable(
        "serving_port",
        "int",
        "Port of the engine's API.",
        default=8000,
        minimum=1,
        maximum=65535,
        short="port",
    ),
    Variable(
        "serving_listen_address",
        "address",
        "Address that the engine's API listens on. Default: with a gateway, the fabric address of the host, or loopback"
        " where the gateway is on the same host alone; without one, or without a fabric, `0.0.0.0`, which is every"
        " network of the host.",
    ),
    Variable(
        "serving_health_port",
        "int",
        "Port at which the supervisor of rank 0 tells gateways whether the replica takes requests, on the address that"
        " the engine listens on. It is open only with a gateway.",
        default=29480,
        minimum=1024,
        maximum=65535,
    ),
    Variable(
        "serving_gpu_memory_utilization",
        "float",
        "Share of the unified memory that the engine plans with. It is no hard cap; above 0.85 hosts have lost sshd.",
        default=0.70,
        minimum=0.05,
        maximum=0.95,
    ),
    Variable(
        "serving_engine_args",
        "dict",
        "Further flags of the engine, without the dashes: `max-model-len: 32768`. `true` gives the bare flag, `false`"
        " its `--no-` form, a list several values, a mapping JSON, and an empty value leaves the flag out.",
        default={},
    ),
    Variable(
        "serving_env",
        "dict",
        "Further environment variables of the engine. Not for secrets: `docker inspect` shows them.",
        default={},
    ),
    Variable(
        "serving_address",
        "str",
        "Name or address at which clients reach this host. Default: `ansible_host`, else the inventory name.",
        scope="host",
    ),
    Variable(
        "fabric_links",
        "list",
        "The QSFP interfaces of this host, the control link first: `interface`, `address` with its prefix length,"
        " `rdma_device`. Not needed while every replica has one host.",
        default=[],
        scope="host",
    ),
    Variable(
        "fabric_gid_index",
        "int",
        "RoCE GID index that NCCL uses on this host. Leave it unset unless you must: it differs between hosts and"
        " changes.",
        minimum=0,
        maximum=255,
        scope="host",
    ),
    Variable(
        "serving_explain",
        "bool",
        "Show the plan as the commands that a person would type, and stop. The tag `explain` does the same.",
        default=False,
        scope="all",
    ),
    *gateway_options.OPTIONS,
)

BY_NAME = {variable.name: variable for variable in VARIABLES}
BY_KEY = {variable.key: variable for variable in VARIABLES if variable.scope == "deployment"}
BY_SHORT = {variable.short: variable for variable in VARIABLES if variable.short}
LINK_KEYS = ("interface", "address", "rdma_device")


class Unreadable:
    """Stands for a value that could not be templated; carries the reason, one line."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def show(value: Any) -> str:
    """How a value is named in a fault.

    >>> show("spark9"), show(70000), show(None)
    ("'spark9'", '70000', 'nothing')
    """
    if value is None or value == "":
        return "nothing"
    if isinstance(value, Unreadable):
        return f"a template that fails ({value.reason})"
    return f"'{value}'" if isinstance(value, str) else str(value)


def named_list(names: Iterable[str]) -> str:
    """Names for a sentence, in their order: ``'a', 'b' or 'c'``."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) < 2:
        return "".join(quoted) or "none"
    return ", ".join(quoted[:-1]) + " or " + quoted[-1]


def is_name(text: Any) -> bool:
    """Whether a deployment may be called so: it becomes part of container names."""
    return isinstance(text, str) and len(text) <= 40 and _NAME.fullmatch(text) is not None


def _whole_number(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise ValueError
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise ValueError
    return str(value)


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError
    return {str(key): entry for key, entry in value.items()}


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    # `-e` gives text (field fault A05).
    word = str(value).lower()
    if word not in ("true", "yes", "on", "1", "false", "no", "off", "0"):
        raise ValueError
    return word in ("true", "yes", "on", "1")


def _sequence(value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise ValueError
    return list(value)


# kind: (converter, how the kind is called). `-e port=8001` arrives as text, so numbers are read from text too.
_KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "int": (_whole_number, "a whole number"),
    "float": (_number, "a number"),
    "str": (_text, "text"),
    "address": (lambda value: str(ipaddress.ip_address(_text(value))), "an IPv4 or IPv6 address"),
    "bool": (_boolean, "true or false"),
    "dict": (_mapping, "a mapping"),
    "list": (_sequence, "a list"),
}


def _wanted(variable: Variable) -> str:
    kind = _KINDS[variable.kind][1]
    if variable.choices:
        return named_list(variable.choices)
    if variable.minimum is not None and variable.maximum is not None:
        return f"{kind} from {variable.minimum:g} to {variable.maximum:g}"
    return kind


def read(variable: Variable, value: Any, place: str, host: str = "") -> tuple[Any, Fault | None]:
    """Bring one value to its type and hold it against its bounds.

    :param value: as the user wrote it; nothing (or empty text) gives the default
    :param place: how a fault names where the value stands
    :returns: the value, and the fault if there is one (the value is then the default)
    """
    if value is None or value == "":
        return variable.default, None
    wanted = _wanted(variable)
    fault = Fault(place, show(value), wanted, f"Set {place} to {wanted}", host)
    if isinstance(value, Unreadable):
        return variable.default, fault
    try:
        converted = _KINDS[variable.kind][0](value)
    except (TypeError, ValueError):
        return variable.default, fault
    if variable.choices:
        converted = converted.lower()
        if converted not in variable.choices:
            return variable.default, fault
    # Said this way round, for "not a number" is within no bounds.
    if variable.minimum is not None and not converted >= variable.minimum:
        return variable.default, fault
    if variable.maximum is not None and not converted <= variable.maximum:
        return variable.default, fault
    return converted, None


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=LIKENESS)
    return close[0] if close else ""


def misspelt(names: Iterable[str], role_variables: Iterable[str], host: str = "") -> list[Fault]:
    """The variables of one host that look like ours and are not.

    :param names: all variable names of the host
    :param role_variables: the public variables of the roles, from their argument specs
    """
    known = set(BY_NAME) | set(role_variables)
    faults = []
    # Of the many variables of a host only those with a prefix of ours are compared: comparing all of them costs time.
    for name in sorted(name for name in names if name.startswith(OWN_PREFIXES + SHARED_PREFIXES) and name not in known):
        near = _nearest(name, known)
        if near or name.startswith(OWN_PREFIXES):
            remedy = f"Rename it to {near}" if near else "Remove it, or look its name up in docs/variables.md"
            faults.append(Fault(name, "an unknown variable", near or "a variable of this collection", remedy, host))
    return faults


def misspelt_key(place: str, key: str, known: Iterable[str]) -> Fault:
    """The fault of a key that a mapping of ours does not have."""
    near = _nearest(key, known)
    remedy = f"Rename it to {near}" if near else f"Remove {key}"
    return Fault(f"{place}.{key}", "an unknown key", near or named_list(known), remedy)


def misspelt_short(names: Iterable[str]) -> list[Fault]:
    """The names given with ``-e`` that look like a short name and are not one."""
    faults = []
    for name in sorted(set(names) - set(BY_SHORT)):
        near = _nearest(name, BY_SHORT)
        if near:
            faults.append(Fault(f"-e {name}", "an unknown name", near, f"Write -e {near}=VALUE"))
    return faults


def read_links(value: Any, host: str) -> tuple[list[dict[str, str]], list[Fault]]:
    """Check ``fabric_links`` of one host.

    :returns: the links, each with ``interface``, ``address`` (CIDR) and ``rdma_device`` (may be empty), and the faults
    """
    links, fault = read(BY_NAME["fabric_links"], value, "fabric_links", host)
    if fault:
        return [], [fault]
    faults = []
    good = []
    for number, link in enumerate(links):
        place = f"fabric_links[{number}]"
        if not isinstance(link, Mapping) or not link.get("interface") or not link.get("address"):
            faults.append(
                Fault(
                    place,
                    show(link),
                    "a mapping with interface and address",
                    f"Write {place} as interface: enp1s0f0np0 and address: 192.0.2.11/24",
                    host,
                )
            )
            continue
        for key in sorted(set(link) - set(LINK_KEYS)):
            wanted = named_list(LINK_KEYS)
            faults.append(Fault(f"{place}.{key}", "an unknown key", wanted, f"Remove {key} or rename it", host))
        try:
            ipaddress.ip_interface(str(link["address"]))
        except ValueError:
            faults.append(
                Fault(
                    f"{place}.address",
                    show(link["address"]),
                    "an IP address with its prefix length",
                    "Write the address of the interface, such as 192.0.2.11/24",
                    host,
                )
            )
            continue
        good.append({key: str(link.get(key) or "") for key in LINK_KEYS})
    return good, faults
