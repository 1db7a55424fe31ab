"""Rules as a person writes them, wherever rules are taken."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from agentscope_like.event import ConfirmResult
from agentscope_like.message import ToolCallBlock
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
    RuleError,
)

ALLOW, DENY = PermissionBehavior.ALLOW, PermissionBehavior.DENY


@pytest.mark.parametrize(
    "text",
    ["allow Bash(npm run:*)", "deny Read", "ask Write(src/**)", "allow Bash(echo (a):*)"],
)
def test_a_rule_reads_back_what_it_prints(text: str) -> None:
    """The text of a rule is the rule's own spelling."""
    assert str(PermissionRule.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (" allow  Bash ", "allow Bash"),
        ("allow Bash (ls)\n", "allow Bash(ls)"),
        ("deny Bash()", "deny Bash()"),
        ("ask Bash( a b )", "ask Bash( a b )"),
        ("ask Bash(a (b))", "ask Bash(a (b))"),
    ],
)
def test_blanks_around_a_rule_and_its_tool_are_no_part_of_them(text: str, rule: str) -> None:
    """Those in the content are, and the last parenthesis alone ends it."""
    assert str(PermissionRule.parse(text)) == rule


def test_a_text_may_leave_out_a_behavior_that_is_known() -> None:
    """Where the behaviour is given, the text names the tool and the content only."""
    rule = PermissionRule.parse("Bash(npm run:*)", ALLOW, source="team")
    assert (str(rule), rule.source) == ("allow Bash(npm run:*)", "team")


@pytest.mark.parametrize(
    ("text", "behavior", "says"),
    [
        ("alow Bash(ls)", None, "did you mean 'allow'"),
        ("Bash(ls)", None, "begins with one of"),
        ("deny Bash(ls)", ALLOW, "leave out 'deny'"),
        ("allow Bash(ls", None, "is not a rule"),
        ("allow (ls)", None, "is not a rule"),
        ("allow", None, "is not a rule"),
        ("allow Bash ls", None, "is not a rule"),
        ("allow Bash(ls) x", None, "is not a rule"),
        ("passthrough Bash", None, "begins with one of"),
        ("Bash ls", ALLOW, "is not a rule"),
    ],
)
def test_what_is_no_rule_is_refused_with_the_cure(
    text: str, behavior: PermissionBehavior | None, says: str
) -> None:
    """A text that is not a rule is an error that says how one is written."""
    with pytest.raises(RuleError, match=says):
        PermissionRule.parse(text, behavior)


def test_a_rule_does_not_change() -> None:
    """A rule that was shown stays the one that was shown."""
    rule = PermissionRule.parse("deny Bash(rm:*)")
    with pytest.raises(ValidationError, match="frozen"):
        rule.behavior = ALLOW  # type: ignore[misc]
    assert str(rule) == "deny Bash(rm:*)"


def test_a_policy_is_built_from_texts() -> None:
    """`from_rules` takes texts and rules, and files each under its tool."""
    policy = PermissionContext.from_rules(
        allow=["Bash(npm run:*)", PermissionRule(tool_name="Read", behavior=ALLOW)],
        deny=["Bash(git push:*)"],
        mode=PermissionMode.EXPLORE,
        working_directories=["/srv/app"],
    )
    assert {name: list(map(str, rules)) for name, rules in policy.allow_rules.items()} == {
        "Bash": ["allow Bash(npm run:*)"],
        "Read": ["allow Read"],
    }
    assert [str(rule) for rule in policy.deny_rules["Bash"]] == ["deny Bash(git push:*)"]
    assert policy.directories == ("/srv/app",)
    assert PermissionContext.model_validate_json(policy.model_dump_json()) == policy


def test_a_rule_in_the_wrong_list_is_refused() -> None:
    """A text that denies is no allow rule, in whatever form the list is given."""
    with pytest.raises(ValidationError, match="leave out 'deny'"):
        PermissionContext.from_rules(allow=["deny Bash(ls)"])
    with pytest.raises(ValidationError, match="is in the allow rules"):
        PermissionContext.from_rules(allow=[PermissionRule(tool_name="Read", behavior=DENY)])


def test_engine_and_answers_take_texts() -> None:
    """`add_rule` and the rules of a person's answer may be texts."""
    policy = PermissionContext()
    PermissionEngine(policy).add_rule("deny Bash(git push:*)")
    policy.allow_rules.setdefault("Read", []).append(PermissionRule.parse("allow Read"))
    policy.allow_rules["Read"].append("Read(docs/**)")  # type: ignore[arg-type]
    assert [str(rule) for rule in policy.allow_rules["Read"]] == [
        "allow Read",
        "allow Read(docs/**)",
    ]
    assert [str(rule) for rule in policy.deny_rules["Bash"]] == ["deny Bash(git push:*)"]
    answer = ConfirmResult.model_validate(
        {
            "confirmed": True,
            "tool_call": ToolCallBlock(id="1", name="Bash", input="{}"),
            "rules": ["allow Bash(npm run:*)"],
        }
    )
    assert [str(rule) for rule in answer.rules or ()] == ["allow Bash(npm run:*)"]
