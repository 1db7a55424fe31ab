"""`agentscope-like check` and the errors of the command line."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from agentscope_like import __version__
from agentscope_like.cli.errors import CliError, ExitCode
from agentscope_like.cli.options import parse_mode, parse_rule
from agentscope_like.cli.program_tools import load_tool, parse_input
from agentscope_like.permission import PermissionBehavior
from tests.cli.program import COMMAND, Program


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["ls -la"], 0, "allowed Bash"),
        (["rm notes"], 2, "asks    Bash"),
        (["--mode", "explore", "rm notes"], 1, "denied  Bash"),
        (["--mode", "dont_ask", "npm install"], 1, "denied  Bash"),
        (["--deny", "Bash", "ls"], 1, "deny Bash (from command line)"),
        (["--ask", "Bash", "ls"], 2, "ask Bash (from command line)"),
        (["--tool", "Read", "--allow", "Read(a.txt)", "a.txt"], 0, "allow Read(a.txt)"),
        (["--tool", "Read", "a.txt"], 2, "file_path: a.txt"),
    ],
)
def test_the_exit_code_is_the_decision(
    program: Program, arguments: list[str], code: int, shown: str
) -> None:
    """Allowed ends with 0, denied with 1, asking with 2, and the text says why."""
    result = program.call("check", *arguments)
    assert (result.returncode, result.stderr) == (code, "")
    assert shown in result.stdout


def test_it_says_what_comes_of_a_command_that_runs_held(program: Program) -> None:
    """The decision is the one without; beside it is what `run` does, or why that is the same."""
    held = program.call("check", "--json", "npm test")
    assert held.returncode == 2
    assert "runs at once on a layer" in json.loads(held.stdout)["held"]
    assert "held    with --contain on" in program.call("check", "npm test").stdout
    for command in ("git push", "curl example.org"):
        same = json.loads(program.call("check", "--json", command).stdout)
        assert same["decision"] == "ask"
        assert "the same, since" in same["held"]
    for arguments in (["ls"], ["--deny", "Bash(npm:*)", "npm test"], ["rm -rf /"]):
        other = json.loads(program.call("check", "--json", *arguments).stdout)
        assert other["held"] is None


def test_the_installed_program_is_the_same(program: Program) -> None:
    """In a process of its own the program decides, explains and complains just so."""
    for arguments in (["check", "rm notes"], ["check", "--mode", "safe", "ls"], ["check", "ls"]):
        own, here = program.run(*arguments), program.call(*arguments)
        assert own.returncode == here.returncode
        assert own.stdout == here.stdout
        assert own.stderr == here.stderr


def test_json_is_for_programs(program: Program) -> None:
    """`--json` prints one object, with the decision and the parts of the command."""
    result = program.run("check", "--json", "cat a > b")
    data = json.loads(result.stdout)
    assert (data["decision"], result.returncode) == ("ask", 2)
    assert data["allowed_by"]["without"] == ["> b"]
    assert [part["program"] for part in data["parts"]] == ["cat"]


def test_hostile_text_cannot_steer_the_terminal(program: Program) -> None:
    """A command with an escape sequence is shown with the sequence spelt out."""
    result = program.run("check", "echo \x1b[2J\x1b[Hallowed Bash \u202e")
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert r"\x1b[2J" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["check", "--mode", "exlpore", "ls"], 64, "did you mean 'explore'?"),
        (["check", "--tool", "Wriet", "x"], 64, "did you mean 'Write'?"),
        (["check", "--tool", "Write", "x"], 64, "file_path"),
        (["check", "--tool", "Write", '{"file_path": 3, "content": ""}'], 64, "file_path"),
        (["check", "--allow", "Basj(x)", "ls"], 64, "did you mean 'Bash'?"),
        (["check", "--allow", "Bash(x", "ls"], 64, "is not a rule"),
        (["check", "--cwd", "/nowhere/at/all", "ls"], 66, "does not exist"),
        (["check", "--tol", "Bash", "ls"], 64, "--tool"),
        (["check"], 64, "COMMAND"),
        (["chekc", "ls"], 64, "check"),
        (["rules", "add", "alow Bash"], 64, "did you mean 'allow'?"),
        (["rules", "remove", "3"], 64, "no rule 3"),
        (["run", "hello"], 64, "AGENTSCOPE_LIKE_MODEL"),
        (["run", "--model", "gpt-5", "hello"], 78, "OPENAI_API_KEY"),
        (["run", "--model", "scripted:nowhere.jsonl", "hello"], 78, "nowhere.jsonl"),
        (["run", "--model", "gpt-5"], 64, "no terminal"),
        (["run", "--resume", "abc"], 66, "agentscope-like sessions"),
        (["run", "--mode", "safe", "--model", "m", "hello"], 64, "unknown mode 'safe'"),
    ],
)
def test_mistakes_are_told_in_a_sentence(
    program: Program, arguments: list[str], code: int, said: str
) -> None:
    """A mistake ends with its own exit code and one sentence with the fix, without a traceback."""
    result = program.call(*arguments)
    assert result.returncode == code
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [[], ["check"], ["run"], ["rules"], ["rules", "add"], ["rules", "remove"], ["sessions"]],
)
def test_help_has_examples(program: Program, command: list[str]) -> None:
    """The help of every command shows how it is used."""
    result = program.call(*command, "--help")
    assert result.returncode == 0
    assert "Example" in result.stdout
    assert "agentscope-like " in result.stdout.split("Example")[1]


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        ([], [0]),
        (["check"], [0, 0, 0, 2]),
        (["rules"], [0, 0, 0]),
        (["rules", "add"], [0]),
        (["sessions"], [0, 66]),
        (["run"], [78, 78, 64, 0, 66]),
    ],
)
def test_the_examples_of_the_help_work(
    program: Program, command: list[str], codes: list[int]
) -> None:
    """Pasted one after the other they do what they say, or say what they lack here."""
    (program.project / "session.jsonl").write_text('{"say": "Done."}\n', encoding="utf-8")
    shown = program.call(*command, "--help").stdout.split("Example")[1]
    lines = [line[line.index("agentscope-like") :] for line in shown.splitlines() if " " in line]
    done = [program.call(*shlex.split(line)[1:]) for line in lines if "agentscope-like" in line]
    assert [result.returncode for result in done] == codes
    said = "".join(result.stderr for result in done)
    assert not {"--help", "Traceback"} & set(said.replace(";", " ").split())


def test_the_program_without_a_command_helps(program: Program) -> None:
    """Called with nothing, the program prints its help and ends well."""
    result = program.call()
    assert result.returncode == 0
    assert "check" in result.stdout


def test_the_version_is_told(program: Program) -> None:
    """`--version` prints the version of the package."""
    result = program.call("--version")
    assert (result.returncode, result.stdout) == (0, f"agentscope-like {__version__}\n")


def test_what_nobody_foresaw_does_not_end_like_a_decision(program: Program) -> None:
    """Neither a defect nor a full disk ends with 0, 1 or 2, which say what was decided."""
    with mock.patch("agentscope_like.cli.check.check_call", side_effect=RuntimeError("defect")):
        assert program.call("check", "ls").returncode == 70
    with Path("/dev/full").open("w") as full:
        written = subprocess.run(
            [*COMMAND, "check", "ls"], stdout=full, env=program.environment, check=False
        )
    assert written.returncode >= 64


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_goes_away_is_no_denial(program: Program, options: list[str]) -> None:
    """Where nobody reads the decision, the program ends quietly and not with 0, 1 or 2."""
    with subprocess.Popen(
        [*COMMAND, "check", *options, "ls"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=program.environment,
        text=True,
    ) as running:
        assert running.stdout is not None
        running.stdout.close()
        running.stdout = None
        assert running.communicate()[1] == ""
    assert running.returncode == 74


def test_checking_loads_nothing_heavy(program: Program) -> None:
    """`check` does without the model's client, rich and prompt_toolkit."""
    import sys

    code = (
        "import sys; sys.argv = ['x', 'check', 'ls']\n"
        "from agentscope_like.cli.program import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'openai', 'rich', 'prompt_toolkit', 'jsonschema', 'mcp', 'sqlite3'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=program.project,
        env=program.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_json_without_a_command_is_a_command_to_bash(program: Program) -> None:
    """Bash takes an object with `command` as arguments, and every other text as a command."""
    tool = load_tool("Bash", program.project)
    assert parse_input(tool, '{"command": "ls", "timeout": 5}') == {"command": "ls", "timeout": 5}
    assert parse_input(tool, '{"a": 1}') == {"command": '{"a": 1}'}
    assert parse_input(tool, "ls") == {"command": "ls"}
    with pytest.raises(CliError, match="comand"):
        parse_input(tool, '{"command": "ls", "comand": "ls"}')


def test_a_rule_is_read_to_its_last_parenthesis() -> None:
    """Parentheses inside of a rule's content belong to it."""
    rule = parse_rule("Bash(echo (a):*)", PermissionBehavior.ALLOW)
    assert (rule.tool_name, rule.rule_content) == ("Bash", "echo (a):*")
    assert parse_rule("deny Read").rule_content is None
    assert parse_rule("deny Read").behavior is PermissionBehavior.DENY


def test_modes_are_known_by_name() -> None:
    """Every mode is known by its name; another name is a usage error."""
    assert parse_mode("accept_edits").value == "accept_edits"
    with pytest.raises(CliError) as caught:
        parse_mode("ACCEPT")
    assert caught.value.code is ExitCode.USAGE
