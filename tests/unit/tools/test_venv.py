# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The key of the shared environment, and the Python that it is made with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import venv


def test_the_key_follows_pins_and_python_alone() -> None:
    key = venv.venv_key("a==1\nb==2\n", "3.11.2", "/usr")
    assert key == venv.venv_key("# why\na==1\n\n  b==2", "3.11.2", "/usr")
    others = [
        venv.venv_key("a==1\nb==3\n", "3.11.2", "/usr"),
        venv.venv_key("a==1\nb==2\n", "3.12.2", "/usr"),
        venv.venv_key("a==1\nb==2\n", "3.11.2", "/opt/python"),
    ]
    assert len({key, *others}) == 4


@pytest.mark.parametrize(("version", "fine"), [((3, 10), False), ((3, 11), True), ((3, 13), True), ((3, 14), False)])
def test_versions(version: tuple[int, int], fine: bool) -> None:
    fault = venv.version_fault(version)
    assert (fault is None) == fine
    if fault:
        assert fault.startswith(f"This is Python 3.{version[1]}, but the pinned ansible-core wants 3.11 to 3.13: ")


def test_the_checkout_pins_everything_exactly() -> None:
    lines = (venv.CHECKOUT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert [pin for pin in pins if pin.count("==") != 1 or "*" in pin] == []


def make_checkout(folder: Path) -> Path:
    """Make a checkout with nothing to install."""
    folder.mkdir()
    (folder / "requirements.txt").write_text("# nothing\n", encoding="utf-8")
    return folder


def fake_build(built: list[Path]) -> object:
    """Return a stand-in for the slow part that makes a tree with an interpreter in it."""

    def build(entry: Path, _requirements: Path) -> None:
        tree = entry.parent / f"tree{len(built)}"
        (tree / "bin").mkdir(parents=True)
        (tree / "bin" / "python").touch()
        built.append(tree)
        entry.symlink_to(tree)

    return build


def test_equal_checkouts_share_one_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Path] = []
    monkeypatch.setenv("DGXSPARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(venv, "_build", fake_build(built))
    one, two = (venv.ensure_venv(make_checkout(tmp_path / name)) for name in ("one", "two"))
    assert one.resolve() == two.resolve() == built[0]
    assert len(built) == 1


def test_a_lost_environment_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[Path] = []
    monkeypatch.setenv("DGXSPARK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(venv, "_build", fake_build(built))
    checkout = make_checkout(tmp_path / "one")
    venv.ensure_venv(checkout)
    (built[0] / "bin" / "python").unlink()
    assert venv.ensure_venv(checkout).resolve() == built[1]


def test_a_foreign_venv_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DGXSPARK_CACHE", str(tmp_path / "cache"))
    checkout = make_checkout(tmp_path / "one")
    (checkout / ".venv").mkdir()
    with pytest.raises(venv.VenvError, match=r"is a folder, not the link that this tool makes: move it away"):
        venv.ensure_venv(checkout)
