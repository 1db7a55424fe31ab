"""Reads `file_types.toml`: file types such as `py` with their name patterns."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from agentscope_like.nearest import nearest
from agentscope_like.tool.builtin.file_errors import FileToolError

__all__ = ["names_of_type"]


def names_of_type(file_type: str) -> Callable[[str], bool]:
    """Return the condition on file names of this type.

    Raises:
        FileToolError: There is no such type.
    """
    known = _types()
    globs = known.get(file_type.removeprefix("."))
    if globs is None:
        raise FileToolError(
            f"There is no file type {file_type!r}{nearest(file_type, known) or '.'} "
            "Use `glob` instead, such as `*.txt`."
        )
    ends = tuple(glob[1:] for glob in globs if glob.startswith("*"))
    starts = tuple(glob[:-1] for glob in globs if glob.endswith("*"))
    names = frozenset(globs)
    return lambda name: name in names or name.endswith(ends) or name.startswith(starts)


@lru_cache(maxsize=1)
def _types() -> Mapping[str, Sequence[str]]:
    text = (files(__package__) / "file_types.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
