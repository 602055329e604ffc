# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let Ansible's loader find this collection, as in the unit tests."""

from __future__ import annotations

from tests.unit.conftest import install_collection_loader

install_collection_loader()
