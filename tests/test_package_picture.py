"""The picture of the packages in docs/design/architecture.md."""

from __future__ import annotations

import re
from functools import cache
from graphlib import CycleError
from pathlib import Path

import pytest

from scripts.package_picture import PICTURE, draw, package_imports


@cache
def drawn() -> str:
    """Return the picture of the code as it is."""
    return draw(package_imports())


def test_the_picture_is_of_the_code_as_it_is() -> None:
    """The picture shows what imports what today; else run `python scripts/package_picture.py`."""
    shown = PICTURE.read_text(encoding="utf-8")
    assert shown == drawn(), "run `python scripts/package_picture.py`"


def test_imports_are_read_wherever_they_stand(tmp_path: Path) -> None:
    """An import within a function counts; one for type checkers or of a module does not."""
    code = {
        "a": "def f():\n    from root.b.inner import g\n    import root.lazy\n",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from root import a\n",
        "c": "from root import a\nimport root.b\n",
    }
    for name, text in code.items():
        (tmp_path / "root" / name).mkdir(parents=True)
        (tmp_path / "root" / name / "__init__.py").write_text(text, encoding="utf-8")
    found = package_imports(tmp_path / "root")
    assert found == {"a": {"b"}, "b": set(), "c": {"a", "b"}}
    assert draw(found).count("marker-end") == len([("c", "a"), ("a", "b")])


def test_every_arrow_points_down() -> None:
    """Each arrow ends below where it begins; packages in a circle are not drawn."""
    paths = re.findall(r'd="M\S+ (\d+)[^"]*L\S+ (\d+)" fill="none"', drawn())
    assert paths
    assert all(int(begin) < int(end) for begin, end in paths)
    assert draw({"alone": frozenset()}).count("marker-end") == 0
    with pytest.raises(CycleError):
        draw({"a": frozenset({"b"}), "b": frozenset({"a"})})
