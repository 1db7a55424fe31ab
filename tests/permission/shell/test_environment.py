"""Which variables a command line may set, and what they may hold."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agentscope_like.shell import analyze
from agentscope_like.shell.analysis import Effect
from agentscope_like.shell.state.environment import (
    exported_doubt,
    own_doubt,
    special_parameter,
)
from agentscope_like.shell.values import Shape, Unknown

EXPORTED = {
    "LANG": ("en_US.UTF-8", "en/US"),
    "LANGUAGE": ("de:en", "de/en"),
    "LC_ALL": ("C", "/tmp/x"),
    "LC_TIME": ("de_DE@euro", "a b"),
    "TZ": ("Europe/Berlin", "/etc/x"),
    "TERM": ("xterm-256color", "/tmp/x"),
    "COLUMNS": ("80", "-1"),
    "LINES": ("24", "x"),
    "NO_COLOR": ("1", "/"),
    "FORCE_COLOR": ("true", "4"),
    "CLICOLOR": ("1", "2"),
    "CLICOLOR_FORCE": ("0", "2"),
    "COLORTERM": ("truecolor", "x"),
    "CI": ("true", "x"),
    "PAGER": ("cat", "less"),
    "GIT_PAGER": ("cat", "sh"),
    "GH_PAGER": ("", "sh"),
    "MANPAGER": ("cat", "sh"),
    "SYSTEMD_PAGER": ("", "sh"),
    "AWS_PAGER": ("", "sh"),
    "DELTA_PAGER": ("cat", "sh"),
    "BAT_PAGER": ("", "sh"),
    "MANWIDTH": ("80", "wide"),
    "LESS": ("-FRX", "+!sh"),
    "LESSOPEN": ("", "|x"),
    "LESSCLOSE": ("", "x"),
    "GIT_OPTIONAL_LOCKS": ("0", "1"),
    "GIT_TERMINAL_PROMPT": ("0", "1"),
    "GIT_LITERAL_PATHSPECS": ("1", "2"),
    "GREP_COLORS": ("mt=01;31", "/"),
    "GREP_COLOR": ("01;31", "x"),
    "LS_COLORS": ("*.tar=01;31", "/"),
    "QUOTING_STYLE": ("shell-escape", "/"),
    "TIME_STYLE": ("+%Y-%m-%d", "/"),
    "BLOCK_SIZE": ("1K", "-"),
    "BLOCKSIZE": ("512", "-"),
    "DU_BLOCK_SIZE": ("1M", "-"),
    "DF_BLOCK_SIZE": ("1M", "-"),
    "LS_BLOCK_SIZE": ("1M", "-"),
    "PYTHONUTF8": ("1", "x"),
    "PYTHONIOENCODING": ("utf-8:replace", "/"),
    "PYTHONDONTWRITEBYTECODE": ("1", "0"),
    "PYTHONUNBUFFERED": ("1", "x"),
    "PIP_DISABLE_PIP_VERSION_CHECK": ("1", "x"),
    "PIP_NO_COLOR": ("1", "x"),
    "NODE_NO_WARNINGS": ("1", "x"),
    "NO_UPDATE_NOTIFIER": ("1", "x"),
    "CARGO_TERM_COLOR": ("always", "x"),
    "DOCKER_CLI_HINTS": ("false", "true"),
    "HOMEBREW_NO_AUTO_UPDATE": ("1", "0"),
    "HOMEBREW_NO_ANALYTICS": ("1", "0"),
    "DEBIAN_FRONTEND": ("noninteractive", "gtk"),
    "TF_CLI_ARGS": ("", "-chdir=x"),
    "TF_IN_AUTOMATION": ("true", "x"),
}

RESERVED = """
histchars auto_resume http_proxy https_proxy ftp_proxy all_proxy no_proxy rsync_proxy npm_config_x
ld_preload _ _x
"""

NUMBERS = """
? # $ ! RANDOM SRANDOM SECONDS LINENO UID EUID PPID BASHPID EPOCHSECONDS
"""

UNKNOWN = """
PATH LD_PRELOAD BASH_ENV ENV IFS PS4 PROMPT_COMMAND GIT_DIR GIT_SSH EDITOR PYTHONPATH GREP_OPTIONS
VERSION_CONTROL SIMPLE_BACKUP_SUFFIX OUTPUT_CHARSET SOURCE_DATE_EPOCH RIPGREP_CONFIG_PATH LOG_LEVEL
LINES_ LINES__SHOW _LINES USER LOGNAME
"""


def reads_only(command: str) -> bool:
    return analyze(command, directory="/ws", home="/home/u").read_only


def effects(command: str) -> list[Effect]:
    analysis = analyze(command, directory="/ws", home="/home/u")
    return [effect for part in analysis.parts for effect in part.effects]


@pytest.mark.parametrize(("name", "values"), EXPORTED.items())
def test_a_known_variable_may_hold_what_is_harmless(name: str, values: tuple[str, str]) -> None:
    """A program may be given a variable that it shows itself by, but not any value of it."""
    harmless, other = values
    assert reads_only(f"{name}='{harmless}' ls")
    assert reads_only(f"env '{name}={harmless}' ls")
    assert not reads_only(f"{name}='{other}' ls")
    assert not reads_only(f"export {name}='{other}'; ls")
    assert not reads_only(f"{name}=$UNKNOWN ls")


@pytest.mark.parametrize("name", UNKNOWN.split())
def test_any_other_variable_is_doubted(name: str) -> None:
    """What is not listed may make a program do something else, for one command or for all."""
    assert not reads_only(f"{name}=x ls")
    assert not reads_only(f"{name}=x; ls")
    assert not reads_only(f"export {name}=x")


@pytest.mark.parametrize("name", RESERVED.split())
def test_a_lower_case_name_that_programs_read_is_doubted(name: str) -> None:
    """The command line may use lower-case names of its own, but for those that others read."""
    assert not reads_only(f"{name}=x; ls")
    assert reads_only(f"my{name}=x; ls")


@pytest.mark.parametrize(
    "name",
    ["x", "file", "x1", "some_name", "DIR", "FILES", "A", "VERSION", "LINES_TO_SHOW", "OLD_FILE"],
)
def test_the_command_lines_own_names_are_free(name: str) -> None:
    """A name that no common program reads may hold anything, but is not handed to a program."""
    assert reads_only(f"{name}=/any/thing; ls")
    assert not reads_only(f"{name}=/any/thing ls")


@pytest.mark.parametrize("name", NUMBERS.split())
def test_the_shells_numbers_are_numbers(name: str) -> None:
    """What the shell counts itself can stand where a number must; what it is told cannot."""
    assert reads_only(f"head -n ${name} f")
    assert reads_only(f"git show ${name}")
    assert not reads_only("head -n $UNKNOWN f")
    assert not reads_only("git show $UNKNOWN")


def test_the_shells_directories_are_paths() -> None:
    """`$PWD` and `$HOME` are known, and `$OLDPWD` is a path, which is no option."""
    assert [effect.path for effect in effects("cat $PWD/a $HOME/b")] == ["/ws/a", "/home/u/b"]
    assert reads_only('sort "$OLDPWD"')
    assert not reads_only('sort "$UNKNOWN"')


def test_where_the_shell_is_may_be_unknown() -> None:
    """After a change to an unknown directory `$PWD` is some path."""
    assert reads_only('cd "$d"; sort "$PWD"')
    assert effects('cd "$d"; sort "$PWD"')[-1].path is None
    assert not reads_only('cd "$d"; sort "$UNKNOWN"')


def test_several_words_can_come_of_one_parameter() -> None:
    """The positional parameters are any number of words, of which each may be an option."""
    assert not reads_only('sort "$@"')
    assert not reads_only('sort "$*"')
    assert reads_only('cat "$@"')


@pytest.mark.parametrize("name", ["1x", "x-y", "a[1]"])
def test_what_is_no_plain_name_is_not_assigned(name: str) -> None:
    """A name that bash would evaluate is doubted where a builtin assigns it."""
    assert not reads_only(f"export '{name}=x'")
    assert not reads_only(f"declare '{name}=x'")


@pytest.mark.parametrize(
    "name", ["ABOVE", "SHOW", "aB", "Ab", "LINES_PATH", "PATH_LINES", "a-b", "1"]
)
def test_a_name_is_free_as_a_whole(name: str) -> None:
    """One word of those that names are made of is no such name, and neither is a mere beginning."""
    assert own_doubt(name, "x") is not None
    assert own_doubt("ABOVE_SHOW", "x") is None
    assert own_doubt("ab", "x") is None


@pytest.mark.parametrize("name", ["http_proxy", "npm_x", "_x", "ld_x"])
def test_only_names_that_are_read_are_reserved(name: str) -> None:
    """A name is reserved as a whole, or by how it begins."""
    assert own_doubt(name, "x") is not None
    assert own_doubt(f"{name}s"[1:].lstrip("_"), "x") is None


def test_words_may_be_split_at_fewer_blanks() -> None:
    """What splits words may be less than by default, and nothing else."""
    for blanks in ("", " ", "\t", "\n", " \t\n"):
        assert own_doubt("IFS", blanks) is None
    for other in (",", " ,", Unknown(), Unknown(choices=("",))):
        assert own_doubt("IFS", other) is not None
    assert own_doubt("PS4", "") is not None


def test_the_last_argument_is_not_the_command_lines_own() -> None:
    """The shell sets `_` to what is not known here; another text is for a program to read."""
    assert own_doubt("_", Unknown()) is None
    assert own_doubt("_", "x") is not None
    assert own_doubt("_x", Unknown()) is not None


def test_a_family_of_variables_is_known_by_its_beginning() -> None:
    """What begins as a family does may hold the same; what only holds its name may not."""
    assert exported_doubt("LC_ANY", "C") is None
    assert exported_doubt("LC_ANY", "/tmp") is not None
    assert exported_doubt("LC_ANY", Unknown()) is not None
    assert exported_doubt("XLC_", "C") is not None
    assert exported_doubt("LCX", "C") is not None
    assert exported_doubt("LANGUAGES", "C") is not None
    assert own_doubt("LC_ANY", "C") is None
    assert own_doubt("LC_ANY[1]", "C") is not None


def test_what_the_shell_knows_of_itself() -> None:
    """A number, a path or a login name is known as such, and nothing of any other parameter."""
    number = Unknown(option=False, shape=Shape.INTEGER, filled=True)
    path, word = Unknown(prefix="/", option=False), Unknown(option=False, shape=Shape.WORD)
    here = ("/ws",)
    assert special_parameter("$", here, "/home/u") == number
    assert special_parameter("RANDOM", here, "/home/u") == number
    assert special_parameter("!", here, "/home/u") == replace(number, filled=False)
    assert special_parameter("@", here, "/home/u") == Unknown(single=False)
    assert special_parameter("*", here, "/home/u") == Unknown(single=False)
    assert special_parameter("HOME", here, "/home/u") == "/home/u"
    assert special_parameter("HOME", here, None) == path
    assert special_parameter("HOME", here, "") == path
    assert special_parameter("PWD", here, None) == "/ws"
    assert special_parameter("PWD", ("/ws", "/ws/a"), None) == path
    assert special_parameter("PWD", (), None) == path
    assert special_parameter("OLDPWD", here, "/home/u") == Unknown(option=False)
    assert special_parameter("USER", here, "/home/u") == word
    assert special_parameter("LOGNAME", here, "/home/u") == word
    assert special_parameter("PATH", here, "/home/u") == Unknown()
    assert special_parameter("1", here, "/home/u") == Unknown()


@pytest.mark.parametrize("name", NUMBERS.split())
def test_a_plain_shell_counts_less(name: str) -> None:
    """For `sh`, only the numbers of the standard are numbers; another name is a variable."""
    known = special_parameter(name, ("/ws",), None, posix=True)
    assert (known == Unknown()) is (name not in {"?", "#", "$", "!", "LINENO", "PPID"})
    assert known in {Unknown(), special_parameter(name, ("/ws",), None)}
