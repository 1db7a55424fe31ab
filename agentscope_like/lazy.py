"""Imports the names of a package on their first use (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["on_first_use"]


def on_first_use(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for the package.

    Args:
        package: The package's name.
        places: The defining module of each name, below the package; `.NAME` is a sibling module.
    """

    def get(name: str) -> Any:
        place = places.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{place}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
