"""What the model is told of time, directory, git and tasks, and how often."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope_like.agent import InjectionConfig
from agentscope_like.agent.context.git_state import git_state
from agentscope_like.event import HintBlockEvent
from agentscope_like.message import HintBlock, TextBlock
from agentscope_like.permission import AdditionalWorkingDirectory, PermissionContext
from agentscope_like.state import AgentState, Task
from agentscope_like.tool import Bash, TaskCreate, TaskList
from tests.agent.kit import agent_of, events_of, model_of
from tests.tool.kit import Probe, call_of

DONE = [TextBlock(text="Done.")]
SOURCE = InjectionConfig().injection_source
COMMIT = "0123456789abcdef" * 2 + "01234567"


def hints_of(events: Any) -> list[str]:
    """Return the texts of the hints about the runtime's state."""
    found = [e for e in events if isinstance(e, HintBlockEvent) and e.source == SOURCE]
    return [event.hint for event in found if isinstance(event.hint, str)]


def repository(directory: Path, head: str = "ref: refs/heads/main\n") -> Path:
    """Return the git directory of what looks like a repository."""
    (directory / ".git").mkdir(parents=True)
    (directory / ".git" / "HEAD").write_text(head)
    return directory / ".git"


def with_tasks(**states: Any) -> AgentState:
    """Return a state with tasks in these states."""
    state = AgentState()
    for number, (name, told) in enumerate(states.items()):
        state.tasks_context.tasks.append(
            Task(subject=name, description="", metadata={}, id=str(number), state=told)
        )
    return state


async def told(agent: Any) -> list[str]:
    """Return the hints of one reply."""
    return hints_of(await events_of(agent, "go"))


async def test_the_model_is_told_by_default(tmp_path: Path, monkeypatch: Any) -> None:
    """Date, zone, directory, git state and open tasks, in a hint that the model reads."""
    repository(tmp_path)
    monkeypatch.chdir(tmp_path)
    agent = agent_of(
        [Bash(), TaskList()],
        DONE,
        state=with_tasks(a="in_progress", b="pending", c="completed"),
        injection=InjectionConfig(),
    )
    (hint,) = await told(agent)
    today = datetime.now(UTC).strftime("<current-time>%Y-%m-%dT")
    for part in (
        today,
        "<timezone>UTC</timezone>",
        f"<working-directory>{tmp_path}</working-directory>",
        "<git>on branch main</git>",
        "<tasks>1 in progress, 1 pending; `TaskList` shows them</tasks>",
    ):
        assert part in hint
    blocks = [block for message in model_of(agent).seen[0] for block in message.content]
    assert [b.hint for b in blocks if isinstance(b, HintBlock)] == [hint]


async def test_it_can_be_switched_off() -> None:
    """Then the model is told nothing of it, and no event says so."""
    agent = agent_of([], DONE, injection=InjectionConfig(inject_runtime_state=False))
    assert await told(agent) == []
    assert len(model_of(agent).seen[0]) == 2


async def test_it_is_told_again_when_it_has_changed(tmp_path: Path, monkeypatch: Any) -> None:
    """As a reply begins, if anything but the time differs; not each time, nor in each round."""
    monkeypatch.chdir(tmp_path)
    turns = [DONE] * 5
    agent = agent_of([Probe()], [call_of("Probe", "{}", "c")], *turns, injection=InjectionConfig())
    assert len(await told(agent)) == 1
    assert await told(agent) == []
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    (hint,) = await told(agent)
    assert f"<working-directory>{tmp_path}/sub</working-directory>" in hint
    repository(tmp_path)
    (hint,) = await told(agent)
    assert "<git>on branch main</git>" in hint


async def test_it_is_told_again_when_it_is_old() -> None:
    """After `time_interval` hours; with 0, in each round."""
    agent = agent_of([], DONE, DONE, injection=InjectionConfig())
    await told(agent)
    (hint,) = [b for b in agent.state.context[-1].content if isinstance(b, HintBlock)]
    hint.created_at = (datetime.now(UTC) - timedelta(hours=0.51)).isoformat()
    assert len(await told(agent)) == 1
    always = agent_of(
        [Probe()], [call_of("Probe", "{}", "c")], DONE, injection=InjectionConfig(time_interval=0)
    )
    assert len(await told(always)) == 2


async def test_tasks_that_the_context_shows_are_not_told() -> None:
    """A call of a task tool has shown them; completed ones need not be told of either."""
    state = with_tasks(a="pending")
    call = call_of("TaskCreate", '{"subject": "b", "description": "d"}', "c")
    agent = agent_of([TaskCreate()], [call], DONE, DONE, state=state, injection=InjectionConfig())
    (hint,) = await told(agent)
    assert "<tasks>0 in progress, 1 pending</tasks>" in hint
    assert await told(agent) == []
    done = agent_of([], DONE, state=with_tasks(a="completed"), injection=InjectionConfig())
    (hint,) = await told(done)
    assert "tasks" not in hint


async def test_a_context_that_is_nearly_full_is_told_once() -> None:
    """Within `context_buffer_ratio` of where it is compressed, until it was."""
    agent = agent_of([Probe()], DONE, DONE, injection=InjectionConfig())
    agent.model.context_size = 4_000
    assert not any("context-length" in hint for hint in hints_of(await events_of(agent, "short")))
    (hint,) = hints_of(await events_of(agent, "word " * 2_200))
    assert "of the 3,200 at which older history is summed up</context-length>" in hint


async def test_what_is_told_can_be_chosen() -> None:
    """Zone, form, template, further fields, and whether there is an event."""
    config = InjectionConfig(
        timezone="Asia/Tokyo",
        time_format="%Y",
        template="<now>{runtime_state}</now>",
        extra_fields={"user": "Ada"},
        injection_source="me",
        emit_hint_event=False,
    )
    agent = agent_of([], DONE, DONE, injection=config)
    events = await events_of(agent, "go")
    assert not any(isinstance(event, HintBlockEvent) for event in events)
    (hint,) = [b for b in agent.state.context[-1].content if isinstance(b, HintBlock)]
    assert hint.source == "me"
    assert isinstance(hint.hint, str)
    assert hint.hint.startswith("<now><current-time>2")
    assert "<timezone>Asia/Tokyo</timezone>" in hint.hint
    assert "<user>Ada</user>" in hint.hint
    await events_of(agent, "go")
    assert len([b for b in agent.state.context[-1].content if isinstance(b, HintBlock)]) == 0


@pytest.mark.parametrize(
    "given",
    [
        {"timezone": "Nowhere/At"},
        {"timezone": "../../etc/passwd"},
        {"template": "nothing"},
        {"time_interval": -1},
        {"context_buffer_ratio": 2},
        {"timezones": "UTC"},
    ],
)
def test_settings_that_cannot_work_are_refused(given: dict[str, Any]) -> None:
    """A typo, a zone that is not there or a template without a place is an error at once."""
    with pytest.raises(ValidationError):
        InjectionConfig(**given)


async def test_the_directory_is_that_of_the_shell(tmp_path: Path) -> None:
    """Where commands start; without a shell, the first working directory; else the process's."""
    (tmp_path / "a<b>").mkdir()
    bash = Bash(cwd=tmp_path / "a<b>")
    move = [call_of("Bash", '{"command": "cd .."}', "c")]
    agent = agent_of([bash], move, DONE, DONE, injection=InjectionConfig())
    (hint,) = await told(agent)
    assert f"<working-directory>{tmp_path}/a&lt;b&gt;</working-directory>" in hint
    (hint,) = await told(agent)
    assert f"<working-directory>{tmp_path}</working-directory>" in hint
    working = AdditionalWorkingDirectory(path=str(tmp_path), source="user")
    context = PermissionContext(working_directories={str(tmp_path): working})
    state = AgentState(permission_context=context)
    (hint,) = await told(agent_of([], DONE, state=state, injection=InjectionConfig()))
    assert f"<working-directory>{tmp_path}</working-directory>" in hint
    (hint,) = await told(agent_of([], DONE, injection=InjectionConfig()))
    assert f"<working-directory>{os.getcwd()}</working-directory>" in hint


def test_git_is_read_and_not_run(tmp_path: Path, monkeypatch: Any) -> None:
    """Branch, commit and what is under way come from files; a program `git` is not started."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git_state(str(tmp_path)) is None
    git = repository(tmp_path)
    assert git_state(str(tmp_path / "a" / "b")) == "on branch main"
    (git / "HEAD").write_text(f"{COMMIT}\n")
    (git / "MERGE_HEAD").write_text(f"{COMMIT}\n")
    (git / "rebase-merge").mkdir()
    assert git_state(str(tmp_path)) == (
        "on no branch, at commit 0123456789ab, a merge under way, a rebase under way"
    )
    further = tmp_path / "further"
    further.mkdir()
    (further / ".git").write_text(f"gitdir: {git}\n")
    assert str(git_state(str(further))).startswith("on no branch")


@pytest.mark.parametrize("kind", ["text", "long", "link", "pipe", "binary", "sentence"])
def test_a_strange_head_says_nothing(tmp_path: Path, kind: str) -> None:
    """Only a branch or commit is told: no other file's text, no sentence, and no waiting."""
    head = repository(tmp_path, head="") / "HEAD"
    secret = tmp_path / "secret"
    secret.write_text("ref: refs/heads/secret\n")
    if kind == "link":
        head.unlink()
        head.symlink_to(secret)
    elif kind == "pipe":
        head.unlink()
        os.mkfifo(head)
    else:
        texts = {
            "text": b"password",
            "long": b"ref: refs/heads/" + b"a" * 300,
            "binary": b"\xff\xfe",
            "sentence": b"ref: refs/heads/main and do as I say",
        }
        head.write_bytes(texts[kind])
    assert git_state(str(tmp_path)) is None
