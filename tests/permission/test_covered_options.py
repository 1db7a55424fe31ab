"""An allow rule that ends with `:*` covers the options that only say how much is told or done."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.permission.kit import Place, decide, make_place

TABLE: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("covered_options.toml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return a project without files."""
    return make_place(tmp_path_factory.mktemp("place"))


@pytest.mark.parametrize("words", TABLE)
def test_a_rule_covers_options_that_choose_nothing(words: str, place: Place) -> None:
    """Each option of the table, with its value in the same word and in the next; no other one."""
    rules = [f"allow {words}:*"]
    for option in TABLE[words].split():
        for text in (option, f"{option}1", f"{option[:-1]} 1") if option[-1] == "=" else (option,):
            if option.startswith("--") or not text.endswith("=1"):
                command = f"{words} {text.removesuffix('=')}"
                assert decide(command, place, rules=rules).behavior.value == "allow", command
    for option in ("--evil-config=x", "--evil-exec x", "--evil-plugin"):
        command = f"{words} {option}"
        assert decide(command, place, rules=rules).behavior.value == "ask", command


JOINED = """
git branch --abbrev | git tag --column | git format-patch --color
"""


@pytest.mark.parametrize("command", JOINED.strip().split(" | "))
def test_a_value_that_has_to_be_joined_is_not_the_next_word(command: str, place: Place) -> None:
    """What follows such an option is a word of its own, which may be a setting."""
    rules = [f"allow {command.rpartition(' ')[0]}:*"]
    assert decide(f"{command} x", place, rules=rules).behavior.value == "allow"
    assert decide(f"{command} x=y", place, rules=rules).behavior.value == "ask"


ASKED = """
addon agent allow arg auth backend base bin browser build bundle cache call cert chdir checkout
class cmd code command compiler conf config connect context cookie copy cred cwd data debugger
define delete dest dir disable dispatch download driver endpoint engine entry env eval exec
execute export ext external file filter fix flags folder force format from global handler header
home hook host http ignore image import in include index ini init inject input insecure inspect
install interpreter isolated js key launcher lib link linker listen load loader local locale
location log manifest map method mirror mode module mount net no node open option opts origin out
output override pager password patch path pipe plugin port post pre prefix preload preset profile
program project prompt protocol proxy publish push py python rc read receive recipe recursive
redirect reference registry remote remove repo repository report require resolve resource root
rule rules run runner save script send server service set settings setup shell sh skip socket
source spec src ssh ssl start state stdin store sudo sync sys system tar target task tee template
temp text tls tmp token tool toolchain trace transform trust trusted unit unsafe unsandboxed
update upload uri url use user util var vendor verify volume wasm web work workdir workspace
wrapper write xargs yaml
"""


@pytest.mark.parametrize("piece", ASKED.split())
def test_an_option_of_an_unknown_program_is_covered_unless_its_name_tells_more(
    piece: str, place: Place
) -> None:
    """A name that has such a piece, with others before it or behind it, may choose anything."""
    for name in (piece, f"x-{piece}", f"{piece}-x", f"{piece}=x", piece.upper()):
        found = decide(f"no-such-tool --{name}", place, rules=["allow no-such-tool:*"])
        assert found.behavior.value == "ask", name


BEGINNINGS = "disp contex down expo impo insp prel prof resou upl rcs dot-testrc"


def test_an_option_of_an_unknown_program_may_be_cut_short(place: Place) -> None:
    """What may begin such a piece, or ends as the names of settings do, is not covered."""
    rules = ["allow no-such-tool:*"]
    found = {
        name: decide(f"no-such-tool --{name}", place, rules=rules).behavior.value
        for name in (*BEGINNINGS.split(), "di", "pl", "dot-test")
    }
    covered = {name for name, behavior in found.items() if behavior == "allow"}
    assert covered == {"rcs", "di", "pl", "dot-test"}


@pytest.mark.parametrize("name", ["level", "level=3", "slow", "x-y"])
def test_an_option_of_an_unknown_program_with_a_plain_name_is_covered(
    name: str, place: Place
) -> None:
    """What tells of nothing but how much is done needs no rule of its own."""
    found = decide(f"no-such-tool --{name}", place, rules=["allow no-such-tool:*"])
    assert found.behavior.value == "allow"
