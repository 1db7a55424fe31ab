"""Fixtures: modules that declare tools."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str, str], ModuleType]]:
    """Write a module and import it; what was imported is forgotten with the test."""
    monkeypatch.syspath_prepend(tmp_path)
    names: list[str] = []

    def write_and_import(name: str, source: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(source)
        importlib.invalidate_caches()
        names.append(name)
        return importlib.import_module(name)

    yield write_and_import
    for name in names:
        sys.modules.pop(name, None)
