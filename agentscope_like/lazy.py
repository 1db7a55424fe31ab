"""Names of a package that are imported on their first use (PEP 562)."""

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
        places: By name, the module below the package that defines it; `.NAME` is one beside it.
    """

    def get(name: str) -> Any:
        place = places.get(name)
        if place is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f".{place}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
