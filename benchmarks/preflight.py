# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long `preflight.yml` takes, as a multiple of one ping; the aim is at most 3."""

from __future__ import annotations

import json

from benchmarks.against_ping import Subject, main

if __name__ == "__main__":
    # Light hosts have no systemd, and else all that the preflight looks at.
    ignore = ("-e", json.dumps({"preflight_ignore": ["machine.os"]}))
    main(Subject("preflight", "preflight.yml", ignore, light=True), __doc__, (2, 8, 32))
