"""A profile says what an agent sees, may use and may spend; a mistake in it is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.exception import ConfigurationError
from agentscope_like.profile import Profile, ProfileError, ToolNames, model_name

TOOLS = (
    *("agent.list", "agent.delegate", "agent.await", "chat.search", "skill.read", "task.return"),
    *("workspace.read_file", "workspace.write_file", "workspace.commit", "workspace.finish"),
)


def _profile(**given: Any) -> Profile:
    return Profile.model_validate({"id": "writer", **given})


def _load(tmp_path: Path, text: str) -> Profile:
    path = tmp_path / "writer.json"
    path.write_text(text)
    return Profile.load(path)


def test_a_file_says_what_an_agent_may(tmp_path: Path) -> None:
    """The form of the document is read, and what it leaves out has the document's values."""
    tools = {
        "allow": ["chat.search", "workspace.read_file"],
        "deny": ["workspace.read_file"],
        "maxRounds": 7,
        "maxCallsPerTool": {"chat.search": 8},
    }
    profile = _load(tmp_path, json.dumps({"id": "writer", "tools": tools}))
    profile.check(TOOLS)
    assert profile.sees("chat.search")
    assert not profile.sees("workspace.read_file")
    assert not profile.sees("skill.read")
    assert (profile.tools.max_rounds, profile.tools.max_calls_per_run) == (7, 80)
    assert profile.tools.max_calls_per_tool == {"chat.search": 8}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"id": "a", "tools": {"alow": []}}', "tools: unknown field 'alow'; did you mean 'allow'"),
        ('{"id": "a", "tools": {"maxRounds": 0}}', "tools.maxRounds: Input should be greater"),
        ('{"tools": {}}', "id: Field required"),
        ('{"id": "a", "id": "b"}', "'id' is there twice"),
        ('{"id": "a"', "is not JSON"),
        (
            '{"id": "a", "workspace": {"visibleRoots": ["outputs"]}}',
            "workspace.visibleRoots: there is no root 'outputs'; did you mean 'output'",
        ),
        (
            '{"id": "a", "workspace": {"visibleRoots": ["plan"], "writableRoots": ["output"]}}',
            "workspace: 'output' is writable and not visible",
        ),
        (
            '{"id": "a", "skills": {"maxReadCharsPerCall": 80001}}',
            "skills.maxReadCharsPerCall: Input should be less than or equal to 80000",
        ),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, text: str, told: str) -> None:
    """The message names the file, the field and the nearest known name."""
    with pytest.raises(ProfileError) as caught:
        _load(tmp_path, text)
    assert told in str(caught.value)
    assert "writer.json" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"tools": {"allow": ["chat.serch"]}}, "no tool 'chat.serch'; did you mean 'chat.search'"),
        ({"tools": {"deny": ["chat_search"]}}, "what the model calls 'chat.search'"),
        ({"tools": {"allow": ["task.return"]}}, "task.return is given to child tasks"),
        ({"tools": {"maxCallsPerTool": {"chat.search": 1}}}, "does not see 'chat.search'"),
        ({"delegation": {"canDelegate": True}}, "needs agent.list, agent.delegate, agent.await"),
        ({"runs": "foreground"}, "needs workspace.commit, workspace.finish"),
        ({"skills": {"visible": ["poem"]}}, "no skill 'poem' is installed; did you mean 'poems'"),
    ],
)
def test_a_profile_that_does_not_fit_is_refused(given: dict[str, Any], told: str) -> None:
    """What it names has to exist, and what it needs has to be allowed."""
    with pytest.raises(ProfileError, match=r"^profile 'writer': ") as caught:
        _profile(**given).check(TOOLS, ["poems"])
    assert told in str(caught.value)


def test_skills_are_shown_or_denied() -> None:
    """Denying comes first; `*` stands for all."""
    assert _profile().skills.shows("a")
    assert _profile(skills={"visible": ["a"]}).skills.shows("a")
    assert not _profile(skills={"visible": ["a"]}).skills.shows("b")
    assert not _profile(skills={"deny": ["a"]}).skills.shows("a")
    assert not _profile(skills={"visible": ["a"], "deny": ["*"]}).skills.shows("a")


def test_a_project_only_tightens() -> None:
    """Of two profiles together, each limit is the lower one, and what the other widens is lost."""
    own = _profile(
        tools={
            "allow": ["chat.search", "skill.read"],
            "maxRounds": 10,
            "maxCallsPerTool": {"chat.search": 3},
        },
        delegation={"canDelegate": False, "callable": True, "allowedCallers": ["a", "b"]},
        workspace={"writableRoots": ["output"]},
    )
    theirs = Profile.model_validate(
        {
            "id": "project",
            "tools": {
                "allow": ["skill.read", "workspace.write_file"],
                "deny": ["chat.search"],
                "maxRounds": 99,
                "maxCallsPerTool": {"skill.read": 1},
            },
            "delegation": {"canDelegate": True, "allowedCallers": ["b", "c"]},
            "workspace": {"visibleRoots": ["output", "plan"]},
        }
    )
    both = own.tightened_by(theirs)
    assert (both.id, both.tools.allow, both.tools.deny) == (
        "writer",
        ("skill.read",),
        ("chat.search",),
    )
    assert (both.tools.max_rounds, both.tools.max_calls_per_run) == (10, 80)
    assert both.tools.max_calls_per_tool == {"chat.search": 3, "skill.read": 1}
    assert (both.delegation.can_delegate, both.delegation.callable) == (False, True)
    assert both.delegation.allowed_callers == ("b",)
    assert both.workspace.visible_roots == ("output", "plan")
    assert both.workspace.takes_writes("output")
    assert not both.workspace.takes_writes("plan")
    assert theirs.workspace.takes_writes("plan")
    assert not theirs.workspace.takes_writes("persist")
    assert own.tightened_by(_profile()) == own


def test_the_published_schema_is_that_of_the_code() -> None:
    """The file in the documentation is up to date; else run `python scripts/profile_schema.py`."""
    published = Path(__file__).parents[2] / "docs" / "assets" / "profile.schema.json"
    assert json.loads(published.read_text()) == Profile.json_schema()


def test_its_schema_takes_what_it_takes() -> None:
    """Profiles in JSON fit the published schema, and what is refused does not."""
    check = jsonschema_rs.validator_for(Profile.json_schema())
    assert check.is_valid({"id": "a", "tools": {"allow": ["chat.search"], "maxRounds": 3}})
    assert not check.is_valid({"id": "a", "tools": {"alow": []}})
    assert not check.is_valid({"id": "a", "tools": {"maxRounds": 0}})
    assert check.is_valid(_profile(tools={"allow": ["a"]}).model_dump(mode="json", by_alias=True))


def test_names_for_the_model_lead_back() -> None:
    """`workspace_read_file` is `workspace.read_file`; two tools of one such name are refused."""
    names = ToolNames(TOOLS)
    for name in TOOLS:
        assert names.canonical(model_name(name)) == name
        assert names.canonical(name) == name
        assert names.unknown(name) is None
    assert names.canonical("other") == "other"
    with pytest.raises(ConfigurationError, match=r"'a\.b' and 'a_b' would both be 'a_b'"):
        ToolNames(["a.b", "a_b"])
    with pytest.raises(ConfigurationError, match="cannot be shown to a model"):
        model_name("a b")


@given(st.lists(st.from_regex(r"\A[a-z]{1,3}(\.[a-z]{1,3}){0,2}\Z"), unique=True, max_size=8))
def test_each_name_has_one_alias(canonical: list[str]) -> None:
    """Without a collision, aliases lead back to the names that they were made of."""
    aliases = {model_name(name): name for name in canonical}
    if len(aliases) == len(canonical):
        names = ToolNames(canonical)
        assert {alias: names.canonical(alias) for alias in aliases} == aliases
    else:
        with pytest.raises(ConfigurationError):
            ToolNames(canonical)


def test_tt_139_allow_and_deny_name_tools_that_there_are() -> None:
    """An unknown name, a wildcard or an alias is an error; a canonical name is none."""
    for name in ("chat.serch", "chat.*", "*", "chat_search"):
        for field in ("allow", "deny"):
            with pytest.raises(ProfileError, match=rf"tools\.{field}: "):
                _profile(tools={field: [name]}).check(TOOLS)
    _profile(tools={"allow": ["chat.search"], "deny": ["skill.read"]}).check(TOOLS)


def test_tt_145_a_foreground_profile_needs_commit_and_finish() -> None:
    """Without them it is refused; so it is where it denies one. A background profile needs none."""
    both = ["workspace.commit", "workspace.finish"]
    for tools in ({"allow": both[:1]}, {"allow": both[1:]}, {"allow": both, "deny": both[:1]}):
        with pytest.raises(ProfileError, match=r"runs: foreground needs workspace\."):
            _profile(runs="foreground", tools=tools).check(TOOLS)
    _profile(runs="foreground", tools={"allow": both}).check(TOOLS)
    _profile(runs="background").check(TOOLS)


def test_tt_146_a_profile_that_delegates_needs_the_tools_for_it() -> None:
    """All three, and none of them denied; one that does not delegate needs none."""
    needed = ["agent.list", "agent.delegate", "agent.await"]
    for missing in needed:
        rest = [name for name in needed if name != missing]
        for tools in ({"allow": rest}, {"allow": needed, "deny": [missing]}):
            with pytest.raises(ProfileError, match=rf"canDelegate needs {missing}"):
                _profile(delegation={"canDelegate": True}, tools=tools).check(TOOLS)
    _profile(delegation={"canDelegate": True}, tools={"allow": needed}).check(TOOLS)
    _profile().check(TOOLS)


def test_tt_147_task_return_is_not_in_allow() -> None:
    """The runtime gives it to child tasks; a profile may deny it."""
    with pytest.raises(ProfileError, match=r"tools\.allow: task\.return is given to child tasks"):
        _profile(tools={"allow": ["task.return"]}).check(TOOLS)
    _profile(tools={"deny": ["task.return"]}).check(TOOLS)
