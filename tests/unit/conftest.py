# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make `ansible_collections.dgxspark.serving` importable from the checkout, by Ansible's own loader.

Under ansible-test the loader is in place before this file is read.
"""

from __future__ import annotations

from pathlib import Path

from ansible.utils.collection_loader import AnsibleCollectionConfig
from ansible.utils.collection_loader._collection_finder import _AnsibleCollectionFinder


def install_collection_loader() -> None:
    """Let Ansible's loader find this collection by the checkout's link, unless somebody installed the loader before."""
    if AnsibleCollectionConfig.collection_finder is None:
        link = Path(__file__).resolve().parents[2] / ".collections"
        _AnsibleCollectionFinder(paths=[str(link)])._install()


install_collection_loader()
