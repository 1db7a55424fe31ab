"""A variable that names files to a program is asked about if they are in the project."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.permission.kit import decide, make_place

TABLE: dict[str, str] = tomllib.loads(
    Path(__file__).with_name("steering_variables.toml").read_text("utf-8")
)


@pytest.mark.parametrize("command", TABLE)
def test_a_variable_that_leads_into_the_project_is_asked_about(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them, and none of them where it leads elsewhere or is not set."""
    place = make_place(tmp_path)
    for name in TABLE[command].split():
        assert decide(command, place).behavior.value == "allow"
        monkeypatch.setenv(name, "/usr/share/nothing")
        assert decide(command, place).behavior.value == "allow", name
        monkeypatch.setenv(name, str(place.work / "evil"))
        assert decide(command, place).behavior.value == "ask", name
        monkeypatch.delenv(name)
