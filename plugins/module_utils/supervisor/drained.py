# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""drain.json: that a replica is to get no new requests. It lies on the host of rank 0 and survives reboots."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Drained:
    """:ivar by: ``user@controller``
    :ivar at: Unix seconds
    :ivar expires: Unix seconds from which on the flag counts no more; 0 for never
    """

    replica: str
    by: str
    at: float
    reason: str
    expires: float = 0.0


def parse(text: str) -> Drained:
    """Read drain.json.

    :raises ValueError: it is not one
    """
    try:
        data = json.loads(text)
        return Drained(
            str(data["replica"]),
            str(data["by"]),
            float(data["at"]),
            str(data["reason"]),
            float(data.get("expires", 0)),
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"not a drain flag: {error}") from error


def text_of(drained: Drained) -> str:
    """The content of drain.json."""
    return json.dumps(asdict(drained)) + "\n"


def read(path: Path, replica: str, now: float) -> Drained | None:
    """Whether a replica is drained. A flag that cannot be read counts, for somebody has put it there.

    :param replica: its name; with an empty one a flag of any counts
    :param now: Unix seconds
    """
    try:
        flag = parse(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return Drained(replica, "", 0.0, f"{path} cannot be read ({error})")
    if flag.expires and flag.expires <= now:
        return None
    return flag if replica in ("", flag.replica) else None
