"""The strict reader: parses the text of a command line into a tree."""

from __future__ import annotations

from agentscope_like.shell.syntax.doubt import Doubt
from agentscope_like.shell.syntax.gate import check_text
from agentscope_like.shell.syntax.lexer import Lexer, ReadError
from agentscope_like.shell.syntax.reader import read
from agentscope_like.shell.syntax.tree import (
    Arithmetic,
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Case,
    Command,
    For,
    Function,
    Glob,
    Group,
    Heredoc,
    If,
    Literal,
    Loop,
    Pipeline,
    Redirect,
    Script,
    Segment,
    SimpleCommand,
    Span,
    Statement,
    Substitution,
    Test,
    Tilde,
    Variable,
    Word,
    nodes,
)
from agentscope_like.shell.syntax.unread_expansions import unread_expansion
from agentscope_like.shell.syntax.words import covered, fails, may_fail, read_let

__all__ = [
    "Arithmetic",
    "ArithmeticCommand",
    "ArithmeticFor",
    "Assignment",
    "Case",
    "Command",
    "Doubt",
    "For",
    "Function",
    "Glob",
    "Group",
    "Heredoc",
    "If",
    "Lexer",
    "Literal",
    "Loop",
    "Pipeline",
    "ReadError",
    "Redirect",
    "Script",
    "Segment",
    "SimpleCommand",
    "Span",
    "Statement",
    "Substitution",
    "Test",
    "Tilde",
    "Variable",
    "Word",
    "check_text",
    "covered",
    "fails",
    "may_fail",
    "nodes",
    "read",
    "read_let",
    "unread_expansion",
]
