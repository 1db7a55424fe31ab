"""Explanations of decisions, as text and as JSON."""

from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agentscope_like.permission import (
    DecisionRow,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.permission.explain import (
    ROW_WORDS,
    Explanation,
    LineRole,
    cells,
    explain_call,
    lay_out,
    rule_flag,
    visible,
)
from agentscope_like.permission.explain.layout import argument_lines
from agentscope_like.tool.builtin.bash.bash_tool import Bash
from tests.permission.kit import Effect, EffectKind, analyze

ASK = PermissionDecision(
    PermissionBehavior.ASK, "No rule allows it.", row=DecisionRow.NOTHING_MATCHED
)


def of(command: str) -> Explanation:
    """Return the explanation of why a command line is asked about, with what could be left out."""
    analysis, arguments = analyze(command, directory="/work"), {"command": command}
    explaining = explain_call(Bash(cwd="/"), arguments, PermissionContext(), analysis=analysis)
    pieces = asyncio.run(explaining).without
    return Explanation(ASK, "Bash", arguments, analysis, pieces)


def text_of(explanation: Explanation, width: int = 80) -> str:
    """Return an explanation as it is printed."""
    return "\n".join(line.text for line in lay_out(explanation, width))


TEXTS = tomllib.loads(Path(__file__).with_name("explanations.toml").read_text("utf-8"))


@pytest.mark.parametrize(("command", "text"), [tuple(each.values()) for each in TEXTS["command"]])
def test_an_explanation_reads_well_as_a_whole(command: str, text: str) -> None:
    """Marks stand below what they mark, long lists are cut and counted, offers are made."""
    assert text_of(of(command), 60) + "\n" == text


EFFECTS = {
    EffectKind.WRITE: "writes files",
    EffectKind.DELETE: "deletes files",
    EffectKind.NETWORK: "reaches the network",
    EffectKind.EXECUTE: "runs other programs",
}


@pytest.mark.parametrize("kind", sorted({*EffectKind} - {EffectKind.READ, EffectKind.UNKNOWN}))
def test_each_kind_of_effect_is_told(kind: EffectKind) -> None:
    """Also where nothing says what it happens to."""
    found = of("x")
    assert found.analysis is not None
    (part,) = found.analysis.parts
    changed = replace(part, effects=(Effect(kind, "", None, part.span),))
    lines = lay_out(replace(found, analysis=replace(found.analysis, parts=(changed,))), 60)
    told = [line.text.strip() for line in lines if line.role is LineRole.EFFECT]
    assert told == [f"- {EFFECTS[kind]}"]


def test_a_call_without_a_command_is_shown_with_its_arguments() -> None:
    """Short arguments stand beside their names and long ones below; the reasons follow."""
    rule = PermissionRule(tool_name="Write", behavior=PermissionBehavior.ASK, source="project")
    decision = PermissionDecision(
        PermissionBehavior.ASK,
        "A person looks at it.",
        decision_reason="it is new",
        row=DecisionRow.ASK_RULE,
        rule=rule,
        suggested_rules=[
            PermissionRule(
                tool_name="Write", rule_content=content, behavior=PermissionBehavior.ALLOW
            )
            for content in ("a b", "src/**")
        ],
    )
    tool_input = {"file_path": "a", "content": "one\n\ttwo", "flags": {"x": 1}, "long": "y" * 30}
    explanation = Explanation(decision, "Write", tool_input)
    assert [line.text for line in lay_out(explanation, 40)] == [
        "asks    Write",
        "  file_path: a",
        "  content:",
        "    one",
        "        two",
        '  flags: {"x": 1}',
        "  long: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
        "why     A person looks at it.",
        "found   it is new",
        "row 5   an ask rule matches it, or a",
        "        deny rule may",
        "rule    ask Write (from project)",
        "allow   with --allow 'Write(a b)'",
        "        with --allow 'Write(src/**)'",
    ]


@pytest.mark.parametrize(
    ("behavior", "word"),
    [("allow", "allowed"), ("deny", "denied"), ("ask", "asks"), ("passthrough", "no opinion")],
)
def test_the_verdict_comes_first(behavior: str, word: str) -> None:
    """The first line says what is decided, and has a role of its own."""
    decision = PermissionDecision(PermissionBehavior(behavior), "So.")
    first = lay_out(Explanation(decision, "T", {}), 40)[0]
    assert first.text.split()[: len(word.split())] == word.split()
    assert first.role == ("ask" if behavior == "passthrough" else behavior)


def test_a_reason_that_is_told_already_is_not_repeated() -> None:
    """What the message says is not said again as what was found."""
    decision = PermissionDecision(
        PermissionBehavior.ASK, "It is new, so ask.", decision_reason="It is new."
    )
    assert "found" not in text_of(Explanation(decision, "T", {}))


def rows(explanation: Explanation, role: LineRole) -> list[str]:
    """Return the lines of one role."""
    return [line.text for line in lay_out(explanation, 80) if line.role is role]


@pytest.mark.parametrize("row", list(DecisionRow))
def test_every_row_of_the_table_has_words(row: DecisionRow) -> None:
    """Whatever row settled a call, the explanation says so in words, and gives its number."""
    decision = PermissionDecision(PermissionBehavior.DENY, "No.", row=row)
    explanation = Explanation(decision, "Write", {"file_path": "a"})
    text = text_of(explanation)
    assert f"row {row.label}" in text
    assert ROW_WORDS[row].split()[0] in text
    assert explanation.to_json()["row"] == {"number": row.value, "text": ROW_WORDS[row]}


def test_a_decision_of_no_row_tells_none() -> None:
    """What no row of the table settled has no number, and no words of one."""
    decision = PermissionDecision(PermissionBehavior.DENY, "No.")
    explanation = Explanation(decision, "Write", {"file_path": "a"})
    assert explanation.to_json()["row"] is None
    assert "row " not in text_of(explanation)


def test_parts_are_numbered_and_what_is_in_doubt_is_marked() -> None:
    """Each part is underlined with its number, what is in doubt with carets, in place."""
    explanation = of("ls -la && cat a > out.txt")
    command, marks = rows(explanation, LineRole.CALL)[0], rows(explanation, LineRole.MARK)[0]
    assert command == "  ls -la && cat a > out.txt"
    assert marks[command.index("ls")] == "1"
    assert marks[command.index("cat")] == "2"
    doubted = command[marks.index("^") : marks.rindex("^") + 1]
    assert doubted == "> out.txt"


def test_marks_stay_in_place_behind_wide_and_escaped_characters() -> None:
    """Characters that take two columns, or are spelt out, do not shift what stands behind them."""
    for quoted in ("日本語", "\u202e"):
        command = f"echo '{quoted}' > out.txt"
        explanation = of(command)
        shown, marks = rows(explanation, LineRole.CALL)[0], rows(explanation, LineRole.MARK)[0]
        assert cells(shown) == cells("  echo '' > out.txt") + cells(visible(quoted))
        if explanation.analysis is not None and explanation.analysis.parts:
            assert marks.rindex("^") == cells(shown) - 1


def test_nested_commands_are_marked_one_row_further_down() -> None:
    """A command inside of another has marks of its own below those of the outer one."""
    explanation = of("echo $(rm x)")
    first, second = rows(explanation, LineRole.MARK)[:2]
    assert first.lstrip().startswith("1")
    assert second.lstrip().startswith("2")


@pytest.mark.parametrize(
    ("command", "piece"),
    [
        ("grep -c x notes > out.txt", "> out.txt"),
        ("find . -name x -delete", "-delete"),
        ("cat notes | tee copy", "| tee copy"),
        ("ls && rm notes", "&& rm notes"),
        ("rm notes; ls", "rm notes;"),
    ],
)
def test_what_could_be_left_out_is_named(command: str, piece: str) -> None:
    """Where a single piece is in doubt, the explanation names what to leave out."""
    explanation = of(command)
    assert explanation.without == (piece,)
    assert f"would be allowed without `{piece}`" in text_of(explanation)


@pytest.mark.parametrize("command", ["rm a > b", "rm a && rm b", "ls 'unclosed", "\x1b[2J"])
def test_nothing_is_offered_that_would_not_do(command: str) -> None:
    """Where leaving out one piece would not make it a proven read, none is named."""
    assert of(command).without == ()


async def test_nothing_is_offered_against_a_deny_rule() -> None:
    """A call that a rule denies is not said to be allowed without a piece of it."""
    engine = PermissionEngine(PermissionContext())
    engine.add_rule(PermissionRule(tool_name="Bash", behavior=PermissionBehavior.DENY))
    command, analysis = "ls > out.txt", analyze("ls > out.txt", directory="/")
    tool = Bash(cwd="/")
    explanation = await explain_call(tool, {"command": command}, engine.context, analysis=analysis)
    assert explanation.without == ()
    assert "deny Bash" in text_of(explanation)


async def test_an_offer_is_decided_before_it_is_made() -> None:
    """A shortened command that an ask rule would stop is not offered; else it is."""
    command = {"command": "ls > out.txt"}
    tool = Bash(cwd="/")
    analysis = analyze(command["command"], directory="/")
    context = PermissionContext(mode=PermissionMode.EXPLORE)
    free = await explain_call(tool, command, context, analysis=analysis)
    assert free.decision.row is DecisionRow.NOT_READ_ONLY
    assert free.without == ("> out.txt",)
    PermissionEngine(context).add_rule(
        PermissionRule(tool_name="Bash", behavior=PermissionBehavior.ASK)
    )
    stopped = await explain_call(tool, command, context, analysis=analysis)
    assert stopped.without == ()


def test_suggested_rules_can_be_pasted() -> None:
    """A suggested rule is shown as an option that a shell takes as one word."""
    rule = PermissionRule(
        tool_name="Bash", rule_content="npm run it's:*", behavior=PermissionBehavior.ALLOW
    )
    decision = PermissionDecision(
        PermissionBehavior.ASK, "?", row=DecisionRow.NOTHING_MATCHED, suggested_rules=[rule]
    )
    explanation = Explanation(decision, "Bash", {"command": "npm run it"})
    assert rule_flag(rule) in text_of(explanation)
    assert explanation.to_json()["allowed_by"]["rules"] == [str(rule)]


def test_json_has_the_parts_with_their_places() -> None:
    """The JSON form survives `json.dumps`, and its places cut the parts out of the command."""
    command = "ls \u00e9 | tee out.txt"
    data = json.loads(json.dumps(of(command).to_json()))
    assert [command[part["start"] : part["end"]] for part in data["parts"]] == [
        "ls \u00e9",
        "tee out.txt",
    ]
    assert data["parts"][0]["read_only"] is True
    assert data["parts"][1]["doubts"]
    assert data["decision"] == "ask"


HOSTILE = [
    "\x1b[2J\x1b[Hfake prompt",
    "a\rb",
    "\u202egnp.exe",
    "zero\u200bwidth",
    "\ufeffbom",
    "half \ud800 pair",
    "bell\x07 and \x9b31m",
    "tag \U000e0041 selector \ufe0f\U000e0101",
    "line\u2028separator",
    "hangul \u3164 filler",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_steers_a_terminal_is_shown(text: str) -> None:
    """Whatever a call holds, its explanation is printable text, in command, argument and rule."""
    arguments: list[tuple[str, dict[str, Any]]] = [
        ("Bash", {"command": text}),
        ("Write", {"file_path": text, "content": text}),
        (text, {text: [text]}),
    ]
    for name, tool_input in arguments:
        decision = PermissionDecision(
            PermissionBehavior.ASK,
            text,
            decision_reason=f"found {text}",
            row=DecisionRow.NOTHING_MATCHED,
            suggested_rules=[
                PermissionRule(tool_name=name, rule_content=text, behavior=PermissionBehavior.ALLOW)
            ],
        )
        analysis = analyze(text, directory="/work") if name == "Bash" else None
        explanation = Explanation(decision, name, tool_input, analysis)
        for line in lay_out(explanation, 60):
            assert line.text.isprintable(), line
            assert "\ufe0f" not in line.text
            assert "\u3164" not in line.text


@pytest.mark.parametrize("text", ["plain", "naïve café", "日本語", "emoji 🎉", "a\tb\nc"])
def test_honest_text_is_shown_as_it_is(text: str) -> None:
    """Letters of any script, symbols, tabs and line ends are not spelt out."""
    assert visible(text) == text


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_lines_fit_their_width(width: int) -> None:
    """No line is wider than asked for, from the width of a narrow terminal on."""
    explanation = of("cat " + "x" * 300 + " | " + " ".join(["grep"] * 60) + " > out.txt")
    for line in lay_out(explanation, max(width, 30)):
        assert cells(line.text) <= max(width, 30)


def test_what_is_left_out_of_a_long_command_is_no_mark() -> None:
    """The count of lines left out stands among the lines of the command, and has no mark."""
    explanation = of("\n".join(f"ls {number}" for number in range(40)))
    omitted = [line for line in lay_out(explanation, 80) if "more lines" in line.text]
    assert [line.role for line in omitted] == [LineRole.CALL]
    assert all(set(mark) <= set(" 0123456789~^") for mark in rows(explanation, LineRole.MARK))


LONG = [f"ls {number}" for number in range(100)]


@pytest.mark.parametrize(
    ("matters", "shown"),
    [
        ("make all", ["make all"]),
        ("ls > a.py", ["ls > a.py"]),
        ("python3 - <<'E'\nevil()\nmore()\nE", ["python3 - <<'E'", "evil()", "more()"]),
        ("sh -c 'rm x'", ["sh -c 'rm x'"]),
        ("echo ${x@P}", ["echo ${x@P}"]),
    ],
)
@pytest.mark.parametrize("place", [30, 50, 90])
def test_what_matters_is_shown_of_a_long_command(
    matters: str, shown: list[str], place: int
) -> None:
    """A part that is not proven is in view with its input, wherever it stands; reads are not."""
    explanation = of("\n".join([*LONG[:place], matters, *LONG[place:]]))
    in_view = [line.strip() for line in rows(explanation, LineRole.CALL)]
    assert [line for line in in_view if line in shown] == shown
    assert LONG[25] not in in_view
    assert any("more lines" in line for line in in_view)


@pytest.mark.parametrize("count", [13, 40])
def test_each_part_that_is_not_proven_is_listed(count: int) -> None:
    """However many there are."""
    explanation = of("; ".join([*LONG[:30], *(f"touch {number}" for number in range(count))]))
    parts = rows(explanation, LineRole.PART)
    assert sum("not proven to read only" in line for line in parts) == count


async def test_what_a_safety_check_found_is_shown_of_a_long_command() -> None:
    """A part that only reads is in view and marked where it is why the command asks."""
    command = "\n".join([*LONG[:50], "cat ~/.ssh/id_rsa", *LONG[50:]])
    bash = Bash()
    explanation = await explain_call(
        bash,
        {"command": command},
        PermissionContext(),
        analysis=bash.analysis({"command": command}),
    )
    assert explanation.decision.bypass_immune
    assert "  cat ~/.ssh/id_rsa" in rows(explanation, LineRole.CALL)
    assert any("51^^^" in line for line in rows(explanation, LineRole.MARK))
    assert f"  {LONG[50]}" not in rows(explanation, LineRole.CALL)


@pytest.mark.parametrize(
    ("command", "offered", "wider"),
    [
        ("pytest -q tests", ["pytest -q tests"], ["pytest:*"]),
        ("git push origin main", ["git push origin main"], ["git push:*"]),
        ("rm build/x", ["rm build/x"], []),
        ("python3 a.py", ["python3 a.py"], []),
        ("npm run x > a", ["= npm run x > a"], []),
        ("pytest --evil-config=x", ["pytest --evil-config=x"], []),
        ("npm run x && make y", ["= npm run x && make y"], []),
    ],
)
async def test_a_wider_rule_is_told_and_not_offered(
    command: str, offered: list[str], wider: list[str]
) -> None:
    """What opens the operands stands beside the narrow rule, if it would allow the command."""
    bash = Bash()
    explanation = await explain_call(
        bash,
        {"command": command},
        PermissionContext(),
        analysis=bash.analysis({"command": command}),
    )
    assert [rule.rule_content for rule in explanation.suggested_rules] == offered
    assert [rule.rule_content for rule in explanation.wider] == wider
    assert ("whatever its operands are" in text_of(explanation, 200)) is bool(wider)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("make SHELL=./evil", "`allow Bash(make:*)` (from user) does not cover it: `SHELL=./evil`"),
        ("make -C evil", "`-C` is not named"),
        ("make > a.py", "its output is redirected"),
        ("make < a.py", "it is given input"),
        ("cd src && make", "it runs in another directory"),
        ('make "$X"', "a word is only known at run time"),
        ("npm test", ""),
    ],
)
async def test_a_rule_that_does_not_cover_all_is_told(command: str, told: str) -> None:
    """Whoever gave the rule learns why it asks all the same."""
    bash, context = Bash(), PermissionContext()
    PermissionEngine(context).add_rule(
        PermissionRule(tool_name="Bash", rule_content="make:*", behavior=PermissionBehavior.ALLOW)
    )
    call = {"command": command}
    explanation = await explain_call(bash, call, context, analysis=bash.analysis(call))
    assert told in text_of(explanation, 300)
    assert (explanation.uncovered is not None) is bool(told)
    assert (explanation.to_json()["uncovered"] is not None) is bool(told)


def test_each_blank_of_an_argument_is_shown() -> None:
    """Blanks may be what matters in a text that is written, where a line is broken too."""
    text = "  if x:\n\n" + "a" * 100 + "   b  "
    rows = argument_lines(text, 60)
    assert rows[:2] == ["  if x:", ""]
    assert "".join(rows[2:]) == "a" * 100 + "   b  "
    assert all(len(row) <= 60 for row in rows)


def test_a_long_call_says_what_it_leaves_out() -> None:
    """A long argument is cut in the middle, and the lines left out are counted."""
    content = "\n".join(f"line {number}" for number in range(1000))
    text = text_of(Explanation(ASK, "Write", {"file_path": "a", "content": content}))
    assert "line 0" in text
    assert "line 999" in text
    assert "988 more lines" in text or "989 more lines" in text
    assert len(text.splitlines()) < 30
