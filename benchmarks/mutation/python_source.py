"""Mutants of a Python module: conditions, comparisons, returns, statements and tables.

Messages, annotations, docstrings and `__all__` are left alone: what they say decides nothing. So
are changes that could only end in a `TypeError`; they would flatter the score.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import TypeAlias

from benchmarks.mutation.expressions import changed_expressions
from benchmarks.mutation.mutant import Mutant

__all__ = ["python_mutants"]

Change: TypeAlias = tuple[str, ast.expr | str]
"""The name of an operator, and what takes the place of the node."""

_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_OTHER_CALLS = {
    "all": "any",
    "any": "all",
    "min": "max",
    "max": "min",
    "fullmatch": "match",
    "match": "search",
    "startswith": "endswith",
    "endswith": "startswith",
    "partition": "rpartition",
    "rpartition": "partition",
}
_NORMALIZERS = frozenset({"lower", "casefold", "strip", "lstrip", "rstrip"})
_TEXT_TESTS = frozenset({"startswith", "endswith"})
_UNTOUCHED_NAMES = frozenset({"__all__", "__slots__"})


def python_mutants(file: str, source: bytes) -> Iterator[Mutant]:
    """Yield the mutants of the module `file`."""
    yield from _Module(file, source).mutants()


class _Module:
    """A walk over one module; knows where nodes stand in the file."""

    def __init__(self, file: str, source: bytes) -> None:
        self._file = file
        self._tree = ast.parse(source)
        self._line_starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]
        self._statement = (1, 1)
        self._in_function = False

    def mutants(self) -> Iterator[Mutant]:
        yield from self._block(self._tree.body)

    def _mutant(self, node: ast.expr | ast.stmt, change: Change) -> Mutant:
        operator, new = change
        text = new if isinstance(new, str) else f"({ast.unparse(new)})"
        start = self._line_starts[node.lineno - 1] + node.col_offset
        end_line = node.end_lineno or node.lineno
        end = self._line_starts[end_line - 1] + (node.end_col_offset or 0)
        lines = (self._statement[0], max(self._statement[1], end_line))
        return Mutant(self._file, start, end, text, operator, lines)

    # Statements

    def _block(self, statements: list[ast.stmt], *, removable: bool = True) -> Iterator[Mutant]:
        for statement in statements:
            yield from self._visit_statement(statement, removable=removable)

    def _visit_statement(self, node: ast.stmt, *, removable: bool) -> Iterator[Mutant]:
        self._statement = (node.lineno, node.lineno)
        if removable and _is_removable(node):
            yield self._mutant(node, ("remove statement", "pass"))
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from self._function(node)
            case ast.ClassDef():
                yield from self._block(node.body)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pass
            case ast.If():
                yield from self._condition(node.test)
                yield from self._block(node.body, removable=len(node.body) > 1 or bool(node.orelse))
                yield from self._block(node.orelse)
            case ast.While():
                yield from self._expression(node.test)
                yield from self._block(node.body)
            case ast.For() | ast.AsyncFor():
                yield from self._expression(node.iter)
                yield from self._block(node.body)
                yield from self._block(node.orelse)
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    yield from self._expression(item.context_expr)
                yield from self._block(node.body)
            case ast.Try():
                yield from self._try(node)
            case ast.Match():
                yield from self._match(node)
            case _:
                yield from self._simple(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Mutant]:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                yield from self._expression(default)
        outside, self._in_function = self._in_function, True
        for statement in ast.walk(node):
            if isinstance(statement, ast.Return) and statement.value is not None:
                self._statement = (statement.lineno, statement.lineno)
                for change in _other_returns(node.returns, statement.value):
                    yield self._mutant(statement.value, change)
        yield from self._block(node.body)
        self._in_function = outside

    def _condition(self, test: ast.expr) -> Iterator[Mutant]:
        for constant in ("False", "True"):
            yield self._mutant(test, (f"condition is {constant}", constant))
        yield from self._expression(test)

    def _try(self, node: ast.Try) -> Iterator[Mutant]:
        yield from self._block(node.body)
        for handler in node.handlers:
            yield from self._block(handler.body)
        yield from self._block(node.orelse)
        yield from self._block(node.finalbody)

    def _match(self, node: ast.Match) -> Iterator[Mutant]:
        yield from self._expression(node.subject)
        for case in node.cases:
            if case.guard is not None:
                yield from self._condition(case.guard)
            yield from self._block(case.body)

    def _simple(self, node: ast.stmt) -> Iterator[Mutant]:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in _UNTOUCHED_NAMES:
                pass
            case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
                pass
            case ast.Assign(value=value) | ast.AugAssign(value=value):
                yield from self._expression(value)
            case ast.AnnAssign(value=ast.expr() as value) | ast.Return(value=ast.expr() as value):
                yield from self._expression(value)
            case ast.Expr(value=value) if not isinstance(value, ast.Constant):
                yield from self._expression(value)

    # Expressions

    def _expression(self, node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.JoinedStr):
            return  # a message; and its parts have no true positions before Python 3.12
        if isinstance(node, ast.expr):
            for change in self._changes(node):
                yield self._mutant(node, change)
        for child in ast.iter_child_nodes(node):
            yield from self._expression(child)

    def _changes(self, node: ast.expr) -> Iterator[Change]:
        for kind, changes in _CHANGES.items():
            if isinstance(node, kind):
                yield from changes(node)
        if isinstance(node, ast.Set | ast.Tuple | ast.List) and (
            not self._in_function or isinstance(node, ast.Set)
        ):
            yield from _fewer_elements(node)
        if isinstance(node, ast.Dict) and not self._in_function:
            yield from _fewer_keys(node)


def _is_removable(node: ast.stmt) -> bool:
    match node:
        case ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign():
            return True
        case ast.Return(value=None):
            return True
        case ast.Expr(value=value):
            return isinstance(value, ast.Call | ast.Await | ast.Yield | ast.YieldFrom)
        case ast.Assign(targets=targets):
            return all(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)
    return False


def _other_returns(returns: ast.expr | None, value: ast.expr) -> Iterator[Change]:
    if isinstance(value, ast.Constant):
        return
    annotation = ast.unparse(returns) if returns else ""
    if annotation == "bool":
        yield "negate return", ast.UnaryOp(ast.Not(), value)
    elif annotation.endswith("| None"):
        yield "return None", "None"


def _comparison(node: ast.expr) -> Iterator[Change]:
    assert isinstance(node, ast.Compare)
    for index, operator in enumerate(node.ops):
        if opposite := _OPPOSITES.get(type(operator)):
            ops = [*node.ops[:index], opposite(), *node.ops[index + 1 :]]
            yield "comparison", ast.Compare(node.left, ops, node.comparators)
        operands = [node.left, *node.comparators]
        if isinstance(operator, ast.Eq | ast.NotEq | ast.In | ast.NotIn):
            for at in (index, index + 1):
                if changed := _other_text(operands[at]):
                    new = [*operands[:at], changed, *operands[at + 1 :]]
                    yield "compared text", ast.Compare(new[0], node.ops, new[1:])
    if len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        held = node.comparators[0]
        if isinstance(held, ast.Tuple | ast.List):
            for _, fewer in _fewer_elements(held):
                if isinstance(fewer, ast.expr):
                    yield "remove entry", ast.Compare(node.left, node.ops, [fewer])


def _other_text(node: ast.expr) -> ast.expr | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return ast.Constant(f"XX{node.value}")
    return None


def _bool_operation(node: ast.expr) -> Iterator[Change]:
    assert isinstance(node, ast.BoolOp)
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "and/or", ast.BoolOp(other, node.values)
    for index in range(len(node.values)):
        rest = [*node.values[:index], *node.values[index + 1 :]]
        fewer = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield "remove condition", fewer


def _negation(node: ast.expr) -> Iterator[Change]:
    assert isinstance(node, ast.UnaryOp)
    if isinstance(node.op, ast.Not):
        yield "remove not", node.operand


def _choice(node: ast.expr) -> Iterator[Change]:
    assert isinstance(node, ast.IfExp)
    yield "condition is True", node.body
    yield "condition is False", node.orelse


def _constant(node: ast.expr) -> Iterator[Change]:
    assert isinstance(node, ast.Constant)
    if isinstance(node.value, bool):
        yield "constant", str(not node.value)
    elif isinstance(node.value, int):
        yield "constant", str(node.value + 1)


def _sum(node: ast.expr) -> Iterator[Change]:
    assert isinstance(node, ast.BinOp)
    numbers = any(
        isinstance(side, ast.Constant) and isinstance(side.value, int)
        for side in (node.left, node.right)
    )
    if numbers and isinstance(node.op, ast.Add | ast.Sub):
        other = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        yield "plus/minus", ast.BinOp(node.left, other, node.right)


def _call(node: ast.expr) -> Iterator[Change]:
    assert isinstance(node, ast.Call)
    function = node.func
    if isinstance(function, ast.Name) and (other := _OTHER_CALLS.get(function.id)):
        yield "other function", ast.Call(ast.Name(other), node.args, node.keywords)
    if not isinstance(function, ast.Attribute):
        return
    if other := _OTHER_CALLS.get(function.attr):
        method = ast.Attribute(function.value, other)
        yield "other function", ast.Call(method, node.args, node.keywords)
    if function.attr in _NORMALIZERS:
        yield "remove normalization", function.value
    if function.attr in _TEXT_TESTS and node.args and (changed := _other_text(node.args[0])):
        yield "compared text", ast.Call(function, [changed, *node.args[1:]], [])
    if function.attr == "compile" and node.args:
        pattern = node.args[0]
        if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
            for text in changed_expressions(pattern.value):
                yield "expression", ast.Call(function, [ast.Constant(text), *node.args[1:]], [])


def _comprehension(node: ast.expr) -> Iterator[Change]:
    assert isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp)
    for at, generator in enumerate(node.generators):
        for index in range(len(generator.ifs)):
            rest = [*generator.ifs[:index], *generator.ifs[index + 1 :]]
            fewer = ast.comprehension(
                generator.target, generator.iter, rest, is_async=generator.is_async
            )
            generators = [*node.generators[:at], fewer, *node.generators[at + 1 :]]
            if isinstance(node, ast.DictComp):
                yield "remove condition", ast.DictComp(node.key, node.value, generators)
            else:
                yield "remove condition", type(node)(node.elt, generators)


def _fewer_elements(node: ast.Set | ast.Tuple | ast.List) -> Iterator[Change]:
    for index, element in enumerate(node.elts):
        if isinstance(element, ast.Starred):
            continue
        rest = [*node.elts[:index], *node.elts[index + 1 :]]
        if isinstance(node, ast.Set):
            yield "remove entry", ast.Set(rest)
        else:
            yield "remove entry", type(node)(rest, ast.Load())


def _fewer_keys(node: ast.Dict) -> Iterator[Change]:
    for index in range(len(node.keys)):
        keys = [*node.keys[:index], *node.keys[index + 1 :]]
        values = [*node.values[:index], *node.values[index + 1 :]]
        yield "remove entry", ast.Dict(keys, values)


_CHANGES: dict[type[ast.expr] | tuple[type[ast.expr], ...], Callable[[ast.expr], Iterator[Change]]]
_CHANGES = {
    ast.Compare: _comparison,
    ast.BoolOp: _bool_operation,
    ast.UnaryOp: _negation,
    ast.IfExp: _choice,
    ast.Constant: _constant,
    ast.BinOp: _sum,
    ast.Call: _call,
    (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp): _comprehension,
}
