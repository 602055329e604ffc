# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was measured, on what, in words: the same in Markdown and in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils.bench.result.numbers import GIB, NOT_KNOWN


def run_line(result: Mapping[str, Any]) -> str:
    """When, what and with which version."""
    run, tool = result["run"], result["tool"]
    label = f' "{run["label"]}"' if run["label"] else ""
    end = f" to {run['ended']}" if run["ended"] else ""
    by = f", asked from {run['client']}" if run.get("client") else ""
    said = f"Suite {run['suite']}{label}, {run['started'] or NOT_KNOWN}{end}{by}, {tool['name']} {tool['version']}."
    origin = tool.get("imported_from")
    if not origin:
        return said
    named = " ".join(str(origin[key]) for key in ("tool", "version") if origin.get(key))
    return f"{said} Measured with {named}, not with this collection; read from {origin.get('file') or NOT_KNOWN}."


def warnings(result: Mapping[str, Any]) -> list[str]:
    """What a reader must know before the first figure."""
    points = result["points"]
    said = ["The run was interrupted: what is missing was not measured."] if result["run"]["interrupted"] else []
    if not points:
        return [*said, "Nothing was measured."]
    if not any((point["summary"].get("e2el_ms") or {}).get("n") for point in points):
        said.append("Not one request succeeded: there is no figure of speed in this report.")
    invalid = [point["id"] for point in points if not point["valid"]]
    if invalid:
        # Documentation has a section of these words.
        said.append(f"{len(invalid)} of {len(points)} points are not valid: {', '.join(invalid)}.")
    return said


def deployment_line(deployment: Mapping[str, Any]) -> str:
    """Engine, model and layout of a deployment."""
    image = deployment.get("image")
    parts = [
        " ".join(str(deployment[key]) for key in ("engine", "version") if deployment.get(key)),
        str(deployment.get("model") or ""),
        f"revision {str(deployment['revision'])[:12]}" if deployment.get("revision") else "",
        _said(deployment, "quant", "quantization"),
        layout(deployment),
        _said(deployment, "executor", "executor"),
        _said(deployment, "max_model_len", "max_model_len"),
        _said(deployment, "max_num_seqs", "max_num_seqs"),
        _said(deployment, "gpu_memory_utilization", "gpu_memory_utilization"),
        f"image {image}" if image else "",
        f"digest {str(deployment['image_digest'])[:19]}" if deployment.get("image_digest") else "",
        _gateway(deployment.get("gateway")),
    ]
    return ", ".join(part for part in parts if part) or NOT_KNOWN


def layout(deployment: Mapping[str, Any]) -> str:
    """``TP=2 on 1 replica of 2 hosts``."""
    replicas: Sequence[Mapping[str, Any]] = deployment.get("replicas") or []
    size = deployment.get("tensor_parallel_size")
    words = [f"TP={size}"] if size is not None else []
    pipeline = deployment.get("pipeline_parallel_size")
    words += [f"PP={pipeline}"] if pipeline not in (None, 1) else []
    if replicas:
        hosts = len(replicas[0].get("hosts") or [])
        number = len(replicas)
        words.append(
            f"on {number} replica{'s' if number > 1 else ''} of {hosts} host{'s' if hosts > 1 else ''}"
            + (" each" if number > 1 else "")
        )
    return " ".join(words)


def host_line(env: Mapping[str, Any]) -> str:
    """Kernel, driver, memory and clock of a host."""
    size = env.get("mem_total")
    offset = env.get("time_offset_ms")
    nics = [
        f"{nic['name']} {nic['speed_mbps'] // 1000} Gb/s MTU {nic['mtu']}"
        for nic in env.get("nic") or []
        if nic.get("speed_mbps") and nic["speed_mbps"] > 0 and nic.get("mtu")
    ]
    parts = [
        str(env.get("os") or ""),
        f"kernel {env['kernel']}" if env.get("kernel") else "",
        f"driver {env['driver']}" if env.get("driver") else "",
        f"CUDA {env['cuda']}" if env.get("cuda") else "",
        f"{size / GIB:.0f} GiB" if size else "",
        f"power mode {env['power_mode']}" if env.get("power_mode") else "",
        f"clock {offset:+.1f} ms off" if offset is not None else "",
        *nics,
    ]
    return ", ".join(part for part in parts if part) or NOT_KNOWN


def target_line(target: Mapping[str, Any], run: Mapping[str, Any]) -> str:
    """Where a target is, and which way there (field fault B11)."""
    # What was read from another tool's file does not say.
    way = "" if "proxy" not in run else f"by proxy {run['proxy']}" if run["proxy"] else "no proxy"
    return ", ".join(filter(None, (target.get("url"), target["via"], way)))


def self_test_line(tool: Mapping[str, Any]) -> str:
    """What the client found of itself before it measured anything else; empty when it did not try."""
    found = tool.get("self_test")
    if not found:
        return ""
    title = f"client self-test on {found.get('host') or NOT_KNOWN}"
    if found.get("error"):
        return f"{title}: it could not be made ({found['error']})"
    ttft, gaps = (_percent(found.get(key), "+") for key in ("ttft_err_pct", "itl_p99_err_pct"))
    apart = found.get("threads_tpot_diff_pct")
    ways = _percent(None if apart is None else abs(apart), "")
    streams, gap = found.get("streams"), found.get("gap_ms")
    load = f" ({streams} streams, {gap:g} ms)" if streams and gap else ""
    return f"{title}: TTFT {ttft}, p99 of the gaps {gaps}, TPOT by a second transport {ways} apart{load}"


def asked(run: Mapping[str, Any]) -> dict[str, str]:
    """How it was asked, by what it is, so far as it is known: host, patience, limits."""
    named = {
        "asked from": run.get("client") or "",
        "patience with a request": _limits(run.get("limits")),
        "limits for goodput": _limits(run.get("goodput")),
        "lag of the client that counts as good": _limits(run.get("client_lag")),
    }
    return {name: said for name, said in named.items() if said}


def _limits(found: Mapping[str, Any] | None) -> str:
    return ", ".join(f"{key} {value:g}" for key, value in (found or {}).items() if value is not None)


def _percent(value: float | None, sign: str) -> str:
    return NOT_KNOWN if value is None else f"{value:{sign}.1f} %"


def case_line(case: Mapping[str, Any]) -> str:
    """Lengths and kind of a case."""
    output = case.get("output") or {}
    prompt = case.get("prompt_tokens")
    fixed = output.get("mode") == "fixed"
    parts = [
        str(case.get("language") or ""),
        f"prompt of {prompt} tokens" if prompt else "prompt as it is",
        f"{'exactly' if fixed else 'at most'} {output['tokens']} tokens out" if output.get("tokens") else "",
        f"{case['cache']} cache" if case.get("cache") else "",
        str(case["digest"])[:19],
    ]
    return ", ".join(part for part in parts if part)


def _said(facts: Mapping[str, Any], key: str, name: str) -> str:
    value = facts.get(key)
    return f"{name} {value}" if value not in (None, "") else ""


def _gateway(gateway: Mapping[str, Any] | None) -> str:
    if not gateway:
        return ""
    return " ".join(["gateway", *(str(gateway[key]) for key in ("provider", "version") if gateway.get(key))])
