"""The decision engine against the table, and the laws that hold for every table."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
    PreparedCall,
    RuleError,
    RuleMatch,
    check_rules,
)
from tests.permission.reference import Check, Mode, Situation, settle
from tests.permission.stub import StubTool, context_of, rule, tool_of

CALL = {"text": "hello"}

SITUATIONS = [
    Situation(mode, deny, ask, allow, check, read_only, own, held)
    for mode, deny, ask, allow, check, read_only, own, held in itertools.product(
        get_args(Mode), *[(False, True)] * 3, get_args(Check), *[(False, True)] * 3
    )
]


async def decide(situation: Situation) -> PermissionDecision:
    """Return the engine's decision in a situation."""
    return await PermissionEngine(context_of(situation)).check_permission(tool_of(situation), CALL)


@pytest.mark.parametrize("mode", get_args(Mode))
async def test_every_situation_is_settled_as_the_table_says(mode: Mode) -> None:
    """The engine and the independent table agree on the row and on the outcome, everywhere."""
    wrong = []
    for situation in SITUATIONS:
        if situation.mode == mode:
            decision = await decide(situation)
            settled = (decision.row, decision.behavior.value)
            if settled != settle(situation):
                wrong.append((situation, settled, settle(situation)))
    assert wrong == []


situations = st.sampled_from(SITUATIONS)
STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}


@given(situations)
async def test_a_deny_rule_never_allows_more(situation: Situation) -> None:
    """Adding a deny rule gives DENY, whatever else there is."""
    decision = await decide(replace(situation, deny_rule=True))
    assert decision.behavior is PermissionBehavior.DENY


@given(situations)
async def test_only_what_nothing_forbids_can_be_held(situation: Situation) -> None:
    """No rule, safety check, denial or proof: only then may a call run held, and it still asks."""
    decision = await decide(situation)
    assert decision.can_be_held is (decision.row == 10)
    if decision.can_be_held:
        assert decision.behavior.value == ("deny" if situation.mode == "dont_ask" else "ask")
        assert situation.mode not in {"explore", "bypass"}
        settling = (situation.deny_rule, situation.ask_rule, situation.safety, situation.allow_rule)
        assert not any(settling)


@given(situations)
async def test_an_ask_rule_never_allows_more(situation: Situation) -> None:
    """Adding an ask rule is never less strict than not having it."""
    without = await decide(replace(situation, ask_rule=False))
    with_rule = await decide(replace(situation, ask_rule=True))
    assert STRICTNESS[with_rule.behavior] >= STRICTNESS[without.behavior]


@given(situations)
async def test_an_allow_rule_changes_no_denial_and_no_safety_question(situation: Situation) -> None:
    """Adding an allow rule leaves DENY and safety ASKs as they are, and never tightens."""
    without = await decide(replace(situation, allow_rule=False))
    with_rule = await decide(replace(situation, allow_rule=True))
    nobody_asked = situation.mode == "dont_ask" and without.row in (4, 5, 9, 10)
    if without.behavior is PermissionBehavior.DENY and not (
        nobody_asked and without.row in (9, 10)
    ):
        assert with_rule.behavior is PermissionBehavior.DENY
    if without.bypass_immune:
        assert with_rule.bypass_immune
    assert STRICTNESS[with_rule.behavior] <= STRICTNESS[without.behavior]


@given(situations)
async def test_modes_are_ordered(situation: Situation) -> None:
    """ALLOW in EXPLORE or DEFAULT implies it in ACCEPT_EDITS; that implies it in BYPASS."""
    in_mode = {
        mode: (await decide(replace(situation, mode=mode))).behavior is PermissionBehavior.ALLOW
        for mode in get_args(Mode)
    }
    assert not in_mode["explore"] or in_mode["accept_edits"]
    assert not in_mode["default"] or in_mode["accept_edits"]
    assert not in_mode["accept_edits"] or in_mode["bypass"]


@given(situations)
async def test_explore_allows_only_what_is_proven_to_read(situation: Situation) -> None:
    """Without the proof EXPLORE allows nothing but changes of the agent's own state."""
    decision = await decide(replace(situation, mode="explore", read_only=False, own_state=False))
    assert decision.behavior is PermissionBehavior.DENY


@given(situations)
async def test_nobody_is_asked_where_nobody_answers(situation: Situation) -> None:
    """A decision in DONT_ASK is never ASK."""
    decision = await decide(replace(situation, mode="dont_ask"))
    assert decision.behavior is not PermissionBehavior.ASK


@given(situations)
async def test_a_decision_is_a_function_of_what_it_depends_on(situation: Situation) -> None:
    """Asked twice, the engine says the same."""
    assert await decide(situation) == await decide(situation)


class BrokenReadOnly(StubTool):
    """Cannot say whether it only reads."""

    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        raise RuntimeError("no idea")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("explore", "deny"), ("accept_edits", "ask"), ("dont_ask", "deny"), ("default", "allow")],
)
async def test_a_failing_proof_is_a_safety_question(mode: str, expected: str) -> None:
    """Where the proof matters and raises, an allow rule does not silence the question."""
    context = PermissionContext(mode=PermissionMode(mode))
    context.allow_rules["Stub"] = [rule("allow")]
    decision = await PermissionEngine(context).check_permission(BrokenReadOnly(), CALL)
    assert decision.behavior.value == expected
    if mode == "accept_edits":
        assert decision.bypass_immune
        assert "no idea" in decision.message


@pytest.mark.parametrize("behavior", ["deny", "ask"])
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("default", "ask"),
        ("accept_edits", "ask"),
        ("bypass", "ask"),
        ("explore", "deny"),
        ("dont_ask", "deny"),
    ],
)
async def test_a_rule_that_cannot_be_matched_is_not_ignored(
    behavior: str, mode: str, expected: str
) -> None:
    """A deny or ask rule whose matching raises asks in every mode where one can, BYPASS too."""
    context = PermissionContext(mode=PermissionMode(mode))
    context.table(PermissionBehavior(behavior)).add(rule(behavior, "broken"))
    decision = await PermissionEngine(context).check_permission(StubTool("allow"), CALL)
    assert decision.behavior.value == expected


async def test_an_opinion_that_is_no_decision_asks() -> None:
    """A tool whose check returns something else is treated like one whose check failed."""

    class Sloppy(StubTool):
        async def check_permissions(self, tool_input: Any, context: Any) -> Any:
            return "allow"

    decision = await PermissionEngine(PermissionContext()).check_permission(Sloppy(), CALL)
    assert decision.behavior is PermissionBehavior.ASK
    assert decision.bypass_immune


async def test_a_denial_given_as_text_is_a_denial() -> None:
    """A decision built with the text of a behaviour counts as that behaviour."""

    class Textual(StubTool):
        async def check_permissions(self, tool_input: Any, context: Any) -> PermissionDecision:
            return PermissionDecision("deny", "No.")  # type: ignore[arg-type]

    decision = await PermissionEngine(PermissionContext()).check_permission(Textual(), CALL)
    assert decision.behavior is PermissionBehavior.DENY


async def test_only_rules_that_would_allow_the_call_are_suggested() -> None:
    """Of three suggestions the two that match the call are offered, the most exact one first."""
    decision = await PermissionEngine(PermissionContext()).check_permission(StubTool(), CALL)
    offered = [r.rule_content for r in decision.suggested_rules or []]
    assert offered == ["hello", None]


async def test_no_more_than_five_rules_are_suggested() -> None:
    """The best five of seven that would allow the call are offered, and all of four."""

    class Generous(StubTool):
        async def match_rule(self, rule_content: str | None, tool_input: Any) -> bool:
            return rule_content is not None and int(rule_content) > 0

        async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
            return [rule("allow", str(number)) for number in range(tool_input["count"])]

    async def offered(count: int) -> list[str | None]:
        engine = PermissionEngine(PermissionContext())
        decision = await engine.check_permission(Generous(), {"count": count})
        return [each.rule_content for each in decision.suggested_rules or []]

    assert await offered(8) == ["1", "2", "3", "4", "5"]
    assert await offered(5) == ["1", "2", "3", "4"]


@given(situations)
async def test_a_suggested_rule_keeps_its_word(situation: Situation) -> None:
    """Deciding the same call under a suggested rule gives ALLOW."""
    decision = await decide(situation)
    for suggested in decision.suggested_rules or []:
        context = context_of(situation)
        PermissionEngine(context).add_rule(suggested)
        again = await PermissionEngine(context).check_permission(tool_of(situation), CALL)
        assert again.behavior is PermissionBehavior.ALLOW
    if decision.bypass_immune or decision.row == 5:
        assert not decision.suggested_rules


async def test_a_change_is_seen_by_the_next_decision() -> None:
    """Mode, lists changed in place, and lists assigned all count at once."""
    context = PermissionContext()
    engine, tool = PermissionEngine(context), StubTool()

    async def verdict() -> str:
        return (await engine.check_permission(tool, CALL)).behavior.value

    assert await verdict() == "ask"
    context.allow_rules.setdefault("Stub", []).append(rule("allow"))
    assert await verdict() == "allow"
    context.deny_rules["Stub"] = [rule("deny", "hello")]
    assert await verdict() == "deny"
    context.deny_rules["Stub"][0] = rule("deny", "other")
    assert await verdict() == "allow"
    context.deny_rules["Stub"] += [rule("deny", "hello")]
    assert await verdict() == "deny"
    context.deny_rules = {}
    del context.allow_rules["Stub"]
    assert await verdict() == "ask"
    context.mode = PermissionMode.BYPASS
    assert await verdict() == "allow"


@pytest.mark.parametrize(
    "change",
    [
        lambda rules: rules.clear(),
        lambda rules: rules.pop(),
        lambda rules: rules.remove(rules[0]),
        lambda rules: rules.__delitem__(0),
        lambda rules: rules.__setitem__(slice(0, 1), []),
        lambda rules: rules.__imul__(0),
    ],
)
async def test_every_way_to_remove_a_rule_is_seen(change: Any) -> None:
    """However an allow rule leaves the list, it no longer allows."""
    context = PermissionContext(allow_rules={"Stub": [rule("allow")]})
    engine = PermissionEngine(context)
    assert (await engine.check_permission(StubTool(), CALL)).behavior is PermissionBehavior.ALLOW
    change(context.allow_rules["Stub"])
    assert (await engine.check_permission(StubTool(), CALL)).behavior is PermissionBehavior.ASK


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"deny_rules": {"Stub": [rule("allow")]}}, "move it to `allow_rules`"),
        ({"allow_rules": {"Other": [rule("allow")]}}, "file it under 'Stub'"),
        ({"alow_rules": {}}, "did you mean 'allow_rules'?"),
    ],
)
def test_a_context_that_could_not_work_is_refused(fields: dict[str, Any], told: str) -> None:
    """A rule in the wrong place, or a misspelt field, is an error that says how to mend it."""
    with pytest.raises(ValueError, match=re.escape(told)):
        PermissionContext(**fields)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"content": "x"}, "did you mean 'rule_content'?"),
        ({"tool_name": " "}, "names none"),
        ({"behavior": "passthrough"}, "decides nothing"),
    ],
)
def test_a_rule_that_could_not_work_is_refused(fields: dict[str, Any], told: str) -> None:
    """A misspelt field, or a rule for nothing or of no behaviour, is an error that says so."""
    with pytest.raises(ValueError, match=re.escape(told)):
        PermissionRule(**{"tool_name": "Bash", "behavior": "deny", **fields})


def test_a_rule_is_refused_where_it_is_put() -> None:
    """Appending a rule to the wrong list raises at once, and the list stays as it was."""
    context = PermissionContext()
    context.allow_rules["Stub"] = [rule("allow")]
    with pytest.raises(RuleError, match="deny_rules"):
        context.allow_rules["Stub"].append(rule("deny"))
    with pytest.raises(RuleError, match="is not a rule"):
        context.allow_rules["Stub"].append(7)  # type: ignore[arg-type]
    assert context.allow_rules == {"Stub": [rule("allow")]}


def test_a_rule_for_an_unknown_tool_is_refused() -> None:
    """A rule that no tool would ever read is an error that names the nearest tool."""
    context = PermissionContext(deny_rules={"Stubb": [rule("deny", name="Stubb")]})
    with pytest.raises(RuleError, match="did you mean 'Stub'"):
        check_rules(context, {"Stub": StubTool()})
    check_rules(context, {"Stub": StubTool()}, tolerated=lambda name: name == "Stubb")


class RelatedRules:
    """Speaks of a call by its text; `perhaps` is what it is not sure of."""

    def __init__(self, rules: Sequence[PermissionRule]) -> None:
        self.rules = rules

    def match(self, call: PreparedCall) -> RuleMatch | None:
        for each in self.rules:
            if each.rule_content == call.tool_input["text"]:
                return RuleMatch(each, told="It is so")
            if each.rule_content == "perhaps":
                return RuleMatch(each, certain=False, told="It may be so")
        return None


class RelatedStub(StubTool):
    """Does what the tool Other is for."""

    related_tools = ("Other",)

    def compile_related(self, rules: Sequence[PermissionRule]) -> RelatedRules:
        return RelatedRules(rules)


RELATED = [
    (("deny hello",), "deny", 1, "denies this: It is so."),
    (("deny perhaps",), "ask", 5, "may deny this: It may be so."),
    (("ask hello",), "ask", 5, "requires approval: It is so."),
    (("ask perhaps",), "ask", 5, "requires approval: It may be so."),
    (("deny perhaps", "ask hello"), "ask", 5, "requires approval: It is so."),
    (("deny perhaps", "deny hello"), "ask", 5, "may deny this"),
    (("allow hello",), "allow", 7, ""),
    (("deny other",), "allow", 7, ""),
]


@pytest.mark.parametrize(("texts", "behavior", "row", "told"), RELATED)
async def test_rules_of_related_tools_deny_and_ask_but_never_allow(
    texts: tuple[str, ...], behavior: str, row: int, told: str
) -> None:
    """A rule that speaks for certain denies; one that may speak asks, in BYPASS too."""
    for mode, expected in (("default", behavior), ("bypass", behavior), ("dont_ask", "deny")):
        context = PermissionContext(mode=PermissionMode(mode))
        for text in texts:
            one = rule(*text.split(" "), name="Other")
            context.table(one.behavior).add(one)
        tool = RelatedStub("allow")
        check_rules(context, {"Stub": tool, "Other": StubTool(name="Other")})
        decision = await PermissionEngine(context).check_permission(tool, CALL)
        wanted = "allow" if behavior == "allow" else expected
        assert (decision.behavior, decision.row) == (wanted, row)
        assert told in decision.message
        alone = await PermissionEngine(context).check_permission(StubTool("allow"), CALL)
        assert alone.behavior == "allow"


async def test_an_own_rule_comes_before_one_in_doubt() -> None:
    """What a tool's own deny rule says is certain, whatever else may be."""
    context = PermissionContext(
        deny_rules={
            "Stub": [rule("deny", "hello")],
            "Other": [rule("deny", "perhaps", name="Other")],
        }
    )
    decision = await PermissionEngine(context).check_permission(RelatedStub("allow"), CALL)
    assert (decision.behavior, decision.row) == ("deny", 1)


def test_a_rule_for_a_related_tool_needs_only_the_one_that_it_is_related_to() -> None:
    """Where one tool heeds the rules of another, a deny rule for that one does something."""
    context = PermissionContext(deny_rules={"Other": [rule("deny", name="Other")]})
    check_rules(context, {"Stub": RelatedStub()})
    with pytest.raises(RuleError, match="not a tool"):
        check_rules(context, {"Stub": StubTool()})
    context = PermissionContext(allow_rules={"Other": [rule("allow", name="Other")]})
    with pytest.raises(RuleError, match="not a tool"):
        check_rules(context, {"Stub": RelatedStub()})


def test_a_context_round_trips_through_json() -> None:
    """Rules, mode and directories survive, and the tables still watch themselves."""
    context = PermissionContext(
        mode=PermissionMode.EXPLORE,
        deny_rules={"Stub": [rule("deny", "x")]},
        ask_rules={"Stub": [rule("ask")]},
    )
    again = PermissionContext.model_validate_json(context.model_dump_json())
    assert again == context
    with pytest.raises(RuleError):
        again.deny_rules["Stub"].append(rule("allow"))
    copied = context.model_copy(deep=True)
    copied.deny_rules["Stub"].clear()
    assert context.deny_rules["Stub"] == [rule("deny", "x")]


def test_a_rule_needs_only_its_tool_and_behaviour() -> None:
    """`rule_content` and `source` have defaults, and a rule prints as a person writes it."""
    short = PermissionRule(tool_name="Bash", behavior=PermissionBehavior.DENY)
    assert (short.rule_content, short.source, str(short)) == (None, "user", "deny Bash")
    assert str(rule("allow", "npm run:*", name="Bash")) == "allow Bash(npm run:*)"
    with pytest.raises(ValueError, match="passthrough"):
        PermissionRule(tool_name="Bash", behavior=PermissionBehavior.PASSTHROUGH)
