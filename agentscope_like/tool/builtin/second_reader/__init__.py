"""A second parser that must find the same commands before a text is proven to be harmless.

It is opt-in, `Bash(second_reader="bashlex")`, and can only tighten: if it parses a text
differently, cannot parse it or does not answer, nothing is proven.
"""

from __future__ import annotations

from agentscope_like.tool.builtin.second_reader.reader import SecondReader, SecondReaderName

__all__ = ["SecondReader", "SecondReaderName"]
