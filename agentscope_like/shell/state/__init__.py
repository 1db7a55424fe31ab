"""The shell state between two commands: variables, working directory and functions."""

from __future__ import annotations

from agentscope_like.shell.state.environment import exported_doubt, own_doubt, special_parameter
from agentscope_like.shell.state.script_mutations import fixes, mutations
from agentscope_like.shell.state.state import (
    State,
    absolute,
    after_cd,
    joined,
    known_parameters,
    merge,
    walked,
    widened,
)

__all__ = [
    "State",
    "absolute",
    "after_cd",
    "exported_doubt",
    "fixes",
    "joined",
    "known_parameters",
    "merge",
    "mutations",
    "own_doubt",
    "special_parameter",
    "walked",
    "widened",
]
