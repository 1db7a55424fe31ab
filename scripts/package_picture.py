"""Draws docs/assets/packages.svg: the packages in rows, and which of them imports which.

The imports are read from the code. An arrow that follows from others is left out: where `tool`
imports `shell` and `permission`, and `permission` imports `shell`, only the arrows to and from
`permission` are drawn. Single modules and imports for type checkers are left out as well.

    python scripts/package_picture.py [FILE]
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

__all__ = ["draw", "main", "package_imports"]

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "agentscope_like"
PICTURE = ROOT / "docs" / "assets" / "packages.svg"

WIDTH, ROW, BOX, LINE, HEIGHT = 760, 74, 124, 30, 34
SWEEPS = 12
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="monospace"
  font-size="14" text-anchor="middle">
<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0 0L8 4L0 8z" fill="#678"/></marker>
<rect width="{width}" height="{height}" fill="#fff"/>"""

Graph = Mapping[str, frozenset[str]]
Rows = list[list[tuple[str, ...]]]
"""From top to bottom; a package is `(name,)`, an arrow that passes by is `(from, to)`."""


def package_imports(root: Path = PACKAGE) -> dict[str, frozenset[str]]:
    """Return which packages each package imports."""
    names = {each.parent.name for each in root.glob("*/__init__.py")}
    found: dict[str, set[str]] = {name: set() for name in names}
    for name in names:
        for file in sorted((root / name).rglob("*.py")):
            for module in _imported(ast.parse(file.read_text("utf-8")).body):
                top, _, rest = module.partition(".")
                if top == root.name:
                    found[name].add(rest.partition(".")[0])
    return {name: frozenset(found[name] & names - {name}) for name in sorted(names)}


def _imported(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the modules that these statements import when they run."""
    for statement in statements:
        if isinstance(statement, ast.Import):
            yield from (each.name for each in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield from (f"{statement.module}.{each.name}" for each in statement.names)
        elif isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from _imported(statement.orelse)
        else:
            yield from _imported(ast.iter_child_nodes(statement))


def _below(graph: Graph, name: str) -> set[str]:
    """Return all that a package imports, also by way of others."""
    return set(graph[name]).union(*(_below(graph, each) for each in graph[name]))


def _reduced(graph: Graph) -> dict[str, list[str]]:
    """Return the imports that do not follow from others."""
    return {
        name: sorted(graph[name].difference(*(_below(graph, each) for each in graph[name])))
        for name in graph
    }


def _heights(graph: Graph, order: Sequence[str], arrows: Mapping[str, list[str]]) -> dict[str, int]:
    """Return how many rows each package stands above the lowest; above all that it imports."""
    height: dict[str, int] = {}
    for name in order:
        height[name] = 1 + max((height[each] for each in graph[name]), default=-1)
    for name in reversed(order):  # what hardly imports anything stands below what imports it
        users = [height[user] for user in graph if name in arrows[user]]
        if len(users) >= max(len(arrows[name]), 1):
            height[name] = min(users) - 1
    return height


def _rows(height: Mapping[str, int], arrows: Mapping[str, list[str]]) -> Rows:
    """Return the rows, each in an order in which few arrows cross."""
    rows: Rows = [[] for _ in range(max(height.values()) + 1)]
    links: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for name in sorted(height):
        rows[height[name]].append((name,))
        for target in arrows[name]:
            passed = range(height[name] - 1, height[target], -1)
            for level in passed:
                rows[level].append((name, target))
            ends: list[tuple[str, ...]] = [(name, target)] if passed else [(target,), (name,)]
            links.setdefault((name,), []).append(ends[0])
            links.setdefault((target,), []).append(ends[-1])
            links.setdefault((name, target), []).extend([(name,), (target,), (name, target)])
    rows.reverse()
    for sweep in range(SWEEPS):
        for upper, row in pairwise(rows if sweep % 2 == 0 else rows[::-1]):
            place = {item: number / len(upper) for number, item in enumerate(upper)}
            near = {item: [place[e] for e in links.get(item, ()) if e in place] for item in row}
            row.sort(key=lambda item: sum(near[item]) / max(len(near[item]), 1))
    return rows


def _places(rows: Rows) -> dict[tuple[int, tuple[str, ...]], tuple[float, float]]:
    """Return the centre of each item of each row."""
    places = {}
    for number, row in enumerate(rows):
        widths = [BOX if len(item) == 1 else LINE for item in row]
        gap = (WIDTH - sum(widths)) / (len(row) + 1)
        x = gap
        for item, width in zip(row, widths, strict=True):
            places[number, item] = x + width / 2, number * ROW + ROW / 2
            x += width + gap
    return places


def draw(graph: Graph) -> str:
    """Return the picture as SVG.

    Raises:
        graphlib.CycleError: Packages import each other in a circle.
    """
    order = list(TopologicalSorter(graph).static_order())
    arrows = _reduced(graph)
    rows = _rows(_heights(graph, order, arrows), arrows)
    places = _places(rows)
    level = {item[0]: number for number, row in enumerate(rows) for item in row if len(item) == 1}
    lines = [HEAD.format(height=len(rows) * ROW, width=WIDTH)]
    for name, targets in arrows.items():
        for target in targets:
            x, y = places[level[name], (name,)]
            path = f"M{x:.0f} {y + HEIGHT / 2:.0f}"
            for passed in range(level[name] + 1, level[target]):
                x, y = places[passed, (name, target)]
                path += f"L{x:.0f} {y - HEIGHT / 2:.0f}V{y + HEIGHT / 2:.0f}"
            x, y = places[level[target], (target,)]
            path += f"L{x:.0f} {y - HEIGHT / 2:.0f}"
            lines.append(f'<path d="{path}" fill="none" stroke="#678" marker-end="url(#tip)"/>')
    for name, number in level.items():
        x, y = places[number, (name,)]
        corner = f'x="{x - BOX / 2:.0f}" y="{y - HEIGHT / 2:.0f}"'
        size = f'width="{BOX}" height="{HEIGHT}" rx="5"'
        lines.append(f'<rect {corner} {size} fill="#e6f2f1" stroke="#00796b"/>')
        lines.append(f'<text x="{x:.0f}" y="{y + 5:.0f}">{name}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description="Draw which package imports which, as SVG.")
    parser.add_argument("file", nargs="?", type=Path, default=PICTURE, metavar="FILE")
    target: Path = parser.parse_args().file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(draw(package_imports()), encoding="utf-8")


if __name__ == "__main__":
    main()
