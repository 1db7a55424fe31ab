"""Defines `dice.roll`, the tool that rolls dice."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, ClassVar

from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.tool.builtin.chance.formula import MOST_CHARACTERS, DiceFormula
from agentscope_like.tool.builtin.own_state_tool import OwnStateTool, json_result

__all__ = ["DiceRoll"]


class DiceRoll(OwnStateTool):
    """Rolls dice (seed 001, "dice.roll"); an agent has it only where a program gives it.

    Args:
        randomness: Where the numbers come from; by default the system. With `random.Random(1)`,
            each run rolls the same.
        middlewares: Layers around `call`.
    """

    name = "dice.roll"
    description = (
        "Roll dice, where the task needs chance. formula: `d6`, `1d20`, `3d6+4`, `2d10-1`, or `20` "
        "for `1d20`. The same formula gives another result each time."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "formula": {
                "type": "string",
                "minLength": 1,
                "maxLength": MOST_CHARACTERS,
                "description": "The dice, without blanks, such as `3d6+4`.",
            }
        },
        "required": ["formula"],
    }
    is_idempotent = False
    allowed_because = "It rolls dice."

    def __init__(
        self,
        randomness: random.Random | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self._randomness = randomness or random.SystemRandom()

    async def call(self, formula: str) -> ToolChunk:
        """Return each roll and their sum, and what was possible."""
        dice = DiceFormula.read(formula)
        rolls = [self._randomness.randint(1, dice.sides) for _ in range(dice.count)]
        return json_result(
            {
                "formula": str(dice),
                "rolls": rolls,
                "modifier": dice.modifier,
                "total": sum(rolls) + dice.modifier,
                "min": dice.count + dice.modifier,
                "max": dice.count * dice.sides + dice.modifier,
            }
        )
