"""`Toolkit`: decides and runs the tool calls of a model.

`decide` reads, validates and decides a call without running anything; `run` takes only the `Grant`
of that decision; `call_tool` is both in one. `confirm` turns a person's answer into a grant. `call`
does it all for code that is not async.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from copy import copy
from functools import partial
from types import TracebackType
from typing import Any, Self
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from agentscope_like import bridge
from agentscope_like.event import ConfirmResult
from agentscope_like.exception import (
    AgentOrientedException,
    ConfigurationError,
    GrantError,
)
from agentscope_like.message import (
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolChunk,
    ToolResponse,
    ToolResultState,
)
from agentscope_like.middleware import OutputStore, TokenCounter, TruncateMiddleware
from agentscope_like.middleware.truncate import TOKEN_LIMIT
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionRule,
    compile_large_tables,
)
from agentscope_like.state import AgentState
from agentscope_like.tool.arguments import copied, parse_arguments
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.call import (
    EDITED,
    CallRequest,
    DecidedCall,
    DecisionLayer,
    Grant,
    RunLayer,
    Shown,
    asked_anew,
    check_answer,
    check_apply_answer,
    check_changed,
    check_holds,
    claim_of,
    decided_within,
    digest_of,
    edited_input,
    failure_before_asking,
    not_applied,
    park,
    refuse_held,
    refused,
    rejection,
    run_apply,
    run_granted,
    same_places,
    same_subject,
    was_shown,
    what_was_shown,
    within_label,
    within_resources,
)
from agentscope_like.tool.group import BASIC, SkillSource, ToolGroup, ToolSource
from agentscope_like.tool.held_call import DroppedChanges, HeldCall, HoldingTool
from agentscope_like.tool.kit import ToolInventory, ToolView
from agentscope_like.tool.resources import Claim
from agentscope_like.tool.workplace import Workplace

__all__ = ["Toolkit"]


class Toolkit:
    """Holds tools, and decides and runs their calls (docs/design/decisions.md).

    Args:
        tools: The tools, in the order in which the model sees them.
        skills_or_loaders: Skills: directories, `Skill` objects or loaders. The model reads them
            with the tool `Skill`, which is added with them.
        mcps: Sources of tools, such as MCP clients; asked on first use.
        tool_groups: Further groups of tools, sources and skills. The model activates them with the
            tool `reset_tools`; the tools, skills and sources above are always active.
        meta_tool_response_template: A Jinja template for the answer of `reset_tools`
            (`ResetTools`).
        skill_instruction_template: A Jinja template for the text about skills, with the variables
            `skills` and `skill_viewer`.
        decision_layers: Layers around each decision, the first outermost. A layer may change the
            arguments before the decision and make the decision stricter; it can never loosen it.
        result_limit: The maximum number of tokens of one result, not counting notices (default
            12,000, seed 000); a truncated result says so, and its full text is stored on disk. None
            for no limit.
        token_counter: Counts tokens; by default an estimate from the number of bytes.
        output_store: Stores the full text of truncated results; by default in a private temporary
            directory.

    Raises:
        ConfigurationError: Two tools, sources or groups have the same name, or a name is not valid
            for a model; a template is invalid; or the limit is not above zero.
    """

    def __init__(
        self,
        tools: Sequence[ToolBase] | None = None,
        skills_or_loaders: Sequence[SkillSource] | None = None,
        mcps: Sequence[ToolSource] | None = None,
        tool_groups: Sequence[ToolGroup] | None = None,
        meta_tool_response_template: str | None = None,
        skill_instruction_template: str | None = None,
        *,
        decision_layers: Sequence[DecisionLayer] = (),
        result_limit: int | None = TOKEN_LIMIT,
        token_counter: TokenCounter | None = None,
        output_store: OutputStore | None = None,
    ) -> None:
        self._begin(
            ToolInventory.of_groups(
                ToolGroup(BASIC, tools=tools, skills_or_loaders=skills_or_loaders, mcps=mcps),
                tool_groups,
                response_template=meta_tool_response_template,
                skill_template=skill_instruction_template,
            )
        )
        self._layers = tuple(decision_layers)
        self._run_layers: tuple[RunLayer, ...] = ()
        self.result_limit = result_limit
        self._truncate = (
            TruncateMiddleware(result_limit, counter=token_counter, store=output_store)
            if result_limit is not None
            else None
        )

    def extended(self, tools: Sequence[ToolBase]) -> Toolkit:
        """Return a new toolkit with further tools, which tracks later changes of this one.

        Args:
            tools: The tools that only the returned toolkit has.

        Raises:
            ConfigurationError: A name is taken, or is not valid for a model.
        """
        extended = copy(self)
        extended._begin(self._inventory.extended(tools))  # noqa: SLF001 - of its own class
        return extended

    def with_sources(self, sources: Sequence[ToolSource]) -> Toolkit:
        """Return a new toolkit with further sources, which tracks later changes of this one.

        Args:
            sources: The sources that only the returned toolkit has; always active.

        Raises:
            ConfigurationError: Two sources have the same name, or one whose tool names could be the
                same.
        """
        for source in sources:
            if self._inventory.may_list(f"mcp__{source.name}__"):
                raise ConfigurationError(
                    f"there are two tool sources whose tools are named `mcp__{source.name}__TOOL`: "
                    "rename one"
                )
        added = ToolInventory.of_groups(ToolGroup(BASIC, mcps=sources))
        joined = copy(self)
        joined._begin(ToolView([self._inventory, added]))  # noqa: SLF001 - of its own class
        return joined

    def limited(
        self,
        *,
        shows: Callable[[str], bool] | None = None,
        decision_layers: Sequence[DecisionLayer] = (),
        run_layers: Sequence[RunLayer] = (),
    ) -> Toolkit:
        """Return a new toolkit with fewer tools or further layers, which tracks this one's changes.

        Args:
            shows: Whether a tool of this canonical name is shown, also one that extends the
                returned toolkit; calls of the others are refused.
            decision_layers: Decision layers outside this toolkit's own.
            run_layers: Layers around each run of a granted call, outside this toolkit's own.
        """
        limited = copy(self)
        limited._begin(ToolView([self._inventory], shows=shows))  # noqa: SLF001 - of its own class
        limited._layers = (*decision_layers, *self._layers)  # noqa: SLF001
        limited._run_layers = (*run_layers, *self._run_layers)  # noqa: SLF001
        return limited

    def without_result_limit(self) -> Toolkit:
        """Return this toolkit for somebody who limits the results, so that they come whole."""
        whole = self.extended(())
        whole.result_limit = None
        whole._truncate = None  # noqa: SLF001 - of its own class
        return whole

    def within_layers(self, layers: Sequence[DecisionLayer]) -> Toolkit:
        """Return a new toolkit with further decision layers, inside all others of each decision.

        They see the arguments that are decided, whatever other layers change.

        Args:
            layers: The layers, the first outermost.
        """
        tightened = self.extended(())
        tightened._layers = (*self._layers, *layers)  # noqa: SLF001 - of its own class
        return tightened

    def _begin(self, inventory: ToolInventory) -> None:
        """Set the inventory, with no call decided yet."""
        self._inventory = inventory
        self._issued: WeakKeyDictionary[Grant, tuple[DecisionLayer, ...]] = WeakKeyDictionary()
        self._checked_rules: tuple[Any, ...] | None = None

    # What there is

    async def tool_names(self) -> list[str]:
        """Return the canonical names of all tools that a model could see, in any group."""
        await self._inventory.sync()
        return self._inventory.names()

    def canonical_name(self, name: str) -> str:
        """Return the canonical name of the tool that a model calls by this name.

        A model calls `workspace.read_file` by the name `workspace_read_file`. An unknown name is
        returned as it is.
        """
        return self._inventory.canonical(name)

    async def get_tool(self, name: str) -> ToolBase | None:
        """Return the tool of this name in any group, or None."""
        await self._inventory.sync()
        return self._inventory.tools.get(name)

    async def add_tool(self, tool: ToolBase | list[ToolBase], group_name: str = BASIC) -> None:
        """Add one tool or several to the group.

        Raises:
            ConfigurationError: There is no such group, or a name is taken or not valid for a model.
        """
        for one in tool if isinstance(tool, list) else [tool]:
            self._inventory.add(one, group_name)

    async def remove_tool(self, tool_name: str | list[str]) -> None:
        """Remove one tool or several, by name.

        Raises:
            ConfigurationError: There is no tool of that name, or it belongs to a source.
        """
        for name in tool_name if isinstance(tool_name, list) else [tool_name]:
            self._inventory.tools.remove(name)

    def clear(self) -> None:
        """Remove all tools, sources, skills and groups."""
        self._inventory.clear()

    async def close(self) -> None:
        """Close all tools of the toolkit; each is closed, whatever another one raised.

        Raises:
            ExceptionGroup: What the tools raised.
        """
        tools = self._inventory.tools.values()
        closed = await asyncio.gather(*(one.aclose() for one in tools), return_exceptions=True)
        errors = [error for error in closed if isinstance(error, Exception)]
        if errors:
            raise ExceptionGroup("tools could not be closed", errors)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.close()

    async def refresh(self) -> None:
        """Look for new tools and skills of all sources; an agent does so once in each reply."""
        await self._inventory.refresh()

    async def get_tool_schemas(
        self, groups: Sequence[str] | None = None, *, suggested: Collection[str] | None = None
    ) -> list[dict[str, Any]]:
        """Return the tool schemas of `basic` and the groups, in the chat-completions form.

        With `suggested`, only their schemas, and that of the tool that shows the others.
        """
        schemas: list[dict[str, Any]] = copied(
            await self._inventory.schemas(groups or (), suggested)
        )
        return schemas

    async def get_skill_instructions(
        self, activated_groups: Sequence[str] | None = None
    ) -> str | None:
        """Return the system prompt's text about the skills of `basic` and these groups, if any."""
        return await self._inventory.skills.instructions(activated_groups or ())

    async def check_tool_available(
        self, tool_name: str, activated_groups: Sequence[str] = ()
    ) -> ToolBase:
        """Return the tool that a model may call by this name while these groups are active.

        Raises:
            ToolNotFoundError: There is none; the message lists the names.
            ToolGroupInactiveError: Its group is not active.
        """
        await self._inventory.sync()
        return self._inventory.available(self.canonical_name(tool_name), activated_groups).tool

    def workplace(self, state: AgentState) -> Workplace | None:
        """Return the directory that commands start in; None if no tool works in one."""
        places = (tool.workplace(state) for tool in self._inventory.tools.values())
        return next(filter(None, places), None)

    def is_concurrency_safe(self, tool_name: str) -> bool:
        """Return whether calls by this name may run concurrently; unknown ones only fail."""
        return self._inventory.is_concurrency_safe(self.canonical_name(tool_name))

    def claim(self, call: ToolCallBlock) -> Claim:
        """Return what the call says of running at the same time as others."""
        name = self.canonical_name(call.name)
        entry = self._inventory.tools.find(name)
        if entry is None:
            return Claim(self._inventory.is_concurrency_safe(name))
        return claim_of(entry, call.input)

    # Deciding

    async def decide(
        self,
        call: ToolCallBlock,
        state: AgentState,
        *,
        layers: Sequence[DecisionLayer] = (),
    ) -> DecidedCall:
        """Parse, validate and decide the call without running it.

        Sets the call's `state`, `decision`, `digest`, `approved` and `suggested_rules`, and its
        `name` to the canonical one.

        Args:
            call: The model's call.
            state: The agent's state with its `permission_context`.
            layers: Further decision layers, outside the toolkit's own.

        Returns:
            A grant, a refusal, or neither if a person has to answer first. A call that asks, and
            can be held, gets a grant to run held.

        Raises:
            ResumeError: The call ran held and waits for an answer.
            RuleError: A rule is for a tool that does not exist, or cannot be read by its tool.
        """
        refuse_held(call)
        inventory = self._inventory
        if inventory.is_outdated:
            await inventory.sync()
        call.name = inventory.canonical(call.name)
        await self.prepare_rules(state)
        policy = self.check_rules(state)
        call.approved = False
        layers = (*layers, *self._layers)
        try:
            suggested = state.reply_context.suggested_tools
            entry = inventory.available(call.name, state.tool_context.activated_groups, suggested)
            given, label = entry.split(parse_arguments(call.name, call.input))
            request = CallRequest(call, entry.tool, given, state)
            entry.validator.check(request.arguments)
            arguments, said = await decided_within(layers, request, entry.validator.check)
            for value in label.values():
                said = within_label(request.with_arguments(arguments), said, value)
        except AgentOrientedException as error:
            call.state = ToolCallState.FINISHED
            tool = inventory.tools.get(call.name)
            refusal = refused(call.id, error.told, ToolResultState.ERROR, error.metadata)
            return DecidedCall(call, tool, refusal=refusal)
        decision, prepared = said
        call.digest = digest_of(entry, arguments, prepared)
        decided = DecidedCall(
            call, entry.tool, decision, arguments, policy_key=policy, prepared=prepared
        )
        if _is_to_be_held(decided):
            return self._granted(decided, layers, HeldCall())
        failure = await failure_before_asking(decided, state)
        if failure is not None:
            call.decision, call.state = decision, ToolCallState.FINISHED
            return replace(decided, refusal=refused(call.id, failure, ToolResultState.ERROR))
        return self._settled(decided, layers)

    async def confirm(
        self,
        call: ToolCallBlock,
        answer: ConfirmResult,
        state: AgentState,
        *,
        layers: Sequence[DecisionLayer] = (),
    ) -> DecidedCall:
        """Apply a person's answer to a call that asks.

        An approval holds for what was shown: the same tool, arguments and basis. It turns ASK into
        ALLOW, never DENY into ALLOW. Edited arguments are validated and decided again; if that
        raises a safety question that the person did not see, the call asks again. If an approval is
        not valid, the decision's reason says why the call asks again.

        A call that ran held is never run again: its answer is about what it changed, and an
        approval is a grant to apply that.

        Args:
            call: The call as it was stored when it asked.
            answer: The answer; only its `confirmed`, `message` and the input of its call are used.
            state: The agent's state.
            layers: Further decision layers, outside the toolkit's own.

        Returns:
            As `decide`.

        Raises:
            ResumeError: The call does not ask, the answer belongs to another one, or it edits a
                call that ran held.
        """
        check_answer(call, answer)
        if call.apply is not None:
            return await self._confirm_apply(call, answer, state)
        if not answer.confirmed:
            call.state = ToolCallState.FINISHED
            tool = self._inventory.tools.get(call.name)
            return DecidedCall(call, tool, call.decision, refusal=rejection(answer))
        asked = call.model_copy()
        try:
            call.state, call.input = (
                ToolCallState.PENDING,
                edited_input(call, answer.tool_call.input),
            )
            decided = await self.decide(call, state, layers=layers)
        except BaseException:
            call.state, call.input = ToolCallState.ASKING, asked.input
            raise
        if call.input != asked.input:
            decided = replace(decided, note=EDITED)
        now = decided.decision
        is_asked = now is not None and now.behavior is PermissionBehavior.ASK
        if now is None or decided.refusal is not None or not is_asked:
            return decided
        shown = what_was_shown(asked, call, decided.arguments)
        unchanged = same_subject(asked.digest, call.digest)
        if shown is Shown.AS_ASKED:  # other arguments change other paths
            unchanged = unchanged and same_places(asked.digest, call.digest)
        if unchanged and was_shown(asked.decision, now, shown):
            call.approved = True
            return self._granted(decided, (*layers, *self._layers))
        if decided.grant is not None:  # to run held
            return decided
        call.decision = asked_anew(now, shown, unchanged=unchanged)
        return replace(decided, decision=call.decision)

    async def _confirm_apply(
        self, call: ToolCallBlock, answer: ConfirmResult, state: AgentState
    ) -> DecidedCall:
        """Apply a person's answer about what a held call changed; nothing runs again."""
        check_apply_answer(call, answer)
        tool, question = self._inventory.tools.get(call.name), call.apply
        if question is None or not isinstance(tool, HoldingTool):
            told = "[The changes are no longer there: the tool that kept them is gone.]"
            return _not_applied(call, tool, not_applied(call, DroppedChanges(), told=told))
        if not answer.confirmed:
            dropped = await tool.drop_changes(question, state)
            return _not_applied(call, tool, not_applied(call, dropped, answer))
        policy = self.check_rules(state)
        decision = await tool.judge_changes(question, state)
        call.decision = decision
        if decision.behavior is PermissionBehavior.DENY:
            dropped = await tool.drop_changes(question, state)
            told = f"[Not applied: {decision.message}]"
            return _not_applied(call, tool, not_applied(call, dropped, told=told))
        call.approved = True
        call.state = ToolCallState.ALLOWED
        changes = {"changes": question.digest}
        grant = Grant(call.id, tool, changes, call.digest or "", policy, apply=question)
        self._issued[grant] = ()
        return DecidedCall(call, tool, decision, grant=grant, policy_key=policy)

    async def drop_changes(self, call: ToolCallBlock, state: AgentState) -> DroppedChanges:
        """Drop what a call changed that ran held and waits; nothing for other calls.

        Returns:
            What is known of the changes; its `objection` says why they could not be dropped.
        """
        tool = self._inventory.tools.get(call.name)
        if call.apply is None or not isinstance(tool, HoldingTool):
            return DroppedChanges()
        return await tool.drop_changes(call.apply, state)

    def check_arguments(self, tool_name: str, text: str) -> None:
        """Refuse arguments that are not a JSON object or do not fit the tool, if it exists.

        Raises:
            ToolJSONDecodeError: They are not a JSON object.
            ToolArgumentError: They are invalid; the message locates each error.
        """
        arguments = parse_arguments(tool_name, text)
        entry = self._inventory.tools.find(self.canonical_name(tool_name))
        if entry is not None:
            entry.validator.check(entry.split(arguments)[0])

    def check_new_rules(self, rules: Sequence[PermissionRule]) -> None:
        """Refuse new rules that can never take effect.

        Raises:
            RuleError: One is for a tool that does not exist, or cannot be read by its tool.
        """
        context = PermissionContext()
        for rule in rules:
            context.table(rule.behavior).add(rule)
        self._inventory.check_rules(context)

    async def prepare_rules(self, state: AgentState) -> None:
        """Compile large tables of rules aside, so that `check_rules` blocks the loop for none."""
        key = (self._inventory.tools.version, state.permission_context.policy_key)
        if key != self._checked_rules:
            tools = self._inventory.ruled().values()
            await compile_large_tables(tools, state.permission_context)

    def check_rules(self, state: AgentState) -> tuple[Any, ...]:
        """Refuse rules that can never take effect, once for each policy.

        Returns:
            The key of the policy.

        Raises:
            RuleError: One is for a tool that does not exist, or cannot be read by its tool.
        """
        context = state.permission_context
        policy = context.policy_key
        key = (self._inventory.tools.version, policy)
        if key != self._checked_rules:
            self._inventory.check_rules(context)
            self._checked_rules = key
        return policy

    def _settled(self, decided: DecidedCall, layers: tuple[DecisionLayer, ...]) -> DecidedCall:
        call, tool, decision = decided.call, decided.tool, decided.decision
        if tool is None or decision is None:
            raise GrantError(f"call {call.id!r} was not decided: call `decide` first")
        call.decision = decision
        if decision.suggested_rules or call.suggested_rules:
            call.suggested_rules = list(decision.suggested_rules or ())
        if decision.behavior is PermissionBehavior.ALLOW:
            return self._granted(decided, layers)
        if decision.behavior is PermissionBehavior.DENY:
            call.state = ToolCallState.FINISHED
            refusal = refused(call.id, f"Denied: {decision.message}", ToolResultState.DENIED)
            return replace(decided, refusal=refusal)
        call.state = ToolCallState.ASKING
        return decided

    def _granted(
        self,
        decided: DecidedCall,
        layers: tuple[DecisionLayer, ...],
        held_call: HeldCall | None = None,
    ) -> DecidedCall:
        call, tool = decided.call, decided.tool
        if tool is None or call.digest is None:
            raise GrantError(f"call {call.id!r} was not decided: call `decide` first")
        if tool.is_external_tool:
            call.state = ToolCallState.SUBMITTED
            return decided
        call.state = ToolCallState.ALLOWED
        call.decision = decided.decision
        grant = Grant(
            call.id,
            tool,
            decided.arguments,
            call.digest,
            decided.policy_key,
            decided.prepared,
            held_call,
        )
        self._issued[grant] = layers
        return replace(decided, grant=grant)

    # Running

    def run(
        self, grant: Grant, state: AgentState
    ) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
        """Run the granted call; this uses up the grant.

        Args:
            grant: The grant from `decide` or `confirm` of this toolkit.
            state: The agent's state.

        Returns:
            A stream of the tool's chunks as they arrive, then one complete `ToolResponse`; where
            its `question` is set, the call ran held and has to be parked (`park`). The stream
            passes on a `DeveloperOrientedException` of the tool; any other failure becomes a
            response.

        Raises:
            ConfigurationError: The tool's `resources` returns something else.
            GrantError: The grant was used before or not issued here; or, from the stream as it
                begins, its tool, policy, arguments or basis have changed.
        """
        layers = self._issued.pop(grant, None)
        if layers is None:
            raise GrantError(
                f"this grant for call {grant.call_id!r} is spent or was not issued by this "
                "toolkit: decide the call again"
            )

        tools = self._inventory.tools
        redeem = partial(check_holds, state=state, find=tools.find)
        if grant.apply is not None:
            return run_apply(grant, state, redeem=redeem, layers=self._run_layers)
        check = partial(check_changed, grant, state=state, find=tools.registered, layers=layers)
        truncates = self._truncate is not None and not grant.tool.limits_own_results
        output = self._truncate.begin() if self._truncate is not None and truncates else None
        stream = run_granted(
            grant,
            state,
            redeem=redeem,
            check_changed=check,
            output=output,
            layers=self._run_layers,
        )
        return within_resources(grant, stream)

    async def call_tool(
        self, tool_call: ToolCallBlock, state: AgentState
    ) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
        """Decide the call and run it if it is allowed.

        Args:
            tool_call: The model's call; its `state` is updated.
            state: The agent's state.

        Yields:
            Chunks and then one `ToolResponse`; only the response if the call is refused; nothing
            if it waits: its state is then `asking` or `submitted`.
        """
        decided = await self.decide(tool_call, state)
        if decided.refusal is not None:
            yield decided.refusal
        elif decided.grant is not None:
            stream = self.run(decided.grant, state)
            try:
                async for item in stream:
                    if isinstance(item, ToolResponse) and item.question is not None:
                        park(tool_call, item.question)
                        return
                    yield item
            finally:
                await stream.aclose()
            tool_call.state = ToolCallState.FINISHED

    def call(
        self,
        tool_call: ToolCallBlock,
        state: AgentState,
        *,
        answer: ConfirmResult | None = None,
        timeout: float | None = None,
    ) -> ToolResponse | DecidedCall:
        """Decide the call, run it if it is allowed, and wait for its result.

        This is for code that is not async; it runs on the background loop of the process
        (`agentscope_like.bridge`). `bridge.iterate(toolkit.call_tool(...))` gives the chunks too.

        Args:
            tool_call: The model's call; its `state` is updated.
            state: The agent's state.
            answer: A person's answer, if the call waited for one.
            timeout: Seconds after which the call is cancelled.

        Returns:
            The response; or, if the call waits for a person or another system, what was decided.

        Raises:
            BridgeError: This thread runs an event loop.
            TimeoutError: The time was over; the call was cancelled, and has ended.
            ResumeError: The call does not ask, or the answer belongs to another one.
        """
        return bridge.run(
            self._response(tool_call, state, answer),
            timeout=timeout,
            instead="iterate `toolkit.call_tool(...)` with `async for`",
        )

    async def _response(
        self, call: ToolCallBlock, state: AgentState, answer: ConfirmResult | None
    ) -> ToolResponse | DecidedCall:
        if answer is None:
            decided = await self.decide(call, state)
        else:
            decided = await self.confirm(call, answer, state)
        if decided.refusal is not None:
            return decided.refusal
        response = None
        if decided.grant is not None:
            async with aclosing(self.run(decided.grant, state)) as items:
                async for item in items:
                    if isinstance(item, ToolResponse):
                        response = item
            if response is not None and response.question is not None:
                park(call, response.question)
                return replace(decided, grant=None, decision=call.decision)
            call.state = ToolCallState.FINISHED
        if response is not None and decided.note:
            response.content.insert(0, TextBlock(text=decided.note))
        return decided if response is None else response


def _not_applied(call: ToolCallBlock, tool: ToolBase | None, refusal: ToolResponse) -> DecidedCall:
    """Return the end of a held call whose changes were dropped."""
    call.state = ToolCallState.FINISHED
    return DecidedCall(call, tool, call.decision, refusal=refusal)


def _is_to_be_held(decided: DecidedCall) -> bool:
    """Return whether a call runs held instead of asking."""
    decision = decided.decision
    return (
        decision is not None
        and decision.can_be_held
        and decided.prepared is not None
        and isinstance(decided.tool, HoldingTool)
    )
