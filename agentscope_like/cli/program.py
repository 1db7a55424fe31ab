"""Defines the commands of `agentscope-like`; other modules of this package run them."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, get_args

import typer

from agentscope_like.cli.errors import CliError, ExitCode
from agentscope_like.version import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="agentscope-like",
    help="A coding agent whose every tool call is decided, explained and guarded.",
    epilog="Example: agentscope-like check 'git log --oneline | head'",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Mode = Annotated[
    str,
    typer.Option(help="How much may be done without asking.", metavar="MODE"),
]
Cwd = Annotated[str, typer.Option(help="The project's directory.", metavar="DIR")]
Allow = Annotated[
    list[str] | None,
    typer.Option(help="Allow what the rule matches; repeatable.", metavar="RULE"),
]
Deny = Annotated[
    list[str] | None,
    typer.Option(help="Deny what the rule matches; repeatable.", metavar="RULE"),
]
Ask = Annotated[
    list[str] | None,
    typer.Option(help="Ask about what the rule matches; repeatable.", metavar="RULE"),
]


def _examples(*lines: str) -> str:
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"agentscope-like {__version__}")
        raise typer.Exit


@app.callback()
def program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """A coding agent whose every tool call is decided, explained and guarded."""


@app.command(
    epilog=_examples(
        "agentscope-like check 'git status && ls -la'",
        "agentscope-like check --mode accept_edits 'sort data.txt > sorted.txt'",
        "agentscope-like check --allow 'Bash(npm run:*)' --json 'npm run build'",
        'agentscope-like check --tool Write \'{"file_path": "a.txt", "content": "hi"}\'',
    )
)
def check(
    call: Annotated[str, typer.Argument(metavar="COMMAND", help="A command line, or JSON.")],
    mode: Mode = "default",
    tool: Annotated[str, typer.Option(help="The tool.", metavar="NAME")] = "Bash",
    cwd: Cwd = ".",
    allow: Allow = None,
    deny: Deny = None,
    ask: Ask = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Name the row of the decision table as well.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False,
) -> None:
    """Decide about one call and explain it, without running anything.

    Rules remembered for the project apply as well. The exit code is 0 if the call is allowed, 1 if
    it is denied, 2 if a person would be asked; 64 and more are errors.

    Modes: default, explore, accept_edits, bypass, dont_ask.
    """
    from agentscope_like.cli.check import (
        EXIT_CODES,
        check_call,
        print_explanation,
        print_unconfined,
    )
    from agentscope_like.cli.options import parse_directory, parse_mode, parse_rules
    from agentscope_like.cli.project import ProjectRules

    directory = parse_directory(cwd)
    explanation = check_call(
        call,
        tool_name=tool,
        mode=parse_mode(mode),
        directory=directory,
        rules=[*ProjectRules(directory).load(), *parse_rules(allow, deny, ask)],
    )
    print_explanation(explanation, as_json=json, with_row=explain)
    if tool == "Bash" and not json:
        print_unconfined()
    raise typer.Exit(EXIT_CODES[explanation.decision.behavior])


@app.command(
    epilog=_examples(
        "agentscope-like run --model gpt-5 'Why does the test suite fail?'",
        "agentscope-like run --mode explore --model gpt-5 'Explain how this project is built.'",
        "agentscope-like run --model qwen3 --base-url http://localhost:11434/v1",
        "agentscope-like run --model scripted:session.jsonl --summary 'Repair the bug.'",
        "agentscope-like run --resume 3f2a",
    )
)
def run(
    task: Annotated[str | None, typer.Argument(metavar="TASK", help="What to do.")] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help="How much may be done without asking; default, or as in the resumed session.",
            metavar="MODE",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A model's name, or scripted:FILE; else AGENTSCOPE_LIKE_MODEL.", metavar="MODEL"
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="An OpenAI-compatible server; OpenAI's by default.", metavar="URL"),
    ] = None,
    cwd: Annotated[str | None, typer.Option(help="The project's directory.", metavar="DIR")] = None,
    resume: Annotated[
        str | None, typer.Option(help="Resume a saved session.", metavar="ID")
    ] = None,
    allow: Allow = None,
    deny: Deny = None,
    ask: Ask = None,
    confine: Annotated[
        str,
        typer.Option(
            help="Confine commands to what was decided: auto, require, off.",
            metavar="WHEN",
        ),
    ] = "auto",
    contain: Annotated[
        str,
        typer.Option(
            help="Run what would ask held, and ask about what it changed: on, off.",
            metavar="WHEN",
        ),
    ] = "on",
    ask_reads: Annotated[
        bool,
        typer.Option("--ask-reads", help="Ask about Read, Glob and Grep too, in mode default."),
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(help="Leave tools out: web, memory, background, undo.", metavar="KIND"),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(help="Hold the agent to a profile, a JSON file.", metavar="FILE"),
    ] = None,
    no_save: Annotated[
        bool, typer.Option("--no-save", help="Keep nothing of the session.")
    ] = False,
    summary: Annotated[bool, typer.Option("--summary", help="End with a table.")] = False,
) -> None:
    """Run the agent on a task and answer its questions.

    At a terminal the session continues after the task, until you end it with Ctrl-D or a second
    Ctrl-C. Without a terminal, the script that is the model gives the answers; other questions are
    answered with a rejection.

    Modes: default, explore, accept_edits, bypass, dont_ask.
    """
    import asyncio

    gc.enable()
    from agentscope_like.cli.options import (
        parse_choice,
        parse_directory,
        parse_mode,
        parse_rules,
    )
    from agentscope_like.cli.run import RunOptions, parse_extras, run_session
    from agentscope_like.sandbox.isolation import Confine
    from agentscope_like.tool.builtin.bash import Contain

    confined: tuple[Confine, ...] = get_args(Confine)
    contained: tuple[Contain, ...] = get_args(Contain)
    options = RunOptions(
        task=task,
        mode=None if mode is None else parse_mode(mode),
        model=model,
        base_url=base_url,
        directory=None if cwd is None else parse_directory(cwd),
        resume=resume,
        rules=tuple(parse_rules(allow, deny, ask)),
        confine=parse_choice("--confine", confine, confined),
        contain=parse_choice("--contain", contain, contained),
        with_summary=summary,
        ask_reads=ask_reads,
        with_saving=not no_save,
        without=parse_extras(without),
        profile=None if profile is None else Path(profile),
    )
    raise typer.Exit(asyncio.run(run_session(options)))


@app.command(epilog=_examples("agentscope-like sessions", "agentscope-like run --resume 3f2a"))
def sessions() -> None:
    """List the saved sessions, the latest first."""
    import asyncio

    from agentscope_like.cli.project import list_sessions

    asyncio.run(list_sessions())


rules_app = typer.Typer(
    help="List, add and remove the rules remembered for a project.",
    epilog=_examples(
        "agentscope-like rules",
        "agentscope-like rules add 'allow Bash(npm run:*)'",
        "agentscope-like rules remove 1",
    ),
    invoke_without_command=True,
    rich_markup_mode=None,
)
app.add_typer(rules_app, name="rules", short_help="List, add and remove a project's rules.")


@rules_app.callback()
def rules(context: typer.Context, cwd: Cwd = ".") -> None:
    """List, add and remove the rules remembered for a project.

    They are kept in your own data directory, never in the project.
    """
    from agentscope_like.cli.options import parse_directory
    from agentscope_like.cli.project import ProjectRules, list_rules

    context.obj = ProjectRules(parse_directory(cwd))
    if context.invoked_subcommand is None:
        list_rules(context.obj)


@rules_app.command(epilog=_examples("agentscope-like rules add 'deny Bash(git push:*)'"))
def add(
    context: typer.Context,
    rule: Annotated[str, typer.Argument(help="allow, deny or ask, then the rule.")],
) -> None:
    """Remember a rule for the project."""
    from agentscope_like.cli.project import add_rule

    add_rule(context.obj, rule)


@rules_app.command(epilog=_examples("agentscope-like rules remove 1"))
def remove(
    context: typer.Context,
    number: Annotated[int, typer.Argument(help="The rule's number in the list.")],
) -> None:
    """Forget a rule of the project."""
    from agentscope_like.cli.project import remove_rule

    remove_rule(context.obj, number)


def main() -> None:
    """Run the program; the entry point `agentscope-like`."""
    gc.disable()  # importing makes many objects and hardly any garbage; `run` collects again
    try:
        code = app(args=sys.argv[1:] or ["--help"], standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except CliError as error:
        _complain(error.message)
        code = error.code
    except typer.TyperException as error:
        _complain(f"{error.format_message().rstrip('.')}; try --help")
        code = ExitCode.USAGE
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    except (BrokenPipeError, SystemExit):  # with 1 typer ends by itself, and 1 is a denial here
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = ExitCode.IO_ERROR
    except Exception:
        traceback.print_exc()
        code = ExitCode.SOFTWARE
    gc.freeze()  # the interpreter would look through all of it once more as it ends
    sys.exit(code)


def _complain(message: str) -> None:
    from agentscope_like.permission.explain import visible

    print(f"agentscope-like: {visible(message, layout='')}", file=sys.stderr)
