# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception whose text is meant for the person at the keyboard."""

from __future__ import annotations


class LabError(Exception):
    """Something the operator can act on; the text says what was found, what is wanted and what to do."""
