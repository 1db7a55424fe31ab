"""Which rules count for a tool, how they are compiled, and what is told of a call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    DecisionRow,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
    PreparedCall,
    RuleError,
    RuleMatch,
    check_rules,
    never_waits,
    private_denial,
)
from agentscope_like.permission import PermissionBehavior as Behavior
from tests.permission.stub import StubTool, rule

CALL = {"text": "hello"}
BEHAVIORS = ("allow", "deny", "ask")


async def decided(
    context: PermissionContext, tool: StubTool | None = None, text: str = "hello"
) -> PermissionDecision:
    """Return what the engine decides about a call of the stub."""
    return await PermissionEngine(context).check_permission(tool or StubTool(), {"text": text})


def sourced(source: str, content: str | None = None) -> PermissionRule:
    """Return a rule that denies, from a source."""
    return PermissionRule(
        tool_name="Stub", rule_content=content, behavior=Behavior.DENY, source=source
    )


class Matcher:
    """Matches a call whose text is one of the contents."""

    def __init__(self, contents: Sequence[str]) -> None:
        self.contents = list(contents)

    def match(self, call: PreparedCall) -> int | None:
        text = call.tool_input["text"]
        return self.contents.index(text) if text in self.contents else None

    def extended(self, content: str) -> Matcher:
        if content == "broken":
            raise RuleError("it is broken")
        return Matcher([*self.contents, content])


class Compiling(StubTool):
    """Compiles its rules, and those of the tool Other; notes how many, and in which thread."""

    related_tools = ("Other",)
    also_ruled_as = ("Twin",)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.compiled: list[tuple[int, bool]] = []
        self.related: list[int] = []

    def compile_rules(self, contents: Sequence[str], behavior: Behavior) -> Matcher:
        self.compiled.append((len(contents), threading.current_thread() is threading.main_thread()))
        if "broken" in contents:
            raise RuleError("it is broken")
        return Matcher(contents)

    async def match_rule(self, rule_content: str | None, tool_input: Any) -> bool:
        raise AssertionError("it is not asked about single rules")

    def compile_related(self, rules: Sequence[PermissionRule]) -> Any:
        self.related.append(len(rules))
        if any(each.rule_content == "broken" for each in rules):
            raise RuleError("it is broken")
        matcher = Matcher([each.rule_content or "" for each in rules])

        class Related:
            def match(self, call: PreparedCall) -> RuleMatch | None:
                at = matcher.match(call)
                return None if at is None else RuleMatch(rules[at])

        return Related()


@pytest.mark.parametrize("decide_between", [False, True])
@pytest.mark.parametrize("make", [StubTool, Compiling])
async def test_the_first_of_equal_rules_is_told(make: Any, decide_between: bool) -> None:
    """A rule for the whole tool comes first, then the one that was added first."""
    tool, context = make(), PermissionContext()
    for source, content, told in (
        ("one", "hello", "one"),
        ("two", "hello", "one"),
        ("three", None, "three"),
        ("four", None, "three"),
    ):
        context.table(Behavior.DENY).add(sourced(source, content))
        context.table(Behavior.DENY).add(rule("deny", name="Nobody"))
        if decide_between or source == "four":
            found = (await decided(context, tool)).rule
            assert found is not None
            assert found.source == told
        if decide_between and content:
            assert (await decided(context, tool, "x")).behavior is Behavior.ASK


@pytest.mark.parametrize(
    ("own", "related", "beside"),
    [(1000, 0, False), (1001, 0, True), (500, 500, False), (500, 501, True), (0, 1001, True)],
)
async def test_many_rules_are_compiled_once_and_in_a_thread(
    own: int, related: int, beside: bool
) -> None:
    """Up to a thousand rules, those of related tools among them, are compiled where they are."""
    first, tool, context = Compiling(), Compiling(), PermissionContext()
    context.deny_rules["Stub"] = [rule("deny", f"o{n}") for n in range(own)]
    context.deny_rules["Other"] = [rule("deny", f"r{n}", name="Other") for n in range(related)]
    await decided(context, first)
    for text, count in ((f"o{own - 1}", own), (f"r{related - 1}", related), ("x", 0)):
        expected = Behavior.DENY if count else Behavior.ASK
        assert (await decided(context, tool, text)).behavior is expected
    denying = [each for each in tool.compiled if each[0] == own][:1]
    assert denying == [(own, not beside)]
    assert tool.related == [related] * bool(related)
    assert len(tool.compiled) <= 2


async def test_a_large_table_that_cannot_be_compiled_asks() -> None:
    """What fails in a thread is told where the rules are used."""
    context = PermissionContext(mode=PermissionMode.BYPASS)
    context.deny_rules["Stub"] = [rule("deny", f"{n}") for n in range(1001)]
    assert (await decided(context, Compiling())).behavior is Behavior.ALLOW
    context.deny_rules["Stub"].append(rule("deny", "broken"))
    question = await decided(context, Compiling())
    assert question.behavior is Behavior.ASK
    assert "it is broken" in question.message


async def test_rules_are_added_up_to_a_number() -> None:
    """After 64 of them all are compiled anew, and each counts; so do those of a related tool."""
    tool, context = Compiling("allow"), PermissionContext()
    for number in range(70):
        for name in ("Stub", "Other"):
            context.table(Behavior.DENY).add(rule("deny", f"{name}{number}", name=name))
        for text in (f"Stub{number}", f"Other{number}", "Stub0"):
            assert (await decided(context, tool, text)).behavior is Behavior.DENY
        assert (await decided(context, tool)).behavior is Behavior.ALLOW
    assert [count for count, _ in tool.compiled] == [1, 66]
    assert tool.related == list(range(1, 71))


@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("name", ["Stub", "Twin", "Other"])
async def test_each_rule_of_a_tool_is_read_when_rules_are_checked(name: str, behavior: str) -> None:
    """A content that its tool refuses is an error; allow rules of related tools are not read."""
    context = PermissionContext()
    tools = {"Stub": Compiling(), "Twin": StubTool(name="Twin"), "Other": StubTool(name="Other")}
    table = context.table(Behavior(behavior))
    table.add(rule(behavior, "fine", name=name))
    check_rules(context, tools)
    table.add(rule(behavior, "broken", name=name))
    if (name, behavior) == ("Other", "allow"):
        check_rules(context, tools)
        return
    for _ in range(2):
        with pytest.raises(RuleError, match="broken"):
            check_rules(context, tools)


@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_a_rule_needs_a_tool(behavior: str) -> None:
    """A rule for no tool is refused, but for a list that is empty, or where it may come later."""
    tools = {"Stub": Compiling()}
    for name, is_known in (
        ("Stub", True),
        ("Twin", True),
        ("Other", behavior != "allow"),
        ("Nobody", False),
    ):
        context = PermissionContext()
        table = context.table(Behavior(behavior))
        table[name] = []
        check_rules(context, tools)
        table.add(rule(behavior, name=name))
        check_rules(context, tools, tolerated=lambda name: name in ("Nobody", "Other"))
        for tolerated in (None, lambda name: name == "Later"):
            if is_known:
                check_rules(context, tools, tolerated=tolerated)
            else:
                with pytest.raises(RuleError, match="not a tool"):
                    check_rules(context, tools, tolerated=tolerated)


class Validating(StubTool):
    """Reads its rules one by one."""

    def validate_rule(self, rule_content: str) -> None:
        if rule_content == "broken":
            raise RuleError("it is broken")


@pytest.mark.parametrize("behavior", BEHAVIORS)
async def test_a_tool_may_refuse_a_content(behavior: str) -> None:
    """A tool that validates its rules is asked about each, also about one that comes later."""
    context = PermissionContext(mode=PermissionMode.BYPASS)
    table = context.table(Behavior(behavior))
    for content in (None, "fine"):
        table.add(rule(behavior, content))
        check_rules(context, {"Stub": Validating()})
    del table["Stub"][0]
    tool = Validating()
    assert (await decided(context, tool)).behavior is Behavior.ALLOW
    table.add(rule(behavior, "broken"))
    with pytest.raises(RuleError, match="broken"):
        check_rules(context, {"Stub": tool})


async def test_two_tools_of_one_name_read_their_rules_each() -> None:
    """What was compiled for one of them is not taken for the other."""
    context = PermissionContext(deny_rules={"Stub": [rule("deny", "hello")]})

    class Deaf(Compiling):
        def compile_rules(self, contents: Sequence[str], behavior: Behavior) -> Matcher:
            return Matcher(["" for _ in contents])

    deaf, hearing = Deaf("allow"), Compiling("allow")
    for tool, expected in ((hearing, "deny"), (deaf, "allow"), (hearing, "deny")):
        assert (await decided(context, tool)).behavior.value == expected


async def test_what_warns_is_told_with_a_question_alone() -> None:
    """A person who is asked is warned; where nobody is asked there is nothing to warn of."""

    class Warns(PreparedCall):
        def warning(self) -> str:
            return "Look out."

    class Warned(StubTool):
        async def prepare_call(
            self, tool_input: Any, context: Any, session: object
        ) -> PreparedCall:
            return Warns(self, tool_input, context)

    for check, warned in (
        ("passthrough", True),
        ("safety", True),
        ("allow", False),
        ("deny", False),
    ):
        for tool, expected in ((Warned(check), warned), (StubTool(check), False)):  # type: ignore[arg-type]
            question = await decided(PermissionContext(), tool)
            assert question.message.endswith(". Look out.") is expected


async def test_what_is_not_true_proves_nothing() -> None:
    """A proof that a call reads, or that it can be held, is True itself; one that fails is none."""

    class Sure(StubTool):
        async def check_read_only(self, tool_input: Any) -> Any:
            return "yes"

    class Held(PreparedCall):
        async def can_be_held(self) -> Any:
            if self.tool_input["text"] == "broken":
                raise RuntimeError("no idea")
            return self.tool_input["text"] == "held" or "perhaps"

    class Holding(StubTool):
        async def prepare_call(
            self, tool_input: Any, context: Any, session: object
        ) -> PreparedCall:
            return Held(self, tool_input, context)

    editing = PermissionContext(mode=PermissionMode.ACCEPT_EDITS)
    assert (await decided(editing, Sure())).row == 9
    assert (await decided(editing, StubTool(read_only=True))).row == 6
    for text, row in (("held", 10), ("broken", 9), ("perhaps", 9)):
        question = await decided(PermissionContext(), Holding(), text)
        assert (question.behavior, question.row) == (Behavior.ASK, row)


EXPLORE = "Explore mode runs only calls proven to read only; this Stub call is not."
NOBODY = "Nobody can be asked in dont_ask mode, so it is denied."


@pytest.mark.parametrize(
    ("mode", "check", "rules", "message"),
    [
        ("default", "ask", (), "The stub says so."),
        ("default", "deny", (), "The stub says so."),
        ("default", "allow", (), "The stub says so."),
        ("default", "safety", (), "Dangerous."),
        ("dont_ask", "safety", (), f"Dangerous. {NOBODY}"),
        ("dont_ask", "ask", (), f"The stub says so. {NOBODY}"),
        ("explore", "ask", (), f"{EXPLORE} The stub says so."),
        ("explore", "allow", (), EXPLORE),
        ("bypass", "ask", (), "Nothing forbids it in bypass mode."),
        ("default", "raises", (), "Stub's own check failed: RuntimeError: the check broke"),
        ("default", "ask", ("allow hello",), "The rule `allow Stub(hello)` from user allows this."),
        ("default", "ask", ("deny hello",), "The rule `deny Stub(hello)` from user denies this."),
        ("default", "ask", ("ask",), "The rule `ask Stub` from user requires approval."),
        (
            "dont_ask",
            "ask",
            ("ask",),
            f"The rule `ask Stub` from user requires approval. {NOBODY}",
        ),
    ],
)
async def test_what_is_told_of_a_decision(
    mode: str, check: Any, rules: tuple[str, ...], message: str
) -> None:
    """The message says what was found, and in a strict mode why that is not asked about."""
    context = PermissionContext(mode=PermissionMode(mode))
    for text in rules:
        one = rule(*text.split())
        context.table(one.behavior).add(one)
    told = await decided(context, StubTool(check))
    assert told.message == message
    assert told.bypass_immune is (mode == "default" and check in ("safety", "raises"))
    assert str(told.rule) == str(rule(*rules[0].split()) if rules else None)


@pytest.mark.parametrize(
    ("mode", "told"),
    [("default", "No rule allows this Stub call."), ("explore", EXPLORE)],
)
async def test_a_tool_need_not_say_why(mode: str, told: str) -> None:
    """Where a tool has no message of its own, the decision has."""

    class Silent(StubTool):
        async def check_permissions(self, tool_input: Any, context: Any) -> PermissionDecision:
            return PermissionDecision(Behavior.PASSTHROUGH, "")

    context = PermissionContext(mode=PermissionMode(mode))
    assert (await decided(context, Silent())).message == told


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (RuntimeError(), "Stub's own check failed: RuntimeError"),
        (RuntimeError("so"), "Stub's own check failed: RuntimeError: so"),
        ("allow", "Stub's own check failed: TypeError: 'allow' is not a PermissionDecision"),
        (PermissionDecision(Behavior.ALLOW, "Fine.", bypass_immune=True), "Fine."),
    ],
)
async def test_a_check_that_is_none_asks(found: Any, told: str) -> None:
    """An error, something else than a decision, or one that calls itself a safety check."""

    class Odd(StubTool):
        async def check_permissions(self, tool_input: Any, context: Any) -> Any:
            if isinstance(found, Exception):
                raise found
            return found

    context = PermissionContext(allow_rules={"Stub": [rule("allow")]})
    question = await decided(context, Odd())
    assert (question.behavior, question.message) == (Behavior.ASK, told)
    assert question.bypass_immune


class Offering(Compiling):
    """Offers rules without waiting; looks something up where it has to."""

    def __init__(self, *, looks_up: bool) -> None:
        super().__init__()
        self.asked: list[str] = []
        if looks_up:
            self.prepare_decision = self._prepare

    async def _prepare(self, tool_input: Any, context: Any, session: object) -> None:
        self.asked.append("looked up")

    @never_waits
    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        self.asked.append(tool_input["text"])
        return [
            rule("deny", tool_input["text"]),
            rule("allow", tool_input["text"], name="Other"),
            rule("allow", "unlike"),
            rule("allow", tool_input["text"]),
        ]


@pytest.mark.parametrize("looks_up", [False, True])
async def test_what_is_offered_is_found_when_it_is_asked_for(looks_up: bool) -> None:
    """Only rules of the tool that allow are offered; at once where something is looked up."""
    tool, arguments = Offering(looks_up=looks_up), {"text": "hello"}
    engine = PermissionEngine(PermissionContext())
    question = await engine.check_permission(tool, arguments)
    arguments["text"] = "changed"
    assert tool.asked == (["looked up", "hello"] if looks_up else [])
    assert question.suggested_rules == [rule("allow", "hello")]
    assert tool.asked[-1:] == ["hello"]


def test_a_decision_can_be_stored_whatever_it_is_made_of() -> None:
    """A behaviour may be a text, texts lose what no file can hold, and a row has its label."""
    rows = [row.label for row in DecisionRow]
    assert rows == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "8a"]
    decision = PermissionDecision("ask", "a\ud83d\ude00 \ud800", "\udcff é")  # type: ignore[arg-type]
    assert decision.behavior is Behavior.ASK
    assert (decision.message, decision.decision_reason) == ("a\U0001f600 \\ud800", "\\udcff é")
    bare = PermissionDecision(Behavior.DENY, "No.")
    assert (bare.decision_reason, bare.suggested_rules, bare.can_be_held) == (None, None, False)
    assert PermissionDecision(Behavior.ASK, "", row=DecisionRow.HELD).can_be_held
    with pytest.raises(ValueError, match="perhaps"):
        PermissionDecision("perhaps", "")  # type: ignore[arg-type]
    denial = private_denial("/x")
    assert (denial.behavior, denial.message[:4]) == (Behavior.DENY, "`/x`")
    assert denial.decision_reason == "kept from models"


@pytest.mark.parametrize(
    ("owner", "method", "stands"),
    [
        (StubTool, "check_permissions", True),
        (StubTool, "decision_basis", True),
        (StubTool, "match_rule", False),
        (StubTool, "check_read_only", False),
        (None, "check_permissions", False),
        (None, "decision_basis", False),
    ],
)
def test_an_override_of_a_tool_is_heeded(owner: type | None, method: str, stands: bool) -> None:
    """A prepared call answers for its tool but for what a class or an object has of its own."""

    class Own(StubTool):
        async def match_rule(self, rule_content: str | None, tool_input: Any) -> bool:
            return False

    tool = Own()
    tool.check_read_only = tool.check_read_only  # type: ignore[method-assign]
    assert PreparedCall(tool, CALL, PermissionContext(), owner=owner).stands_for(method) is stands


async def test_a_call_is_prepared_by_its_tool_or_as_it_is() -> None:
    """A tool without `prepare_call` is asked itself; one that returns no call asks a person."""

    class Plain:
        name = "Plain"
        decision_basis = staticmethod(lambda tool_input: f"basis of {tool_input['text']}")
        check_permissions = StubTool.check_permissions
        check_read_only = StubTool.check_read_only
        match_rule = StubTool.match_rule
        generate_suggestions = StubTool.generate_suggestions
        check, read_only = "passthrough", False

        async def fallback_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
            return [rule("allow", name="Plain")]

    class Other(StubTool):
        async def prepare_call(self, *given: Any) -> Any:
            return "a call"

    engine = PermissionEngine(PermissionContext())
    plain: Any = Plain()
    found = await engine.decide(plain, CALL)
    assert (found.decision.row, found.call and found.call.basis()) == (9, "basis of hello")
    assert found.decision.suggested_rules == [
        rule("allow", "hello", name="Plain"),
        rule("allow", name="Plain"),
    ]
    assert found.call is not None
    assert await found.call.fallback_suggestions() == [rule("allow", name="Plain")]
    broken = await engine.decide(Other(), CALL)
    assert (broken.call, broken.decision.bypass_immune) == (None, True)
    assert "not a PreparedCall" in broken.decision.message


CHANGES: list[Callable[[PermissionContext], Any]] = [
    lambda context: setattr(context, "mode", PermissionMode.EXPLORE),
    lambda context: context.working_directories.update(x=AdditionalWorkingDirectory(path="x")),
    lambda context: context.table(Behavior.ALLOW).add(rule("allow")),
    lambda context: context.table(Behavior.DENY).add(rule("deny")),
    lambda context: context.table(Behavior.ASK).add(rule("ask")),
]


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_of_a_policy_changes_its_key(
    change: Callable[[PermissionContext], Any],
) -> None:
    """The mode, a directory and a rule of each behaviour are part of it."""
    context = PermissionContext()
    before = context.policy_key
    assert context.policy_key == before
    change(context)
    assert context.policy_key != before


@pytest.mark.parametrize("behavior", BEHAVIORS)
def test_a_policy_takes_rules_in_each_form(behavior: str) -> None:
    """A list of rules, of texts and of mappings is filed by tool; a tuple and a table likewise."""
    field, one = f"{behavior}_rules", rule(behavior, "x")
    for given in (
        [one],
        (one,),
        ["Stub(x)"],
        [f"{behavior} Stub(x)"],
        [one.model_dump()],
        {"Stub": [one]},
        {"Stub": [f"{behavior} Stub(x)"]},
    ):
        context = PermissionContext.model_validate({field: given})
        assert context.table(Behavior(behavior)) == {"Stub": [one]}
    for wrong in ([7], ["Stub("], [{"tool_name": "Stub"}], 7, {"Stub": [7]}):
        with pytest.raises(ValidationError):
            PermissionContext.model_validate({field: wrong})
