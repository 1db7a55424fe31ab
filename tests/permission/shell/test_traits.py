"""What programs have in common: `traits.toml` is complete, and a mistake in it is refused."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentscope_like
from agentscope_like.shell import catalog
from agentscope_like.shell.catalog import CatalogError, parse_traits

TEXT = Path(catalog.__file__).with_name("traits.toml").read_text("utf-8")
TRAITS = parse_traits(TEXT)

NAMES_OF_PROGRAMS = (
    *("dangers", "downloads", "command_families", "name_sources", "purposes", "showing"),
    *("views", "secrets"),
)
TABLES = [
    next(Path(agentscope_like.__file__).parent.rglob(f"{name}.toml")) for name in NAMES_OF_PROGRAMS
]
"""The tables that have lines for programs."""

VALID = """
no_grammar = "xcp"
[aliases]
cp = "gcp"
[traits]
copier = "cp xcp"
"""


def test_aliases_have_the_traits_and_the_grammar_of_the_first_name() -> None:
    """`gcp` copies as `cp` does; a name that nobody gave to a program has nothing of it."""
    assert {"cp", "gcp"} <= catalog.programs_with("copier")
    assert "xcp" not in catalog.programs_with("copier")
    grammar, other = catalog.lookup("cp"), catalog.lookup("gcp")
    assert grammar is not None
    assert other is not None
    assert (other.name, other.flags, other.operands) == ("gcp", grammar.flags, grammar.operands)
    assert (catalog.canonical("gcp"), catalog.canonical("xcp")) == ("cp", "xcp")
    assert catalog.lookup("xcp") is None


def test_an_unknown_trait_is_refused_with_the_nearest() -> None:
    """A misspelt trait is an error, and not an empty set that no program is in."""
    with pytest.raises(CatalogError, match="no trait 'copeir'; did you mean 'copier'"):
        catalog.programs_with("copeir")
    assert catalog.programs_with("copier")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("[traits]", "[trait]", "unknown field `trait`; did you mean 'traits'"),
        ("no_grammar =", "no_gramar =", "unknown field `no_gramar`; did you mean 'no_grammar'"),
        ('"cp xcp"', '["cp"]', "Expected `WordSet`, got `list` - at `$.traits[...]`"),
        ('"cp xcp"', '"gcp xcp"', "'gcp' is another name of 'cp'"),
        ('cp = "gcp"', 'cp = "gcp"\nmv = "gcp"', "'gcp' stands there twice"),
        ('cp = "gcp"', 'cp = "gcp"\ngcp = "mycp"', "'gcp' stands there twice"),
        ('[aliases]\ncp = "gcp"', "", "missing required field `aliases`"),
        ('"cp xcp"', "", "Invalid value"),
    ],
)
def test_a_mistake_in_the_table_is_refused(before: str, after: str, message: str) -> None:
    """Each mistake is an error that names it, so that no program loses its traits unseen."""
    assert parse_traits(VALID).programs == {"copier": {"cp", "gcp", "xcp"}}
    with pytest.raises(CatalogError, match=re.escape(message)):
        parse_traits(VALID.replace(before, after))


def test_each_name_with_a_trait_is_in_the_catalog_or_said_not_to_be() -> None:
    """A misspelt program stands in neither list."""
    named = frozenset().union(*TRAITS.programs.values())
    assert named - catalog.names() == TRAITS.no_grammar
    assert set(TRAITS.others) <= catalog.names()


def test_the_gnu_name_of_a_known_program_is_an_alias() -> None:
    """Where the catalog knows `tr` and `gtr`, they are one program; a few names only look so."""
    plain = {name for name in catalog.names() if f"g{name}" in catalog.names()}
    programs = {name for name in plain if catalog.canonical(f"g{name}") != name}
    assert programs == {"cc", "perf", "unzip", "vim", "zcat", "zip"}
    assert {"tr", "sed", "cp"} <= plain - programs


@pytest.mark.parametrize("file", TABLES, ids=lambda file: file.name)
def test_tables_name_programs_by_their_first_names(file: Path) -> None:
    """Tables are asked for the first name, so that a line for another name would never be read."""
    lines = [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")]
    words = {word for line in lines for word in re.split(r"[^\w.+-]+", line)}
    assert words & TRAITS.firsts.keys() == set()
    assert words & catalog.names()


def asked(tree: ast.AST) -> Iterator[str]:
    """Yield the traits that a module asks for."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=arguments):
                if name in ("programs_with", "is_a"):
                    constants = [each for each in arguments if isinstance(each, ast.Constant)]
                    yield from (str(each.value) for each in constants)


def test_each_trait_is_asked_for_and_each_that_is_asked_for_is_there() -> None:
    """A misspelt trait in the code is found without running it, and no trait is left over."""
    package = Path(agentscope_like.__file__).parent
    modules = [ast.parse(file.read_text("utf-8")) for file in package.rglob("*.py")]
    assert {trait for module in modules for trait in asked(module)} == TRAITS.programs.keys()


def test_each_trait_says_what_it_means() -> None:
    """Above each trait stands a comment."""
    lines = TEXT[TEXT.index("[traits]") :].splitlines()
    traits = [at for at, line in enumerate(lines) if re.match(r"\w+ = ", line)]
    assert len(traits) == len(TRAITS.programs)
    assert [lines[at] for at in traits if not lines[at - 1].startswith("# ")] == []
