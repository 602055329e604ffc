# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`nvidia-smi` of a DGX Spark without a GPU: the answers that scripts read, with the `[N/A]` that a GB10 gives.

A file OVERRIDES (JSON, field -> value as printed with its unit) changes answers of one host, for tests of bad hardware.
Two keys of it are no fields: "processes", a list of what --query-compute-apps shows by column, and "failure" with
"text" and "code", how every call ends. With -l and -lms the file is read for each answer.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any

OVERRIDES = Path(os.environ.get("NVIDIA_SMI_OVERRIDES", "/etc/dgxspark-lab/nvidia-smi.json"))
PERSISTENCE = Path("/run/nvidia-persistence-mode")
CLOCK_LOCK = Path("/run/nvidia-clock-lock")
DRIVER = "580.95.05"
CUDA = "13.0"
BUS_ID = "0000000F:01:00.0"
NOT_AVAILABLE = "[N/A]"

# field -> (unit in the header, value). A value that is a number is printed with the unit unless `nounits` is given.
GPU_FIELDS: dict[str, tuple[str, str]] = {
    "index": ("", "0"),
    "count": ("", "1"),
    "name": ("", "NVIDIA GB10"),
    "driver_version": ("", DRIVER),
    "serial": ("", NOT_AVAILABLE),
    "vbios_version": ("", "9A.0B.25.00.00"),
    "compute_cap": ("", "12.1"),
    "compute_mode": ("", "Default"),
    "pstate": ("", "P8"),
    "pci.bus_id": ("", BUS_ID),
    "pci.domain": ("", "0x000F"),
    "pci.bus": ("", "0x01"),
    "pci.device": ("", "0x00"),
    "display_mode": ("", "Disabled"),
    "display_active": ("", "Disabled"),
    "mig.mode.current": ("", NOT_AVAILABLE),
    "ecc.mode.current": ("", NOT_AVAILABLE),
    "ecc.mode.pending": ("", NOT_AVAILABLE),
    "ecc.errors.uncorrected.volatile.total": ("", NOT_AVAILABLE),
    "fan.speed": ("%", NOT_AVAILABLE),
    "temperature.gpu": ("", "41"),
    "temperature.memory": ("", NOT_AVAILABLE),
    "utilization.gpu": ("%", "0"),
    "utilization.memory": ("%", "0"),
    "memory.total": ("MiB", NOT_AVAILABLE),
    "memory.used": ("MiB", NOT_AVAILABLE),
    "memory.free": ("MiB", NOT_AVAILABLE),
    "memory.reserved": ("MiB", NOT_AVAILABLE),
    "power.draw": ("W", "4.52"),
    "power.limit": ("W", NOT_AVAILABLE),
    "power.default_limit": ("W", NOT_AVAILABLE),
    "power.max_limit": ("W", NOT_AVAILABLE),
    "power.management": ("", NOT_AVAILABLE),
    "enforced.power.limit": ("W", NOT_AVAILABLE),
    "clocks.current.graphics": ("MHz", "208"),
    "clocks.current.sm": ("MHz", "208"),
    "clocks.current.memory": ("MHz", NOT_AVAILABLE),
    "clocks.current.video": ("MHz", "598"),
    "clocks.max.graphics": ("MHz", "3003"),
    "clocks.max.sm": ("MHz", "3003"),
    "clocks.max.memory": ("MHz", NOT_AVAILABLE),
    "clocks_event_reasons.active": ("", "0x0000000000000001"),
    "pcie.link.gen.current": ("", "1"),
    "pcie.link.width.current": ("", "1"),
}
LOCKED_CLOCKS = ("clocks.current.graphics", "clocks.current.sm")
COMPUTED = ("timestamp", "uuid", "persistence_mode")
ALIASES = {
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "gpu_serial": "serial",
    "gpu_bus_id": "pci.bus_id",
    "clocks.gr": "clocks.current.graphics",
    "clocks.sm": "clocks.current.sm",
    "clocks.mem": "clocks.current.memory",
    "clocks.video": "clocks.current.video",
    "clocks.max.gr": "clocks.max.graphics",
    "clocks.max.mem": "clocks.max.memory",
    "clocks_throttle_reasons.active": "clocks_event_reasons.active",
}
PROCESS_FIELDS = {
    "timestamp": "timestamp",
    "gpu_name": "gpu_name",
    "gpu_bus_id": "gpu_bus_id",
    "gpu_uuid": "gpu_uuid",
    "pid": "pid",
    "process_name": "process_name",
    "name": "process_name",
    "used_gpu_memory": "used_gpu_memory [MiB]",
    "used_memory": "used_gpu_memory [MiB]",
}
TABLE = """\
{now}
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI {driver:<21}  Driver Version: {driver:<13}  CUDA Version: {cuda:<8} |
+-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  {name:<25} {persistence:>8} |   {bus} Off |                  N/A |
| N/A  {temperature:>3}C    {pstate}             {power:>2}W /  N/A  | Not Supported          | {use:>6}%      Default |
|                                         |                        |                  N/A |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|  No running processes found                                                             |
+-----------------------------------------------------------------------------------------+"""


class SmiError(Exception):
    """What nvidia-smi prints and the exit code that it ends with."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def overrides() -> dict[str, Any]:
    """Return the answers that a test changed on this host."""
    try:
        return json.loads(OVERRIDES.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def gpu_uuid() -> str:
    """Return an id that differs between hosts and stays the same on one."""
    return f"GPU-{uuid.uuid5(uuid.NAMESPACE_DNS, os.uname().nodename + '.gb10')}"


def value_of(field: str, units: bool) -> str:
    """Return one field's value as printed in a CSV line."""
    changed = overrides().get(field)
    if changed is not None:
        changed = locked(changed) if field in LOCKED_CLOCKS else changed
        return changed if units else changed.split(" ", 1)[0]
    if field == "timestamp":
        return datetime.datetime.now().strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]
    if field == "uuid":
        return gpu_uuid()
    if field == "persistence_mode":
        return "Enabled" if PERSISTENCE.exists() else "Disabled"
    unit, value = GPU_FIELDS[field]
    return f"{value} {unit}" if unit and units and value != NOT_AVAILABLE else value


def locked(clock: str) -> str:
    """Return a clock, with its unit, as the lock of -lgc leaves it; what a test says of a clock is meant without it."""
    highest = CLOCK_LOCK.read_text(encoding="ascii") if CLOCK_LOCK.exists() else ""
    mhz = clock.split(" ", 1)[0]
    return f"{min(int(mhz), int(highest))} MHz" if highest.isdigit() and mhz.isdigit() else clock


def title_of(field: str) -> str:
    """Return one field's title in the CSV header."""
    unit = GPU_FIELDS.get(field, ("", ""))[0]
    return f"{field} [{unit}]" if unit else field


def csv_format(options: dict[str, str]) -> tuple[bool, bool]:
    """Return (with header, with units) from --format; raises SmiError when it is missing or not CSV."""
    words = options.get("--format", "").split(",")
    if "csv" not in words:
        raise SmiError('"--format=" switch is missing. The only supported format is "csv".', 2)
    return "noheader" not in words, "nounits" not in words


def query_gpu(options: dict[str, str]) -> str:
    """Answer --query-gpu."""
    header, units = csv_format(options)
    fields = []
    for asked in options["--query-gpu"].split(","):
        field = ALIASES.get(asked.strip(), asked.strip())
        if field not in GPU_FIELDS and field not in COMPUTED:
            raise SmiError(f'Field "{asked.strip()}" is not a valid field to query.\n', 2)
        fields.append(field)
    lines = [", ".join(title_of(field) for field in fields)] if header else []
    return "\n".join([*lines, ", ".join(value_of(field, units) for field in fields)])


def query_compute_apps(options: dict[str, str]) -> str:
    """Answer --query-compute-apps: the header, and no process but those that a test made up."""
    header, units = csv_format(options)
    columns = []
    for asked in options["--query-compute-apps"].split(","):
        if asked.strip() not in PROCESS_FIELDS:
            raise SmiError(f'Field "{asked.strip()}" is not a valid field to query.\n', 2)
        columns.append(PROCESS_FIELDS[asked.strip()])
    lines = [", ".join(columns)] if header else []
    for process in overrides().get("processes", []):
        values = [process.get(column.split(" ")[0], NOT_AVAILABLE) for column in columns]
        lines.append(", ".join(values if units else [value.removesuffix(" MiB") for value in values]))
    return "\n".join(lines)


def table() -> str:
    """Return the table that a call without options prints."""
    return TABLE.format(
        now=datetime.datetime.now().strftime("%a %b %e %H:%M:%S %Y"),
        driver=value_of("driver_version", False),
        cuda=CUDA,
        name=value_of("name", False),
        persistence="On " if value_of("persistence_mode", False) == "Enabled" else "Off ",
        bus=value_of("pci.bus_id", False),
        temperature=value_of("temperature.gpu", False),
        pstate=value_of("pstate", False),
        power=value_of("power.draw", False).split(".")[0],
        use=value_of("utilization.gpu", False),
    )


def change(options: dict[str, str]) -> str:
    """Do what -pm, -lgc and -rgc do. As on a GB10 the clock lock cannot be read back: it only shows under load."""
    if os.geteuid() != 0:
        raise SmiError(f"Unable to change settings for GPU {BUS_ID}: Insufficient Permissions", 4)
    if "-pm" in options:
        enabled = options["-pm"] in ("1", "ENABLED")
        if enabled:
            PERSISTENCE.touch()
        else:
            PERSISTENCE.unlink(missing_ok=True)
        done = f"{'Enabled' if enabled else 'Disabled'} persistence mode for GPU {BUS_ID}."
    elif "-lgc" in options:
        low, _comma, high = options["-lgc"].partition(",")
        CLOCK_LOCK.write_text(high or low, encoding="ascii")
        done = f'GPU clocks set to "(gpuClkMin {low}, gpuClkMax {high or low})" for GPU {BUS_ID}'
    else:
        CLOCK_LOCK.unlink(missing_ok=True)
        done = f"All done resetting GPU clocks for GPU {BUS_ID}"
    return f"{done}\nAll done."


def parse(arguments: list[str]) -> dict[str, str]:
    """Return options and their values; raises SmiError for one that this stand-in does not know."""
    with_value = {
        "-i": "-i",
        "--id": "-i",
        "-pm": "-pm",
        "--persistence-mode": "-pm",
        "-lgc": "-lgc",
        "--lock-gpu-clocks": "-lgc",
        "--query-gpu": "--query-gpu",
        "--query-compute-apps": "--query-compute-apps",
        "--format": "--format",
        "-l": "-l",
        "--loop": "-l",
        "-lms": "-lms",
        "--loop-ms": "-lms",
    }
    alone = {"-L": "-L", "--list-gpus": "-L", "-rgc": "-rgc", "--reset-gpu-clocks": "-rgc"}
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name in alone and not equals:
            options[alone[name]] = ""
        elif name in with_value and (equals or rest):
            options[with_value[name]] = value if equals else rest.pop(0)
        else:
            raise SmiError("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n", 1)
    return options


def answer(arguments: list[str]) -> str:
    """Return what to print for a command line; raises SmiError."""
    failure = overrides().get("failure")
    if failure:
        raise SmiError(failure["text"], failure["code"])
    options = parse(arguments)
    if options.get("-i", "0") not in ("0", BUS_ID, gpu_uuid()):
        raise SmiError("No devices were found", 6)
    if "-L" in options:
        return f"GPU 0: {value_of('name', False)} (UUID: {gpu_uuid()})"
    if "--query-gpu" in options:
        return query_gpu(options)
    if "--query-compute-apps" in options:
        return query_compute_apps(options)
    if {"-pm", "-lgc", "-rgc"} & set(options):
        return change(options)
    return table()


def interval(arguments: list[str]) -> float | None:
    """Return seconds between two answers, None for one answer; raises SmiError."""
    options = parse(arguments)
    for name, unit in (("-l", 1.0), ("-lms", 0.001)):
        if name in options:
            if not options[name].isdigit() or int(options[name]) == 0:
                raise SmiError(f"Invalid loop interval: {options[name]}\n", 1)
            return int(options[name]) * unit
    return None


def main(arguments: list[str]) -> int:
    """Print the answer, again and again if that is asked for; return the exit code."""
    try:
        seconds = interval(arguments)
        while True:
            text = answer(arguments)
            if text:
                print(text, flush=True)
            if seconds is None:
                return 0
            time.sleep(seconds)
    except SmiError as error:
        print(error)
        return error.code
    except (BrokenPipeError, KeyboardInterrupt):
        # Nobody reads it any more; Python would complain of it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
