"""What one command leaves to the next."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.exception import AgentOrientedException
from agentscope_like.sandbox.terminal import launch
from agentscope_like.shell.catalog import off_switches, steering_table
from agentscope_like.typed.tools.terminal import TerminalExecutor
from agentscope_like.typed.tools.terminal.calls import TerminalCall
from agentscope_like.typed.tools.terminal.carried import carried_over
from tests.typed.terminal.kit import Session

STEERING = (
    *("PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "ENV", "PYTHONPATH", "PYTHONSTARTUP"),
    *("GIT_DIR", "GIT_PAGER", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT", "PAGER"),
    *("NODE_OPTIONS", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "EDITOR", "VISUAL", "LESSOPEN"),
    *("HOME", "TMPDIR", "IFS", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH"),
    *("http_proxy", "npm_config_registry", "BASH_FUNC_ls%%", "MAKEFLAGS", "XDG_CONFIG_HOME"),
)


async def test_the_directory_and_exported_variables_are_carried_over(session: Session) -> None:
    """A change of one replaces it, and `unset` ends it."""
    (Path(session.tool.cwd) / "src").mkdir()
    await session("cd src; export name='two words' LANG=C; plain=1")
    seen = await session('pwd; echo "$name/$plain/$LANG"')
    assert seen.output == f"{session.tool.cwd}/src\ntwo words//C"
    assert seen.observation.metadata.working_dir == f"{session.tool.cwd}/src"
    await session("name=other; unset LANG")
    assert (await session('echo "$name"')).output == "other"
    await session("unset name")
    assert (await session('echo "[$name]"')).output == "[]"


@pytest.mark.parametrize("confine", ["auto", "off"])
async def test_without_a_keeper_it_is_the_same(
    make_session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch, confine: str
) -> None:
    """Where programs are started in another way, they report as well."""
    monkeypatch.setattr(launch, "keeper_works", lambda: False)
    session = make_session(confine=confine)
    await session("mkdir src && cd src && export name=value")
    assert (await session('echo "${PWD##*/} $name"; exit 3')).output == "src value"
    assert (await session("exit 3")).observation.exit_code == 3


@pytest.mark.parametrize("name", STEERING)
def test_a_variable_that_steers_programs_is_not_carried_over(name: str) -> None:
    """Whatever it holds, but for values that are known to change nothing."""
    carried = carried_over({}, {}, {name: "./evil"})
    assert carried.variables == {}
    assert carried.refused == (name,)


def test_no_variable_of_the_catalog_that_steers_is_carried_over() -> None:
    """Neither those that name files, nor those that switch off what a project says."""
    names = {name for record in steering_table() for name in record.variables.split()}
    assert names
    for name in (*names, *off_switches()):
        assert carried_over({}, {}, {name: "./evil"}).variables == {}, name


@given(
    st.dictionaries(st.sampled_from(["a", "b", "FILE", "PATH", "LANG"]), st.sampled_from("xyz")),
    st.dictionaries(st.sampled_from(["a", "b", "FILE", "PATH", "LANG"]), st.sampled_from("xyz")),
)
def test_each_change_is_carried_or_told(given_: dict[str, str], reported: dict[str, str]) -> None:
    """Nothing is left out silently, and nothing that stayed is told."""
    carried = carried_over({}, given_, reported)
    changed = {name for name, value in reported.items() if given_.get(name) != value}
    assert set(carried.variables) | set(carried.refused) == changed
    assert not set(carried.variables) & set(carried.refused)


def test_a_variable_that_holds_a_secret_is_not_carried_over() -> None:
    """A later command could print it unasked."""
    given_ = {"API_KEY": "sk-0123456789"}
    reported = {**given_, "name": "key=sk-0123456789", "other": "plain"}
    carried = carried_over({}, given_, reported)
    assert carried.variables == {"other": "plain"}
    assert carried.refused == ("name",)


def test_no_more_is_carried_over_than_a_command_can_be_given() -> None:
    """Many variables and long ones are told instead."""
    many = carried_over({}, {}, {f"v{chr(97 + n % 26)}{n}": "x" for n in range(500)})
    assert len(many.variables) == 200
    assert len(many.refused) == 300
    assert carried_over({}, {}, {"long": "x" * 10_000}).refused == ("long",)


async def test_what_is_not_carried_over_is_told(session: Session) -> None:
    """So the model sets it where it is needed."""
    seen = await session("export PATH=/evil PYTHONPATH=x name=1")
    assert "Not carried over to later commands: PATH, PYTHONPATH." in seen.text
    assert seen.observation.metadata.not_carried == ("PATH", "PYTHONPATH")
    after = await session('echo "$PATH" "$PYTHONPATH" "$name"')
    assert "/evil" not in after.output
    assert after.output.endswith(" 1")
    assert "Not carried" not in after.text


async def test_no_command_falsifies_a_later_proof(
    make_session: Callable[..., Session], tmp_path: Path
) -> None:
    """Functions, aliases, traps, options and PATH of one command are unknown to the next."""
    evil = tmp_path / "bin"
    evil.mkdir()
    (evil / "ls").write_text("#!/bin/bash\ntouch pwned\n")
    (evil / "ls").chmod(0o755)
    session = make_session()
    for command in (
        "ls() { touch pwned; }; export -f ls",
        "shopt -s expand_aliases; alias ls='touch pwned'",
        "trap 'touch pwned' DEBUG EXIT; export PROMPT_COMMAND='touch pwned'",
        "set -x; export PS4='$(touch pwned)' SHELLOPTS",
        f"export PATH={evil}:$PATH; hash -p {evil}/ls ls",
        f"export BASH_ENV={evil}/ls ENV={evil}/ls LD_PRELOAD={evil}/ls LESSOPEN='|touch pwned'",
        "enable -n pwd; readonly -f ls 2>/dev/null; exec 9>pwned.fd; ulimit -f 0",
    ):
        await session(command)
        for name in ("pwned", "pwned.fd"):
            (tmp_path / name).unlink(missing_ok=True)
        assert (await session("pwd; ls")).observation.exit_code == 0, command
        assert not (tmp_path / "pwned").exists(), command


async def test_a_report_cannot_be_forged_into_more(session: Session) -> None:
    """A command may write to the descriptor of the report: it could export as much."""
    seen = await session(
        r"""for fd in /proc/$$/fd/1??; do printf '/\n\0PATH=/evil\0name=forged\0' >$fd; done"""
    )
    assert seen.observation.metadata.working_dir in ("/", session.tool.cwd)
    assert "/evil" not in (await session("echo $PATH")).output


async def test_sessions_have_terminals_of_their_own(session: Session, tmp_path: Path) -> None:
    """One does not see the directory, the variables or the program of another."""
    from tests.typed.kit import state_in  # of this test alone

    other = state_in("bypass", cwd=tmp_path)
    await session("mkdir d; cd d; export name=mine")
    await session("sleep 60")
    seen = await session('pwd; echo "[$name]"', state=other)
    assert seen.output == f"{tmp_path}\n[]"
    assert (await session()).observation.is_running


async def test_reset_starts_anew(session: Session, tmp_path: Path) -> None:
    """The directory is the first one, and no variable is left."""
    await session("mkdir d; cd d; export name=mine")
    assert f"anew in {tmp_path}" in (await session(reset=True)).text
    assert (await session('pwd; echo "[$name]"')).output == f"{tmp_path}\n[]"


async def test_a_directory_that_is_gone_is_told(session: Session, tmp_path: Path) -> None:
    """The next command starts where the first one did."""
    await session("mkdir d; cd d")
    (tmp_path / "d").rmdir()
    assert "is gone" in (await session("pwd")).text
    assert (await session("pwd")).output == str(tmp_path)


async def test_a_command_starts_in_the_directory_that_was_decided_about(
    session: Session, tmp_path: Path
) -> None:
    """Not in another one that is put in its place before it starts."""
    await session("mkdir d; cd d")
    call = await session.tool.prepare_call(
        {"command": "touch made"}, session.state.permission_context, session.state
    )
    (tmp_path / "d").rename(tmp_path / "before")
    (tmp_path / "d").mkdir()
    assert isinstance(call, TerminalCall)
    executor = session.tool.executor
    assert isinstance(executor, TerminalExecutor)
    with pytest.raises(AgentOrientedException, match="not the directory that was decided about"):
        await executor.terminal(session.state).act(call.action, call, 1.0)
    assert os.listdir(tmp_path / "d") == []
