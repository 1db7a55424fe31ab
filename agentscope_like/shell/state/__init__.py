"""The shell state between two commands: variables, working directory and functions."""

from __future__ import annotations

from agentscope_like.shell.state.environment import exported_doubt, own_doubt, special_parameter
from agentscope_like.shell.state.script_mutations import fixes, mutations
from agentscope_like.shell.state.state import (
    UNKNOWN_PARAMETERS,
    Parameters,
    State,
    absolute,
    after_cd,
    are_counted,
    joined,
    known_parameters,
    merge,
    parameters_after,
    parameters_of_calls,
    walked,
    widened,
    without_parameters,
)

__all__ = [
    "UNKNOWN_PARAMETERS",
    "Parameters",
    "State",
    "absolute",
    "after_cd",
    "are_counted",
    "exported_doubt",
    "fixes",
    "joined",
    "known_parameters",
    "merge",
    "mutations",
    "own_doubt",
    "parameters_after",
    "parameters_of_calls",
    "special_parameter",
    "walked",
    "widened",
    "without_parameters",
]
