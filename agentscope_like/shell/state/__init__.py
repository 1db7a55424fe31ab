"""The shell state between two commands: variables, working directory and functions."""

from __future__ import annotations

from agentscope_like.shell.state.environment import exported_doubt, own_doubt, special_parameter
from agentscope_like.shell.state.script_mutations import fixes, mutations
from agentscope_like.shell.state.state import (
    Parameters,
    State,
    absolute,
    after_cd,
    joined,
    known_parameters,
    merge,
    names_in_parameters,
    parameters_after,
    parameters_of_calls,
    walked,
    widened,
    without_parameters,
)

__all__ = [
    "Parameters",
    "State",
    "absolute",
    "after_cd",
    "exported_doubt",
    "fixes",
    "joined",
    "known_parameters",
    "merge",
    "mutations",
    "names_in_parameters",
    "own_doubt",
    "parameters_after",
    "parameters_of_calls",
    "special_parameter",
    "walked",
    "widened",
    "without_parameters",
]
