"""Reads formulae of dice such as `3d6+4`."""

from __future__ import annotations

import re

from msgspec import Struct

from agentscope_like.exception import RecoverableToolError

__all__ = ["MOST_CHARACTERS", "DiceFormula"]

MOST_CHARACTERS = 32
MOST_DICE = 100
MOST_SIDES = 1_000_000
MOST_MODIFIER = 1_000_000

_FORMULA = re.compile(
    r"(?:(?P<count>[0-9]*)d(?P<sides>[0-9]+)(?P<modifier>[+-][0-9]+)?|(?P<plain>[0-9]+))",
    re.IGNORECASE,
)
_FORMS = "write d6, 1d20, 3d6+4, 2d10-1, or 20 for 1d20"


class DiceFormula(Struct, frozen=True):
    """Some dice of one kind, and a number that is added to their sum.

    Attributes:
        count: How many dice.
        sides: How many sides each has.
        modifier: The number.
    """

    count: int
    sides: int
    modifier: int = 0

    @classmethod
    def read(cls, text: str) -> DiceFormula:
        """Return what a formula says.

        Raises:
            RecoverableToolError: It is no formula, or over a limit.
        """
        found = _FORMULA.fullmatch(text)
        if found is None or len(text) > MOST_CHARACTERS:
            raise _refusal(f"{text[:MOST_CHARACTERS]!r} is no formula of dice: {_FORMS}.")
        numbers = found.groupdict()
        for name in ("count", "sides", "modifier", "plain"):
            digits = (numbers[name] or "").lstrip("+-")
            if len(digits) > 1 and digits[0] == "0":
                raise _refusal(f"{digits!r} begins with 0: write the number without it.")
        formula = cls(
            int(numbers["count"] or 1),
            int(numbers["sides"] or numbers["plain"]),
            int(numbers["modifier"] or 0),
        )
        for what, value, least, most in (
            ("dice", formula.count, 1, MOST_DICE),
            ("sides", formula.sides, 1, MOST_SIDES),
            ("added", abs(formula.modifier), 0, MOST_MODIFIER),
        ):
            if not least <= value <= most:
                raise _refusal(f"{value:,} {what} are not between {least:,} and {most:,}.")
        return formula

    def __str__(self) -> str:
        modifier = f"{self.modifier:+}" if self.modifier else ""
        return f"{self.count}d{self.sides}{modifier}"


def _refusal(message: str) -> RecoverableToolError:
    return RecoverableToolError("dice.invalid_formula", message)
