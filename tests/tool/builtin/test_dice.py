"""`dice.roll` rolls the dice of a formula, within limits, where it was enabled."""

from __future__ import annotations

import random

import pytest

from agentscope_like.cli.program_tools import TOOL_NAMES
from agentscope_like.message import ToolResultState
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.profile import Account, Profile, ToolPolicy, limited_toolkit
from agentscope_like.state import AgentState
from agentscope_like.tool import DiceRoll, Toolkit
from tests.tool.answers import answer_of, error_of
from tests.tool.kit import call_of, outcome, text_of


@pytest.mark.parametrize(
    ("formula", "read", "least", "most"),
    [
        ("d6", "1d6", 1, 6),
        ("1d20", "1d20", 1, 20),
        ("3d6+4", "3d6+4", 7, 22),
        ("2D10-1", "2d10-1", 1, 19),
        ("20", "1d20", 1, 20),
        ("100d1000000", "100d1000000", 100, 100_000_000),
        ("1d1+1000000", "1d1+1000000", 1_000_001, 1_000_001),
        ("1d6+0", "1d6", 1, 6),
    ],
)
async def test_tt_136_a_formula_is_rolled(formula: str, read: str, least: int, most: int) -> None:
    """In any case of letters; the sum is that of the rolls and the modifier."""
    answer = await answer_of(DiceRoll(), formula=formula)
    assert (answer["formula"], answer["min"], answer["max"]) == (read, least, most)
    assert sum(answer["rolls"]) + answer["modifier"] == answer["total"]
    assert least <= answer["total"] <= most


@pytest.mark.parametrize(
    "formula",
    [
        *("d", "d0", "0d6", "01d6", "d06", "1d6+04", "3 d6", "d6 ", "-1d6", "1d6*2", "1d6+2+3"),
        *("101d6", "d1000001", "d6+1000001", "d6-1000001", "0", "020", "٣d6", "20+1", "1d6\n"),
    ],
)
async def test_tt_136_what_is_no_formula_is_refused(formula: str) -> None:
    """As a recoverable error; numbers over a limit are not lowered to it."""
    code, _ = await error_of(DiceRoll(), formula=formula)
    assert code == "dice.invalid_formula"


async def test_tt_136_a_formula_is_required_and_short() -> None:
    """Neither none, nor the empty one, nor one of many digits."""
    for arguments in ({}, {"formula": ""}, {"formula": "1" * 33}, {"formula": 20}):
        code, text = await error_of(DiceRoll(), **arguments)
        assert code != "dice.invalid_formula"
        assert "formula" in text


async def test_tt_137_it_reads_only_and_rolls_anew_each_time() -> None:
    """Also in a mode that only reads; with the same randomness it rolls the same."""
    tool = DiceRoll(random.Random(7))
    assert tool.is_read_only
    assert not tool.is_idempotent
    first, second = [await answer_of(tool, formula="10d1000") for _ in range(2)]
    assert first["rolls"] != second["rolls"]
    again = DiceRoll(random.Random(7))
    assert await answer_of(again, formula="10d1000") == first
    state = AgentState(permission_context=PermissionContext(mode=PermissionMode.EXPLORE))
    response = await outcome(Toolkit([tool]), call_of("dice.roll", '{"formula": "d6"}'), state)
    assert "total" in text_of(response)


@pytest.mark.parametrize(
    ("allow", "state"),
    [((), ToolResultState.ERROR), (("dice.roll",), ToolResultState.SUCCESS)],
)
async def test_tt_138_it_is_there_only_where_it_was_enabled(
    allow: tuple[str, ...], state: ToolResultState
) -> None:
    """By a profile that names it; neither a plain profile nor the terminal program has it."""
    assert "DiceRoll" not in TOOL_NAMES
    assert not Profile(id="writer").sees("dice.roll")
    profile = Profile(id="player", tools=ToolPolicy(allow=allow))
    toolkit = limited_toolkit(Toolkit([DiceRoll()]), profile, Account.of(profile.tools))
    assert len(await toolkit.get_tool_schemas()) == len(allow)
    response = await outcome(toolkit, call_of("dice_roll", '{"formula": "d6"}'), AgentState())
    assert response is not None
    assert response.state is state
