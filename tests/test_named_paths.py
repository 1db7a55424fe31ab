"""Every file, module and public name that the documentation names exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
TOPS = ("agentscope_like", "benchmarks", "docs", "scripts", "tests")
ROOMS = tuple(each.name for each in (ROOT / "agentscope_like").iterdir() if each.is_dir())
PLACEHOLDERS = {"NAME": "*", "FAMILY": "*", "ROOM": "*"}
OF_A_PROJECT = frozenset(
    {"middleware.py", "scripts/", "tests/a.py", "a.py", "rust-toolchain.toml", "events.jsonl"}
)
"""Paths of somebody's project or skill that the documentation tells of."""

OBSERVABILITY = ROOT / "agentscope_like" / "observability"

CODE = re.compile(r"`([^`\s]+)`")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
DOTTED = re.compile(r"(?:agentscope_like|tests|benchmarks)(?:\.\w+)+")
FILE = re.compile(r"[\w*{},/.-]+\.(?:py|toml|jsonl|txt|md)|[\w*{},/-]+/")


def codes_of(page: Path) -> list[str]:
    """Return what stands in backticks on a page, outside of its examples."""
    return CODE.findall(FENCED.sub("", page.read_text(encoding="utf-8")))


def is_named_here(path: str) -> bool:
    """Return whether a path is one of this project, by how it begins."""
    first, slash, _ = path.partition("/")
    if not slash:
        return path.endswith((".py", ".toml", ".jsonl"))
    return first in TOPS or first in ROOMS


def exists(path: str) -> bool:
    """Return whether the project has such a file; a short form begins with a room."""
    for placeholder, pattern in PLACEHOLDERS.items():
        path = path.replace(placeholder, pattern)
    path = path.rstrip("/")
    if "/" not in path:
        tops = ("tests",) if path.startswith("test_") else ("agentscope_like", "benchmarks")
        return (ROOT / path).exists() or any(any((ROOT / top).rglob(path)) for top in tops)
    base = ROOT if path.partition("/")[0] in TOPS else ROOT / "agentscope_like"
    return any(base.glob(path))


def missing_paths(text: str) -> bool:
    """Return whether a text in backticks is a path of this project that does not exist."""
    is_path = FILE.fullmatch(text) is not None and is_named_here(text)
    return is_path and text not in OF_A_PROJECT and not exists(text)


def is_attribute(name: str) -> bool:
    """Return whether spans or events have an attribute of this name."""
    written = "{OWN}" + name.removeprefix("agentscope_like")
    return any(f'"{written}"' in each.read_text("utf-8") for each in OBSERVABILITY.glob("*.py"))


def resolves(name: str) -> bool:
    """Return whether a dotted name is a module, something in one, or an attribute of spans."""
    if is_attribute(name):
        return True
    words = name.split(".")
    for length in range(len(words), 0, -1):
        try:
            found: object = importlib.import_module(".".join(words[:length]))
        except ModuleNotFoundError:
            continue
        for word in words[length:]:
            if not hasattr(found, word):
                return False
            found = getattr(found, word)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_exists(page: Path) -> None:
    """Paths and dotted names in backticks exist, and so do the files that links lead to."""
    codes = codes_of(page)
    paths = [text for text in codes if missing_paths(text)]
    names = [text for text in codes if DOTTED.fullmatch(text) and not resolves(text)]
    links = LINK.findall(page.read_text(encoding="utf-8"))
    dead = [link for link in links if not (page.parent / link).exists()]
    assert (paths, names, dead) == ([], [], []), page.name


def test_what_does_not_exist_is_noticed() -> None:
    """A path that was moved and a name that is gone are told from those that are there."""
    assert missing_paths("agentscope_like/permission/shell/rules.py")
    assert missing_paths("shell/rules.py")
    assert missing_paths("no_such_module.py")
    assert not missing_paths("agentscope_like/shell/catalog/FAMILY.toml")
    assert not missing_paths("sandbox/isolation/views.toml")
    assert not missing_paths("src/**")
    assert resolves("agentscope_like.shell.analyze")
    assert not resolves("agentscope_like.permission.shell")
    assert not resolves("agentscope_like.shell.analyze_async")
