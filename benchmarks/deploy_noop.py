# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a second, unchanged `deploy-tp1.yml` takes, as a multiple of one ping."""

from __future__ import annotations

from benchmarks.against_ping import Subject, main

if __name__ == "__main__":
    main(Subject("noop", "deploy-tp1.yml"), __doc__, (2, 8))
