"""Which variables a command line may set, and what they may hold."""

from __future__ import annotations

import pytest

from tests.permission.kit import EffectKind, argv_of, paths_of, reads

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


@pytest.mark.parametrize(("name", "values"), EXPORTED.items())
def test_a_known_variable_may_hold_what_is_harmless(name: str, values: tuple[str, str]) -> None:
    """A program may be given a variable that it shows itself by, but not any value of it."""
    harmless, other = values
    assert reads(f"{name}='{harmless}' ls")
    assert reads(f"env '{name}={harmless}' ls")
    assert not reads(f"{name}='{other}' ls")
    assert not reads(f"export {name}='{other}'; ls")
    assert not reads(f"{name}=$UNKNOWN ls")


@pytest.mark.parametrize("name", UNKNOWN.split())
def test_any_other_variable_is_doubted(name: str) -> None:
    """What is not listed may make a program do something else, for one command or for all."""
    assert not reads(f"{name}=x ls")
    assert not reads(f"{name}=x; ls")
    assert not reads(f"export {name}=x")


@pytest.mark.parametrize("name", RESERVED.split())
def test_a_lower_case_name_that_programs_read_is_doubted(name: str) -> None:
    """The command line may use lower-case names of its own, but for those that others read."""
    assert not reads(f"{name}=x; ls")
    assert reads(f"my{name}=x; ls")


@pytest.mark.parametrize(
    "name",
    ["x", "file", "x1", "some_name", "DIR", "FILES", "A", "VERSION", "LINES_TO_SHOW", "OLD_FILE"],
)
def test_the_command_lines_own_names_are_free(name: str) -> None:
    """A name that no common program reads may hold anything, but is not handed to a program."""
    assert reads(f"{name}=/any/thing; ls")
    assert not reads(f"{name}=/any/thing ls")


@pytest.mark.parametrize("name", NUMBERS.split())
def test_the_shells_numbers_are_numbers(name: str) -> None:
    """What the shell counts itself can stand where a number must; what it is told cannot."""
    assert reads(f"head -n ${name} f")
    assert reads(f"git show ${name}")
    assert not reads("head -n $UNKNOWN f")
    assert not reads("git show $UNKNOWN")


def test_the_shells_directories_are_paths() -> None:
    """`$PWD` and `$HOME` are known, and `$OLDPWD` is a path, which is no option."""
    assert paths_of("cat $PWD/a $HOME/b") == ["/ws/a", "/home/u/b"]
    assert reads('sort "$OLDPWD/a"')
    assert not reads('sort "$UNKNOWN/a"')


def test_where_the_shell_is_may_be_unknown() -> None:
    """After a change to an unknown directory `$PWD` is some path."""
    assert reads('cd "$d"; sort "$PWD"')
    assert paths_of('cd "$d"; sort "$PWD"', EffectKind.READ)[-1] is None
    assert not reads('cd "$d"; sort "$UNKNOWN"')


def test_several_words_can_come_of_one_parameter() -> None:
    """The positional parameters are any number of words, of which each may be an option."""
    assert not reads('sort "$@"')
    assert not reads('sort "$*"')
    assert reads('ls "$@"')


@pytest.mark.parametrize("name", ["1x", "x-y", "a[1]"])
def test_what_is_no_plain_name_is_not_assigned(name: str) -> None:
    """A name that bash would evaluate is doubted where a builtin assigns it."""
    assert not reads(f"export '{name}=x'")
    assert not reads(f"declare '{name}=x'")


@pytest.mark.parametrize("name", ["ABOVE", "SHOW", "aB", "Ab", "LINES_PATH", "PATH_LINES"])
def test_a_name_is_free_as_a_whole(name: str) -> None:
    """One word of those that names are made of is no such name, and neither is a mere beginning."""
    assert not reads(f"{name}=x; ls")
    assert reads("ABOVE_SHOW=x; ls")
    assert reads("ab=x; ls")


@pytest.mark.parametrize("name", ["http_proxy", "npm_x", "_x", "ld_x"])
def test_only_names_that_are_read_are_reserved(name: str) -> None:
    """A name is reserved as a whole, or by how it begins."""
    assert not reads(f"{name}=x; ls")
    assert reads(f"{name[1:].lstrip('_')}s=x; ls")


@pytest.mark.parametrize("blanks", ["", "' '", "$'\\t'", "$'\\n'", "$' \\t\\n'"])
def test_words_may_be_split_at_fewer_blanks(blanks: str) -> None:
    """What splits words may be less than by default, and nothing else."""
    assert reads(f"IFS={blanks}; ls")
    for other in (",", "' ,'", '"$x"'):
        assert not reads(f"IFS={other}; ls")
    assert not reads("PS4=; ls")


def test_a_family_of_variables_is_known_by_its_beginning() -> None:
    """What begins as a family does may hold the same; what only holds its name may not."""
    assert reads("LC_ANY=C ls")
    assert reads("LC_ANY=C; ls")
    for setting in ("LC_ANY=/tmp", 'LC_ANY="$x"', "XLC_=C", "LCX=C", "LANGUAGES=C"):
        assert not reads(f"{setting} ls")


@pytest.mark.parametrize(
    ("word", "known"),
    [("$HOME", "/home/u"), ("$PWD", "/ws"), ("$USER", None), ("$PATH", None), ("$1", None)],
)
def test_what_the_shell_knows_of_itself(word: str, known: str | None) -> None:
    """The home and the directory are known, and nothing of what a variable holds."""
    assert argv_of(f'echo "{word}"') == ("echo", known)
    assert argv_of(f'cd "$x"; echo "{word}"') == ("echo", known if known != "/ws" else None)


@pytest.mark.parametrize("name", ["USER", "LOGNAME", "HOME", "PWD", "OLDPWD"])
def test_a_login_name_and_a_directory_are_no_options(name: str) -> None:
    """What the system sets so is an argument; what a person sets may be an option."""
    assert reads(f'git show "${name}"')
    assert not reads('git show "$EDITOR"')


@pytest.mark.parametrize("name", NUMBERS.split())
def test_a_plain_shell_counts_less(name: str) -> None:
    """For `sh`, only the numbers of the standard are numbers; another name is a variable."""
    is_standard = name in {"?", "#", "$", "!", "LINENO", "PPID"}
    assert reads(f"sh -c 'head -n ${name} f'") is is_standard
    assert reads(f"bash -c 'head -n ${name} f'")
