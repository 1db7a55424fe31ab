"""A second parser that has to find the same commands before anything is proven of a text.

It is opt-in, `Bash(second_reader="bashlex")`, and can only tighten: where it reads a text
otherwise, cannot read it, or does not answer, nothing is proven.
"""

from __future__ import annotations

from agentscope_like.tool.builtin.second_reader.reader import SecondReader, SecondReaderName

__all__ = ["SecondReader", "SecondReaderName"]
