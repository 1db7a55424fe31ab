"""Seed 000, 3.1, "Runtime Tool Expansion": `tool_expand_tools`, row by row."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.message import ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolGroup, Toolkit, ToolManager, ToolProxy
from tests.tool.kit import Probe, call_of, outcome, text_of

NAMES = ["file_read", "file_write", "search_memory", "web_fetch"]
EXPAND = "tool_expand_tools"


def proxy_of(*available: str) -> ToolProxy:
    """Return a view of a manager of four tools."""
    manager = ToolManager([Probe(name) for name in NAMES], modules=[])
    return ToolProxy([manager], available or None)


def suggesting(*names: str, groups: list[str] | None = None) -> AgentState:
    """Return a state in whose reply these tools were suggested."""
    state = AgentState()
    state.reply_context.suggested_tools = list(names)
    state.tool_context.activated_groups = groups or []
    return state


async def shown(toolkit: Toolkit, state: AgentState) -> list[str]:
    """Return the names that the model is told of in the next round."""
    schemas = await toolkit.get_tool_schemas(
        state.tool_context.activated_groups, suggested=state.reply_context.suggested_tools
    )
    return [schema["function"]["name"] for schema in schemas]


async def expand(toolkit: Toolkit, state: AgentState, *names: Any) -> dict[str, Any]:
    """Return what the model is answered when it wants these tools."""
    call = call_of(EXPAND, json.dumps({"tool_names": names}))
    answer: dict[str, Any] = json.loads(text_of(await outcome(toolkit, call, state)))
    return answer


async def test_the_document_s_example() -> None:
    """The answer has the shape, and the words, of the document's example."""
    proxy = proxy_of("file_read", "file_write", "search_memory")
    state = suggesting("search_memory")
    assert await expand(proxy, state, "file_read", "unknown_tool", "search_memory") == {
        "success": True,
        "expanded_tools": ["file_read"],
        "invalid_tools": ["unknown_tool"],
        "already_selected_tools": ["search_memory"],
        "available_expandable_tools": ["file_write"],
    }


async def test_sage_t_36_only_suggested_tools_are_shown() -> None:
    """The model is told of these, and of how to see the others; of all where none were chosen."""
    assert await shown(proxy_of(), suggesting("web_fetch")) == ["web_fetch", EXPAND]
    assert await shown(proxy_of(), AgentState()) == NAMES


async def test_sage_t_36_nothing_to_expand_means_no_tool_for_it() -> None:
    """Where all tools are suggested, the model is told of them and of nothing else."""
    assert await shown(proxy_of(), suggesting(*NAMES)) == NAMES


async def test_sage_t_37_the_view_is_the_same_whatever_is_suggested() -> None:
    """Narrowing changes neither the view nor the manager: all names can be listed as before."""
    proxy = proxy_of("file_read", "file_write")
    state = suggesting("file_read", "web_fetch")
    assert await shown(proxy, state) == ["file_read", EXPAND]
    assert proxy.list_all_tools_name() == ["file_read", "file_write"]
    told = text_of(await outcome(proxy, call_of("web_fetch"), state))
    assert told == "There is no tool named 'web_fetch'. Tools: file_read."


async def test_sage_t_39_a_tool_that_is_not_shown_is_refused_and_says_how_to_see_it() -> None:
    """The call does not run; the model is told to call `tool_expand_tools`, word for word."""
    state = suggesting("web_fetch")
    refused = await outcome(proxy_of(), call_of("file_read"), state)
    assert refused is not None
    assert refused.state is ToolResultState.ERROR
    assert text_of(refused) == (
        "The tool 'file_read' is not among the tools of this request. Call tool_expand_tools with "
        '{"tool_names": ["file_read"]} first, then call it again.'
    )
    assert text_of(await outcome(proxy_of(), call_of("web_fetch"), state)) == "web_fetch:hi"


@pytest.mark.parametrize("name", ["File_Read", "file_read ", "file", "file_*", "", "FILE_READ"])
async def test_sage_t_40_names_are_exact(name: str) -> None:
    """Neither case, nor blanks, nor patterns, nor beginnings are forgiven."""
    state = suggesting("web_fetch")
    answer = await expand(proxy_of(), state, name)
    assert (answer["success"], answer["invalid_tools"]) == (False, [name])
    assert state.reply_context.suggested_tools == ["web_fetch"]


@pytest.mark.parametrize("arguments", ['{"tool_names": "file_read"}', "{}", '{"tool_names": [1]}'])
async def test_sage_t_40_anything_but_a_list_of_names_is_an_answer(arguments: str) -> None:
    """What does not fit the schema is told to the model, and shows nothing."""
    state = suggesting("web_fetch")
    refused = await outcome(proxy_of(), call_of(EXPAND, arguments), state)
    assert refused is not None
    assert refused.state is ToolResultState.ERROR
    assert "tool_names" in text_of(refused)
    assert state.reply_context.suggested_tools == ["web_fetch"]


async def test_sage_t_41_and_42_what_can_be_shown_is_what_the_view_has() -> None:
    """Neither a tool of the manager that the view leaves out, nor one it gets later, is shown."""
    manager = ToolManager([Probe(name) for name in NAMES], modules=[])
    proxy, state = ToolProxy([manager], ["file_read", "file_write"]), suggesting("file_read")
    manager.register_tool(Probe("later"))
    answer = await expand(proxy, state, "web_fetch", "later")
    assert answer["success"] is False
    assert answer["invalid_tools"] == ["web_fetch", "later"]
    assert answer["available_expandable_tools"] == ["file_write"]
    assert await shown(proxy, state) == ["file_read", EXPAND]


async def test_sage_t_43_the_answer_has_five_fields() -> None:
    """Whatever is asked for, the same five fields come, and nothing else."""
    fields = {
        "success",
        "expanded_tools",
        "invalid_tools",
        "already_selected_tools",
        "available_expandable_tools",
    }
    for names in ([], ["file_read"], ["nothing"], ["web_fetch"]):
        assert set(await expand(proxy_of(), suggesting("web_fetch"), *names)) == fields


async def test_sage_t_44_to_46_valid_names_are_shown_from_the_next_round_on() -> None:
    """They are in the state at once, and among the schemas that are made next."""
    proxy, state = proxy_of(), suggesting("web_fetch")
    await expand(proxy, state, "file_read", "nothing")
    assert state.reply_context.suggested_tools == ["web_fetch", "file_read"]
    assert await shown(proxy, state) == ["file_read", "web_fetch", EXPAND]
    assert text_of(await outcome(proxy, call_of("file_read"), state)) == "file_read:hi"


async def test_sage_t_47_invalid_names_are_not_added() -> None:
    """A name that there is not changes nothing, and makes the answer an error if it is alone."""
    proxy, state = proxy_of(), suggesting("web_fetch")
    call = call_of(EXPAND, '{"tool_names": ["nothing", "nothing"]}')
    answer = await outcome(proxy, call, state)
    assert answer is not None
    assert answer.state is ToolResultState.ERROR
    assert json.loads(text_of(answer))["invalid_tools"] == ["nothing"]
    assert state.reply_context.suggested_tools == ["web_fetch"]


async def test_sage_t_48_what_is_shown_already_is_said_and_is_no_failure() -> None:
    """A name that is shown is not added again; `tool_expand_tools` itself counts as shown."""
    proxy, state = proxy_of(), suggesting("web_fetch")
    answer = await expand(proxy, state, "web_fetch", EXPAND, "web_fetch")
    assert answer["success"] is True
    assert answer["already_selected_tools"] == ["web_fetch", EXPAND]
    assert answer["expanded_tools"] == []
    assert state.reply_context.suggested_tools == ["web_fetch"]


async def test_sage_t_49_what_could_be_shown_is_sorted() -> None:
    """The rest comes in alphabetical order: without what is shown, and without the tool itself."""
    manager = ToolManager([Probe(name) for name in ("c", "a", "d", "b")], modules=[])
    answer = await expand(ToolProxy([manager]), suggesting("d"), "c")
    assert answer["available_expandable_tools"] == ["a", "b"]


async def test_an_empty_list_only_asks_what_there_is() -> None:
    """Who does not know a name may ask for none."""
    state = suggesting("web_fetch")
    answer = await expand(proxy_of(), state)
    assert answer["success"] is True
    assert answer["available_expandable_tools"] == NAMES[:3]
    assert state.reply_context.suggested_tools == ["web_fetch"]


async def test_where_nothing_is_narrowed_everything_is_shown_already() -> None:
    """A call that nobody needs does no harm, and narrows nothing."""
    state = AgentState()
    answer = await expand(proxy_of(), state, "file_read", "nothing")
    assert answer["already_selected_tools"] == ["file_read"]
    assert answer["invalid_tools"] == ["nothing"]
    assert answer["available_expandable_tools"] == []
    assert state.reply_context.suggested_tools is None


async def test_it_works_in_any_toolkit() -> None:
    """A plain toolkit narrows as a view does, also after all of it was cleared."""
    toolkit = Toolkit([Probe("one"), Probe("two")])
    assert await shown(toolkit, suggesting("one")) == ["one", EXPAND]
    toolkit.clear()
    await toolkit.add_tool([Probe("one"), Probe("two")])
    assert await shown(toolkit, suggesting("two")) == ["two", EXPAND]


async def test_a_tool_of_an_inactive_group_cannot_be_shown() -> None:
    """Groups come first; within the active ones, the suggestion counts."""
    groups = [ToolGroup("more", "More.", tools=[Probe("beta"), Probe("gamma")])]
    toolkit = Toolkit([Probe("alpha")], tool_groups=groups)
    state = suggesting("alpha")
    assert (await expand(toolkit, state, "beta"))["invalid_tools"] == ["beta"]
    assert await shown(toolkit, state) == ["alpha", "reset_tools"]
    state = suggesting("alpha", groups=["more"])
    assert await shown(toolkit, state) == ["alpha", "reset_tools", EXPAND]
    assert (await expand(toolkit, state, "beta"))["expanded_tools"] == ["beta"]
    assert await shown(toolkit, state) == ["alpha", "reset_tools", "beta", EXPAND]


async def test_what_a_reply_adds_is_always_shown() -> None:
    """Tools of middlewares, and that of a structured answer, are not narrowed away."""
    extended = proxy_of().extended([Probe("finish")])
    assert await shown(extended, suggesting("web_fetch")) == ["web_fetch", "finish", EXPAND]
    told = text_of(await outcome(extended, call_of("finish"), suggesting("web_fetch")))
    assert told == "finish:hi"


@pytest.mark.parametrize("mode", list(PermissionMode))
async def test_it_is_never_asked_about(mode: PermissionMode) -> None:
    """It permits nothing, so that every mode lets it through."""
    state = suggesting("web_fetch")
    state.permission_context = PermissionContext(mode=mode)
    assert (await expand(proxy_of(), state, "file_read"))["success"] is True


async def test_a_deny_rule_keeps_the_suggestion_as_it_is() -> None:
    """Who denies the tool has the model keep to what was suggested."""
    rule = PermissionRule(tool_name=EXPAND, behavior=PermissionBehavior.DENY)
    state = suggesting("web_fetch")
    state.permission_context = PermissionContext(deny_rules={EXPAND: [rule]})
    call = call_of(EXPAND, '{"tool_names": ["file_read"]}')
    refused = await outcome(proxy_of(), call, state)
    assert refused is not None
    assert refused.state is ToolResultState.DENIED
    assert state.reply_context.suggested_tools == ["web_fetch"]


async def test_showing_a_tool_permits_nothing() -> None:
    """A tool that asks, asks after it was shown as it did before."""
    manager = ToolManager([Probe("alpha"), Probe("beta", "ask")], modules=[])
    state = suggesting("alpha")
    await expand(manager, state, "beta")
    assert await outcome(manager, call_of("beta"), state) is None


def test_the_suggestion_is_saved_with_the_state() -> None:
    """A reply that waits goes on, in another process, with the tools that were shown."""
    state = suggesting("web_fetch")
    again = AgentState.model_validate_json(state.model_dump_json())
    assert again.reply_context.suggested_tools == ["web_fetch"]


SOME = st.lists(st.sampled_from([*NAMES, EXPAND, "nothing", "", "file_"]), max_size=4)


@given(available=SOME, suggested=SOME, wanted=st.lists(SOME, max_size=3))
async def test_sage_t_42_nothing_ever_leads_past_the_view(
    available: list[str], suggested: list[str], wanted: list[list[str]]
) -> None:
    """Whatever is suggested and wanted: what is shown is of the view, and only that may run."""
    manager = ToolManager([Probe(name) for name in NAMES], modules=[])
    proxy, state = ToolProxy([manager], available), suggesting(*suggested)
    view = set(available) & set(NAMES)
    for names in wanted:
        answer = await expand(proxy, state, *names)
        parts = [answer[key] for key in ("expanded_tools", "already_selected_tools")]
        assert {name for part in parts for name in part} <= view | {EXPAND}
        assert set(answer["available_expandable_tools"]) <= view
        assert sum(map(len, parts)) + len(answer["invalid_tools"]) == len(set(names))
    told = await shown(proxy, state)
    assert set(told) - {EXPAND} <= view
    assert (EXPAND in told) == (view - set(told) != set())
    for name in NAMES:
        decided = await proxy.decide(call_of(name), state)
        assert (decided.grant is not None) == (name in told)
