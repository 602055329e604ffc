# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`uname` of a DGX Spark: the real answers with the machine hardware name aarch64."""

from __future__ import annotations

import os
import sys

ORDER = "snrvmpio"  # the order in which `uname -a` prints
LONG = {
    "--all": "a",
    "--kernel-name": "s",
    "--nodename": "n",
    "--kernel-release": "r",
    "--kernel-version": "v",
    "--machine": "m",
    "--processor": "p",
    "--hardware-platform": "i",
    "--operating-system": "o",
}


def wanted(arguments: list[str]) -> str | None:
    """Return the letters that are asked for in printing order, or None for an option that uname does not have."""
    letters = ""
    for argument in arguments:
        if argument in LONG:
            letters += LONG[argument]
        elif argument.startswith("-") and not argument.startswith("--") and set(argument[1:]) <= set(ORDER + "a"):
            letters += argument[1:]
        else:
            return None
    if "a" in letters:
        # The real `uname -a` leaves out -p and -i where they are unknown, as they are here.
        return "snrvmo"
    return "".join(letter for letter in ORDER if letter in letters) or "s"


def main(arguments: list[str]) -> int:
    """Print what is asked for; return the exit code."""
    letters = wanted(arguments)
    if letters is None:
        os.execv("/usr/bin/uname", ["uname", *arguments])
    real = os.uname()
    answers = {
        "s": real.sysname,
        "n": real.nodename,
        "r": real.release,
        "v": real.version,
        "m": "aarch64",
        "p": "unknown",
        "i": "unknown",
        "o": "GNU/Linux",
    }
    print(" ".join(answers[letter] for letter in letters))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
