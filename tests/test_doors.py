"""Rooms: a package is used through its `__init__`, and has about a dozen modules."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import agentscope_like

ROOT = Path(agentscope_like.__file__).parent
TESTS = Path(__file__).parent
DECIDING = ("agentscope_like.paths", "agentscope_like.shell", "agentscope_like.permission")
MOST_MODULES = 13

SHARED = {
    "agentscope_like.mcp.parameters": ("ClientSource", "ServerParameters", "client_of"),
    "agentscope_like.message.block": ("new_id", "now"),
    "agentscope_like.middleware.cut": ("IMAGE_TOKENS",),
    "agentscope_like.middleware.onion": (
        "LayerChain",
        "LayerStream",
        "StreamHandler",
        "chain_layers",
    ),
    "agentscope_like.middleware.tokens": ("head_of", "tail_of"),
    "agentscope_like.middleware.truncate": ("TOKEN_LIMIT", "LimitedOutput"),
    "agentscope_like.permission.text": ("Facts", "Text", "printable", "writable"),
    "agentscope_like.progress.event": ("STREAMS",),
    "agentscope_like.tool.arguments": (
        "ArgumentValidator",
        "copied",
        "parse_arguments",
        "shortened",
    ),
    "agentscope_like.tool.base": ("without_titles",),
    "agentscope_like.tool.builtin.bash.bash_start": (
        "bash_start",
        "confined_by",
        "reported_directory",
        "reported_variables",
    ),
    "agentscope_like.tool.builtin.bash.command_shell": ("ExtraEnvironment",),
    "agentscope_like.tool.builtin.bash.descriptors": ("Descriptors",),
    "agentscope_like.tool.builtin.bash.host_shell": ("Shell", "still_there"),
    "agentscope_like.tool.builtin.bash.shell_result": (
        "NO_OUTPUT",
        "refuse_unsendable",
        "secrecy",
    ),
    "agentscope_like.tool.builtin.bash.start_directory": ("held_path", "open_directory"),
    "agentscope_like.tool.builtin.own_state_tool": ("OwnStateTool", "json_result"),
    "agentscope_like.tool.managed_toolkit": ("ManagedToolkit",),
    "agentscope_like.tool.risk_label": ("with_label",),
}
"""Names that packages share, though their doors, which users import from, do not publish them."""

OWN_PARTS = {
    "tests/permission/test_explain.py": "agentscope_like.permission.explain.layout",
    "tests/permission/shell/syntax.py": "agentscope_like.shell.syntax.gate",
    "tests/permission/shell/test_catalog.py": "agentscope_like.shell.catalog.tables",
    "tests/permission/shell/test_name_sources.py": "agentscope_like.shell.names.name_sources",
    "tests/permission/test_tables.py": "agentscope_like.paths.sensitive.sensitive_table",
    "tests/permission/test_visible.py": "agentscope_like.permission.explain.visible_text",
}
"""The tests of one module's own work, by file: limits of the reader, mistakes in tables, text."""


def name_of(path: Path) -> str:
    """Return the dotted name of a module or package."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}
PACKAGES = {name for name, path in FILES.items() if path.name == "__init__.py"}


def is_in(name: str, package: str) -> bool:
    """Return whether a module is a package, or below it."""
    return name == package or name.startswith(f"{package}.")


def imports_of(source: str) -> Iterator[tuple[str, str]]:
    """Yield each module of this project that the source imports from, and each name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and is_in(node.module or "", "agentscope_like"):
            for alias in node.names:
                yield str(node.module), alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if is_in(alias.name, "agentscope_like"):
                    yield alias.name, ""


@cache
def published(package: str) -> set[str]:
    """Return a package's `__all__`."""
    for node in ast.parse(FILES[package].read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return set(ast.literal_eval(value))
    return set()


@cache
def imports_in(path: Path) -> list[tuple[str, str]]:
    """Return what a file imports of this project."""
    return list(imports_of(path.read_text(encoding="utf-8")))


def objections(name: str, imports: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a sentence for each import of the module that goes past a door."""
    for module, wanted in imports:
        target = f"{module}.{wanted}" if f"{module}.{wanted}" in FILES else module
        room = target if target in PACKAGES else target.rpartition(".")[0]
        if target not in PACKAGES and room != "agentscope_like" and not is_in(name, room):
            if wanted not in SHARED.get(target, ()):
                yield f"{name} imports {wanted or target} from {target}: use {room} instead"
        elif target == module and target in PACKAGES and wanted and wanted not in published(module):
            yield f"{name} imports {wanted}, which is not in the `__all__` of {module}"


def test_rooms_are_entered_by_their_doors() -> None:
    """No module imports from a module of a room that it is not in, only from the room."""
    for name, path in FILES.items():
        assert list(objections(name, imports_in(path))) == []


def test_decisions_are_tested_through_the_doors() -> None:
    """No test imports from a module behind a door of the packages that decide, but its own."""
    for path in sorted(TESTS.rglob("*.py")):
        name = str(path.relative_to(TESTS.parent))
        behind = {
            objection
            for objection in objections(name, imports_in(path))
            if any(f" from {package}." in objection for package in DECIDING)
        }
        own = OWN_PARTS.get(name)
        if own is None:
            assert behind == set()
        else:
            assert behind, name
            assert all(f" from {own}:" in objection for objection in behind)


@pytest.mark.parametrize(
    ("importing", "statement", "passes"),
    [
        ("agentscope_like.cli.check", "from agentscope_like.sandbox.host import find_bash", True),
        (
            "agentscope_like.cli.check",
            "from agentscope_like.sandbox.host.programs import find_bash",
            False,
        ),
        (
            "agentscope_like.sandbox.host.launcher",
            "from agentscope_like.sandbox.host.programs import find_bash",
            True,
        ),
        ("agentscope_like.cli.check", "from agentscope_like.sandbox.host import programs", False),
        ("agentscope_like.cli.check", "import agentscope_like.sandbox.host.programs", False),
        ("agentscope_like.cli.check", "from agentscope_like.sandbox.host import Capture", False),
        (
            "agentscope_like.tool.call.grant",
            "from agentscope_like.tool.base import ToolBase",
            True,
        ),
    ],
)
def test_an_import_past_a_door_is_found(importing: str, statement: str, passes: bool) -> None:
    """Of each way to import from a room, only the one through its door passes from outside."""
    assert (not list(objections(importing, imports_of(statement)))) is passes


def test_a_room_has_about_a_dozen_modules() -> None:
    """A folder that has grown past one idea is divided."""
    sizes = Counter(name.rpartition(".")[0] for name in set(FILES) - PACKAGES)
    assert {room for room, size in sizes.items() if size > MOST_MODULES} == set()


def test_every_shared_name_is_used() -> None:
    """An exception that nothing needs any more is taken away."""
    used = {
        (module, wanted)
        for name, path in FILES.items()
        for module, wanted in imports_in(path)
        if not is_in(name, module.rpartition(".")[0])
    }
    assert {(m, n) for m, names in SHARED.items() for n in names} - used == set()
