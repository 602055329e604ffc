# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""List the targets of a Makefile: each is documented by the text after `##` on its rule."""

from __future__ import annotations

import re
import sys
from pathlib import Path

RULE = re.compile(r"^(?P<targets>[a-z][a-z0-9_ -]*):[^#=]*##\s*(?P<text>.+)$")


def documented_targets(makefile: str) -> list[tuple[str, str]]:
    """Return (target, description) in the order of the file."""
    found = []
    for line in makefile.splitlines():
        match = RULE.match(line)
        if match:
            found += [(target, match["text"].strip()) for target in match["targets"].split()]
    return found


def help_text(makefile: str) -> str:
    """Return the list as aligned lines."""
    targets = documented_targets(makefile)
    width = max((len(name) for name, _text in targets), default=0)
    return "\n".join(f"  make {name:<{width}}  {text}" for name, text in targets)


def main() -> int:
    """Command line: the path of the Makefile."""
    print(help_text(Path(sys.argv[1]).read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
