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
