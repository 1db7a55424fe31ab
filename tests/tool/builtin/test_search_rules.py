"""What rules for reading keep out of the results of Grep and Glob."""

from __future__ import annotations

import json

import pytest

from agentscope_like.message import ToolResponse
from agentscope_like.middleware import LoggingMiddleware
from agentscope_like.permission import PermissionContext, PermissionRule, RuleError, check_rules
from agentscope_like.state import AgentState
from agentscope_like.tool import Glob, Toolkit
from tests.tool.builtin.file_kit import Workspace, text_of
from tests.tool.builtin.test_bash_file_rules import rule
from tests.tool.kit import call_of, outcome
from tests.tool.kit import text_of as response_text


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    """Return a small project with secrets."""
    for name in ("secrets/a", "secrets/b/c", "src/app.py", "src/x.cfg", "note.txt"):
        workspace.file(name, "word\n")
    return workspace


def context_of(*texts: str) -> PermissionContext:
    """Return a context with these rules, and ones that allow every search."""
    context = PermissionContext()
    for text in ("allow Grep", "allow Glob", *texts):
        one: PermissionRule = rule(text)
        context.table(one.behavior).add(one)
    return context


async def results(
    project: Workspace, tool: str, *texts: str, path: str | None = None
) -> tuple[str, list[str], str]:
    """Return the decision on a search, the files that it finds and what is said besides."""
    pattern = {"Grep": "word", "Glob": "**"}[tool]
    arguments = {"pattern": pattern} | ({"path": path} if path else {})
    decision = await project.decide(tool, context_of(*texts), **arguments)
    context = context_of(*texts)
    found = await project.run(project.tools[tool], **arguments, _permission_context=context)
    listed, _, note = text_of(found).partition("\n\n")
    files = [line for line in listed.splitlines() if not line.startswith("No ")]
    return decision.behavior, sorted(files), note


ALL = ["note.txt", "secrets/a", "secrets/b/c", "src/app.py", "src/x.cfg"]

LEFT_OUT = [
    ("deny Read(secrets/**)", ["note.txt", "src/app.py", "src/x.cfg"], 2),
    ("deny Read(SECRETS/*)", ["note.txt", "secrets/b/c", "src/app.py", "src/x.cfg"], 1),
    ("deny Read(**/*.cfg)", ["note.txt", "secrets/a", "secrets/b/c", "src/app.py"], 1),
    ("ask Read(secrets/**)", ["note.txt", "src/app.py", "src/x.cfg"], 2),
    ("deny {tool}(secrets/**)", ["note.txt", "src/app.py", "src/x.cfg"], 2),
    ("ask {tool}(secrets/**)", ["note.txt", "src/app.py", "src/x.cfg"], 2),
    ("deny {other}(secrets/**)", ALL, 0),
    ("deny Write(secrets/**)", ALL, 0),
    ("deny Read(docs/**)", ALL, 0),
    ("allow Read(secrets/**)", ALL, 0),
]


@pytest.mark.parametrize(("tool", "other"), [("Grep", "Glob"), ("Glob", "Grep")])
@pytest.mark.parametrize(("text", "files", "count"), LEFT_OUT)
async def test_files_that_may_not_be_read_are_left_out_and_counted(
    project: Workspace, tool: str, other: str, text: str, files: list[str], count: int
) -> None:
    """The search of the whole is allowed; what a rule keeps from being read is not in it."""
    text = text.format(tool=tool, other=other)
    decision, found, note = await results(project, tool, text)
    assert (decision, found) == ("allow", files)
    ending = "" if count == 1 else "s"
    told = f"({count} file{ending} left out, which a rule denies or asks about.)"
    assert note == (told if count else "")


@pytest.mark.parametrize("tool", ["Grep", "Glob"])
async def test_a_rule_for_read_decides_about_the_searched_directory(
    project: Workspace, tool: str
) -> None:
    """To search what may not be read is denied; what is to be asked about is asked about."""
    denied = await project.decide(
        tool, context_of("deny Read(secrets/**)"), pattern="x", path="secrets/b"
    )
    assert (denied.behavior, denied.row) == ("deny", 1)
    assert f"{tool} searches `secrets/b`" in denied.message
    decision, found, _ = await results(project, tool, "ask Read(secrets/**)", path="secrets")
    assert (decision, found) == ("ask", ["secrets/a", "secrets/b/c"])
    decision, found, _ = await results(project, tool, "deny Read(secrets/**)", path="src")
    assert (decision, found) == ("allow", ["src/app.py", "src/x.cfg"])
    assert (await results(project, tool, "deny Read"))[0] == "deny"


async def test_who_was_asked_about_a_directory_does_not_lift_a_denial_below(
    project: Workspace,
) -> None:
    """Files that are denied stay out of a search that a person agreed to."""
    texts = ("ask Read(secrets/**)", "deny Read(secrets/b/**)")
    decision, found, _ = await results(project, "Grep", *texts, path="secrets")
    assert (decision, found) == ("ask", ["secrets/a"])


async def test_whether_a_file_that_is_left_out_matches_is_not_given_away(
    project: Workspace,
) -> None:
    """The answer is the same, whatever is in the file."""
    before = await results(project, "Grep", "deny Read(secrets/**)")
    project.file("secrets/a", "something else\n")
    assert await results(project, "Grep", "deny Read(secrets/**)") == before


async def test_rules_are_followed_as_they_change(project: Workspace) -> None:
    """A rule that comes later counts from the next search on."""
    context = context_of("deny Read(secrets/**)")
    for text, expected in ((None, 3), ("deny Read(src/**)", 1), ("ask Read(note.txt)", 0)):
        if text is not None:
            one = rule(text)
            context.table(one.behavior).add(one)
        found = await project.run(project.glob_tool, pattern="**", _permission_context=context)
        assert found.metadata["total_files"] == expected


@pytest.mark.parametrize("tool", ["Grep", "Glob"])
async def test_a_call_of_a_model_goes_by_the_rules_of_its_state(
    project: Workspace, tool: str
) -> None:
    """The toolkit hands the policy to the tool; what a model passes in its place does nothing."""
    state = AgentState(permission_context=context_of("deny Read(secrets/**)"))
    toolkit = Toolkit(list(project.tools.values()))
    arguments = {"pattern": "**" if tool == "Glob" else "word"}
    said = response_text(await outcome(toolkit, call_of(tool, json.dumps(arguments)), state))
    assert "note.txt" in said
    assert "secrets/a" not in said
    forged = {**arguments, "_permission_context": None}
    response = await outcome(toolkit, call_of(tool, json.dumps(forged), "c2"), state)
    assert isinstance(response, ToolResponse)
    assert "secrets/a" not in response_text(response)


async def test_layers_around_a_search_leave_its_rules_alone(
    project: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    """What is handed to the tool besides its arguments is no argument, and is not logged as one."""
    caplog.set_level("INFO")
    glob = Glob(cwd=project.root, middlewares=[LoggingMiddleware(shows_values=True)])
    state = AgentState(permission_context=context_of("deny Read(secrets/**)"))
    said = response_text(
        await outcome(
            Toolkit([glob, project.grep_tool]), call_of("Glob", '{"pattern": "**"}'), state
        )
    )
    assert "note.txt" in said
    assert "secrets/a" not in said
    assert "pattern" in caplog.text
    assert "permission_context" not in caplog.text


def test_a_rule_for_read_is_one_for_the_searching_tools() -> None:
    """A toolkit of Glob alone takes it, and refuses one that could never match."""
    check_rules(PermissionContext(deny_rules={"Read": [rule("deny Read(a)")]}), {"Glob": Glob()})
    with pytest.raises(RuleError, match="deny rule for files"):
        check_rules(
            PermissionContext(deny_rules={"Read": [rule("deny Read(../a)")]}), {"Glob": Glob()}
        )
