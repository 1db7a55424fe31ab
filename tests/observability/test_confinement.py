"""How a command was confined is told by its span."""

from __future__ import annotations

from pathlib import Path

from agentscope_like.message import ToolCallBlock
from agentscope_like.observability.attributes import confinement_attributes
from agentscope_like.tool import Bash
from tests.agent.kit import events_of
from tests.observability.kit import DONE, attributes, one_span, traced


async def test_a_span_says_how_its_command_was_confined(tmp_path: Path) -> None:
    """Programs that watch tell confined commands from others without reading any output."""
    command = ToolCallBlock(id="c1", name="Bash", input='{"command": "ls"}')
    agent, spans = traced([Bash(cwd=tmp_path, confine="off")], [command], DONE)
    await events_of(agent, "Look.")
    told = attributes(one_span(spans, "execute_tool Bash"))
    assert told["agentscope_like.confinement"] == "off"
    assert "agentscope_like.violation" not in told


def test_a_violation_is_told_by_its_kind() -> None:
    """What a program said, which may be anything, is not among the attributes."""
    violation = {"kind": "write", "evidence": "touch: secret: Read-only file system"}
    told = confinement_attributes({"confinement": "read", "violation": violation})
    assert told == {"agentscope_like.confinement": "read", "agentscope_like.violation": "write"}
    assert confinement_attributes({"exit_code": 0}) == {}
