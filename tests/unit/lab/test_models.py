# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Models as they are sent to hosts."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from lab.models import models_tar


def test_owner_modes_and_resolved_links(tmp_path: Path) -> None:
    model = tmp_path / "made"
    (model / "sub").mkdir(parents=True)
    (model / "config.json").write_text("{}", encoding="utf-8")
    (model / "config.json").chmod(0o600)
    (model / "sub" / "link.json").symlink_to(model / "config.json")
    with tarfile.open(fileobj=io.BytesIO(models_tar({"tiny": model}))) as archive:
        members = {member.name: member for member in archive}
        linked = archive.extractfile("tiny/sub/link.json")
        assert linked is not None
        assert linked.read() == b"{}"
    assert {name: member.mode for name, member in members.items()} == {
        "tiny": 0o755,
        "tiny/config.json": 0o644,
        "tiny/sub": 0o755,
        "tiny/sub/link.json": 0o644,
    }
    assert {(member.uid, member.gid) for member in members.values()} == {(1000, 1000)}
