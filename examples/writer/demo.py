"""Let a writer and a reviewer make a text together: recorded models, and everything else real.

The writer reads the chat and a skill, writes a text and changes it for the worse. It gives the text
to a reviewer, takes the change back by its checkpoint, and commits the text to the chat.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from agentscope_like.agent import Agent, AgentInput
from agentscope_like.conversation import ChatReadMessages, ChatSearch, SQLiteChat
from agentscope_like.delegation import Delegator
from agentscope_like.event import (
    ConfirmResult,
    RequireUserConfirmEvent,
    UserConfirmResultEvent,
)
from agentscope_like.journal import Journal, RecordedRun
from agentscope_like.message import UserMsg
from agentscope_like.model import ScriptedModel
from agentscope_like.permission import PermissionContext
from agentscope_like.profile import Account, Profile
from agentscope_like.runs import AgentRun, Children, RunState
from agentscope_like.skill import Skill
from agentscope_like.state import AgentState
from agentscope_like.tool import Restore, SkillLibrary, SkillRead, ToolBase, Toolkit
from agentscope_like.workspace import RunControl, Workspace, workspace_tools

HERE = Path(__file__).parent
RUN = "run-1"
READING = ("workspace.list_files", "workspace.read_file", "workspace.search_files")
WRITING = ("workspace.write_file", "workspace.apply_patch")

WRITER = Profile.model_validate(
    {
        "id": "writer",
        "runs": "foreground",
        "tools": {
            "allow": [
                *READING,
                *WRITING,
                *("workspace.commit", "workspace.finish", "Restore"),
                *("agent.list", "agent.delegate", "agent.await"),
                *("chat.search", "chat.read_messages", "skill.read"),
            ],
            "maxCallsPerRun": 20,
        },
        "delegation": {"canDelegate": True, "maxDepth": 1},
    }
)
REVIEWER = Profile.model_validate(
    {
        "id": "reviewer",
        "description": "Reads a text and returns concrete issues.",
        "tools": {"allow": [*READING, "workspace.write_file"], "maxCallsPerRun": 5},
        "delegation": {"callable": True, "allowAsSubagent": True, "allowedCallers": ["writer"]},
        "workspace": {"visibleRoots": ["output", "summaries"], "writableRoots": ["summaries"]},
    }
)
STYLE = Skill("style", "How to write.", "", "Write plainly: one thought, one sentence.", 0.0)
RULES = ("agent.delegate(reviewer)", "workspace.commit", "workspace.finish")


def writer(workspace: Workspace, chat: SQLiteChat, journal: Journal) -> AgentRun:
    """Return the run of the writer, which may give tasks to the reviewer."""
    account = Account.of(WRITER.tools, most_characters=WRITER.skills.max_read_chars_per_run)
    control = RunControl(RUN, foreground=True)
    library = SkillLibrary({"global": STYLE}, WRITER.skills, account)
    tools: list[ToolBase] = [
        *workspace_tools(workspace, control, chat),
        ChatSearch(chat),
        ChatReadMessages(chat),
        SkillRead(library),
        Restore(workspace.checkpoints, session_id=RUN, cwd=workspace.directory),
    ]
    context = PermissionContext.from_rules(
        allow=RULES, working_directories=workspace.working_directories
    )
    agent = Agent(
        "writer",
        "You write short texts.",
        ScriptedModel(HERE / "writer.jsonl"),
        Toolkit(tools),
        state=AgentState(permission_context=context),
    )

    def reviewer(profile: Profile, state: AgentState | None, account: Account) -> Agent:
        del account
        shared = workspace.for_child(profile.workspace)
        model = ScriptedModel(HERE / f"{profile.id}.jsonl")
        return Agent(
            profile.id, "You review.", model, Toolkit(workspace_tools(shared)), state=state
        )

    delegator = Delegator.of(WRITER, [WRITER, REVIEWER], account=account)
    agent.middlewares = (Children(delegator, reviewer),)
    return AgentRun(agent, WRITER, account=account, journal=journal, control=control, run_id=RUN)


async def approve(run: AgentRun, question: RequireUserConfirmEvent) -> UserConfirmResultEvent:
    """Show what would be restored, and return a yes."""
    for call in question.tool_calls:
        tool = await run.agent.toolkit.get_tool(call.name)
        print(f"May it run {call.name}? Yes:")
        if isinstance(tool, Restore):
            print(await tool.preview(json.loads(call.input), run.agent.state))
    answers = [ConfirmResult(confirmed=True, tool_call=call) for call in question.tool_calls]
    return UserConfirmResultEvent(reply_id=question.reply_id, confirm_results=answers)


async def follow(run: AgentRun) -> None:
    """Let the run work to its end, and answer its questions."""
    inputs: AgentInput = UserMsg("user", "Write what the chat asks for, and commit it.")
    while inputs is not None:
        question = None
        async for event in run.stream(inputs):
            if isinstance(event, RequireUserConfirmEvent):
                question = event
        inputs = None if question is None else await approve(run, question)


async def work(directory: Path) -> RunState:
    """Run the writer, print what came of it, and return how the run ended."""
    chat = SQLiteChat("story", directory / "chats.db")
    await chat.add("user", "Write one sentence about the dragon above the sea.")
    workspace = Workspace(directory / RUN, run_id=RUN)
    with Journal(workspace.directory) as journal:
        run = writer(workspace, chat, journal)
        await follow(run)
    for call in RecordedRun.read(workspace.directory).calls:
        print(f"{call.outcome.value:8} {call.tool}")
    for task in run.agent.state.children.tasks:
        print(f"{task.agent}: {task.result and task.result['summary']}")
    for checkpoint in reversed(workspace.checkpoints.page()):
        print(f"checkpoint {checkpoint.id}: {Path(checkpoint.paths[0]).name}, {checkpoint.state}")
    print(f"{run.account.calls} calls, {run.state}: {run.error or 'no error'}")
    for message in (await chat.read(range(await chat.count()))).values():
        print(f"{message.role}: {message.text.strip()}")
    return run.state


def main() -> int:
    """Run the demonstration in a directory of its own, and return its exit status."""
    with tempfile.TemporaryDirectory(prefix="agentscope-like-writer-") as directory:
        state = asyncio.run(work(Path(directory)))
    return 0 if state is RunState.COMPLETED else 1


if __name__ == "__main__":
    sys.exit(main())
