"""The document "Tool System" (seed 004): `execute_bash`."""

from __future__ import annotations

from pathlib import Path

from agentscope_like.typed.tools.terminal import BashTool, TerminalTool
from tests.seed.kit import decide


async def test_004_46_execute_bash_is_made_by_a_factory(tmp_path: Path) -> None:
    """It works where it is told to, and is decided as Bash is."""
    (tool,) = BashTool.create(working_dir=tmp_path)
    assert (tool.name, isinstance(tool, TerminalTool)) == ("execute_bash", True)
    assert (await decide(tool, work=tmp_path, command="ls")).behavior == "allow"
    assert (await decide(tool, work=tmp_path, command="rm -r x")).behavior == "ask"
    tool.close()


def test_004_47_its_hints_are_those_of_the_document() -> None:
    """It changes things, cannot be repeated without harm, and reaches outside."""
    (tool,) = BashTool.create()
    hints = tool.annotations
    assert hints is not None
    assert (hints.readOnlyHint, hints.idempotentHint, hints.openWorldHint) == (False, False, True)
    tool.close()
