"""Reads the arguments of a program by its grammar, and the scripts of sed, awk and others."""

from __future__ import annotations

from agentscope_like.shell.arguments.argument_reader import read_arguments
from agentscope_like.shell.arguments.argument_roles import ArgumentReading, Item
from agentscope_like.shell.arguments.test_operators import check_condition, check_test
from agentscope_like.shell.arguments.wrapper_arguments import ends_in_time, fed_arguments

__all__ = [
    "ArgumentReading",
    "Item",
    "check_condition",
    "check_test",
    "ends_in_time",
    "fed_arguments",
    "read_arguments",
]
