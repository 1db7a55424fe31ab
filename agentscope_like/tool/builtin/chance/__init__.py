"""Provides the tool that rolls dice."""

from agentscope_like.tool.builtin.chance.dice_roll import DiceRoll
from agentscope_like.tool.builtin.chance.formula import DiceFormula

__all__ = ["DiceFormula", "DiceRoll"]
