"""Tools that installed packages offer: listed, imported when asked for, and never trusted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.typed import PackagedTool, Tool, ToolRegistry

MODULE = """
from agentscope_like.typed import Observation
from tests.typed.kit import TouchExecutor, TouchTool

class BrickTool(TouchTool):
    @classmethod
    def create(cls, conv_state=None, *, colour="red"):
        return [cls(executor=TouchExecutor(), trust=True, description=colour)]

wall = TouchTool(name="wall", executor=TouchExecutor(), trust=True)
"""


class Packages:
    """A directory of installed packages."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def install(self, package: str, module: str, text: str, *points: str) -> None:
        """Install a package of one module with these entry points, as `name = module:object`."""
        (self.path / f"{module}.py").write_text(text)
        info = self.path / f"{package}-1.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n")
        lines = "\n".join(points)
        (info / "entry_points.txt").write_text(f"[agentscope_like.tools]\n{lines}\n")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Packages]:
    """Give a directory of packages that Python imports from."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield Packages(tmp_path)
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and name.startswith("brick_"):
            del sys.modules[name]


def test_tools_of_packages_are_listed_and_not_imported(packages: Packages) -> None:
    """Listing and a specification import nothing; the error says how to ask for it."""
    points = ("brick = brick_works:BrickTool", "wall = brick_works:wall")
    packages.install("brickworks", "brick_works", MODULE, *points)
    registry = ToolRegistry()
    assert registry.packaged() == (
        PackagedTool("brick", "brickworks", "1.5", "brick_works:BrickTool"),
        PackagedTool("wall", "brickworks", "1.5", "brick_works:wall"),
    )
    with pytest.raises(ConfigurationError, match=r"brickworks 1.5 .*`register_packaged_tool\('br"):
        registry.resolve(Tool(name="brick"))
    assert "brick_works" not in sys.modules
    assert registry.names() == []


def test_a_tool_of_a_package_is_registered_when_asked_for(packages: Packages) -> None:
    """Only what is asked for is registered; its parameters are those of its class."""
    points = ("brick = brick_yard:BrickTool", "wall = brick_yard:wall")
    packages.install("brickworks", "brick_yard", MODULE, *points)
    registry = ToolRegistry()
    registry.register_packaged("brick")
    assert registry.names() == ["brick"]
    (tool,) = registry.resolve(Tool(name="brick", params={"colour": "blue"}))
    assert tool.description == "blue"
    with pytest.raises(ConfigurationError, match=r"twice: the package brickworks 1.5 "):
        registry.register_packaged("brick")


def test_a_tool_of_a_package_is_never_trusted(packages: Packages) -> None:
    """Neither its class, nor its instance, nor who resolves it can give trust."""
    points = ("brick = brick_kiln:BrickTool", "wall = brick_kiln:wall")
    packages.install("brickworks", "brick_kiln", MODULE, *points)
    registry = ToolRegistry()
    for name in ("brick", "wall"):
        registry.register_packaged(name)
        (tool,) = registry.resolve(Tool(name=name))
        assert tool.trust is False
        with pytest.raises(ConfigurationError, match=f"{name!r} cannot be trusted"):
            registry.resolve(Tool(name=name), trust=True)


@pytest.mark.parametrize("trust", [False, True])
def test_a_package_that_registers_itself_is_not_trusted_either(
    packages: Packages, trust: bool
) -> None:
    """What a module registers while it is imported as a package's tool is the package's."""
    text = f"{MODULE}\nregistry.register('self_made', BrickTool, trust={trust})\n"
    text = f"from tests.typed.registry.test_packages import REGISTRY as registry\n{text}"
    module = f"brick_self_{trust}"
    packages.install("brickworks", module, text, f"wall = {module}:wall")
    if trust:
        with pytest.raises(ConfigurationError, match="cannot be trusted, since the package brick"):
            REGISTRY.register_packaged("wall")
        assert REGISTRY.names() == []
        return
    REGISTRY.register_packaged("wall")
    try:
        with pytest.raises(ConfigurationError, match="'self_made' cannot be trusted"):
            REGISTRY.resolve(Tool(name="self_made"), trust=True)
    finally:
        for name in REGISTRY.names():
            REGISTRY.unregister(name)


def test_of_two_packages_one_is_named(packages: Packages) -> None:
    """Two packages with a tool of one name are both told, and one can be chosen."""
    packages.install("brickworks", "brick_one", MODULE, "brick = brick_one:BrickTool")
    packages.install("masons", "brick_two", MODULE, "brick = brick_two:BrickTool")
    registry = ToolRegistry()
    with pytest.raises(ConfigurationError, match=r"brickworks 1.5 .* and the package masons 1.5"):
        registry.register_packaged("brick")
    assert "brick_one" not in sys.modules
    registry.register_packaged("brick", package="masons")
    (tool,) = registry.resolve(Tool(name="brick"))
    assert type(tool).__module__ == "brick_two"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("brock", r"no installed package offers a tool 'brock'; did you mean 'brick'\?"),
        ("torn", "the tool 'torn' of the package brickworks 1.5 .* cannot be imported"),
        ("number", "'number' cannot be registered as 3"),
    ],
)
def test_a_tool_that_is_none_is_an_error(packages: Packages, name: str, told: str) -> None:
    """A typo, a broken package and an object that is no tool each say what is wrong."""
    text = f"{MODULE}\nthree = 3\n"
    points = ("brick = brick_odd:BrickTool", "torn = brick_odd:nothing", "number = brick_odd:three")
    packages.install("brickworks", "brick_odd", text, *points)
    registry = ToolRegistry()
    with pytest.raises(ConfigurationError, match=told):
        registry.register_packaged(name)
    assert registry.names() == []


REGISTRY = ToolRegistry()
