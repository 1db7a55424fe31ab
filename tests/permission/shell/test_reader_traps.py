"""The traps that other parsers fall into: each is read as bash reads it, or refused.

The rows are those of the measurements that the reader was designed by: commands which some parser
accepted while it lost a command that bash ran, on which some parser hung or crashed, or whose
danger no parser sees.
"""

from __future__ import annotations

import pytest

from tests.permission.shell.prediction import names_marker
from tests.permission.shell.syntax import ReadError, read
from tests.permission.shell.tree_text import script_text

REFUSED = None

_LOST_BY_PARSERS = [
    ("echo ${x:=`evil`}", "echo ${x := `evil)}"),
    ("echo `echo \\`evil\\``", "echo `echo `evil))"),
    ("ev\\\nil", "evil"),
    ("time evil", "time evil"),
    ("coproc evil", REFUSED),
    ("! ! evil", REFUSED),
    ("! evil", "! evil"),
    ("then evil", REFUSED),
    ("echo a;;evil", REFUSED),
    ("evil }; }", REFUSED),
    ("f() { }; evil", REFUSED),
    ("<<E evil\nE", "evil <<'' ¶"),
    ("cat <<E;evil\nE", "cat <<'' ; evil ¶"),
    ("a <<E <<F; evil\n1\nE\n2\nF", "a <<'1\\n' <<'2\\n' ; evil ¶"),
    ("evil {fd}>x", REFUSED),
    ("{evil,a}", "evil a"),
    ("echo $;evil", "echo '$' ; evil"),
    ("((a); evil)", REFUSED),
    ("( (a); evil)", "((a) ; evil)"),
    ("` evil\nevil", REFUSED),
    ("cat <<E\n$(evil)\nE", "cat <<$(evil)'\\n' ¶"),
    ("echo $(cat <<E\n)\nE\nevil)", "echo $(cat <<')\\n' ¶ evil)"),
    ("echo ${x:-$(evil)}", "echo ${x :- $(evil)}"),
    ('echo "${x:-$(evil)}"', 'echo "${x :- $(evil)}"'),
    ("``evil ", "`)evil"),
    ("cat <<'E'\n$(x)\nE\nevil", "cat <<''$(x)\\n'' ¶ evil"),
    ("[[ x ]] && evil", "[[ x ]] && evil"),
    ("case x in x) evil;; esac", "case x in x) evil;; esac"),
    ("a=(x $(evil))", "(a=[x $(evil)])"),
    ("a=([$(evil)]=x)", REFUSED),
    ("a=(x) evil", REFUSED),
    ("a=(x)evil", REFUSED),
    ("a=(x\n) \nevil", "(a=[x]) ¶ evil"),
    ("(( $(evil) ))", "(($(evil))){evil}"),
    ("(( x[$(evil)] ))", REFUSED),
    ("echo $(( $(evil) ))", "echo $(( $(evil) ))<>{evil}"),
    ("echo $(( `evil` ))", REFUSED),
    ("for ((;;)); do evil; done", REFUSED),
    ("select x in y; do evil; done", REFUSED),
    ("time -p evil", "time evil"),
    ("cat <<<\revil||a", REFUSED),
    ("export x=$(evil)", "export x=$(evil)"),
    ("declare x=`evil`", "declare x=`evil)"),
    ("let x=$(evil)", "let x=$(evil)"),
    ('echo "$\'"; evil; echo "\'"', 'echo "$\'" ; evil ; echo "\'"'),
    ("echo 'x; evil", REFUSED),
    ("evil |", REFUSED),
    ("echo ${a[$(evil)]}", REFUSED),
    ("./ev?l", "./ev«?»l"),
    ("12>/dev/null evil", "evil 12>/dev/null"),
    ("if a; then evil; fi", "if a ; then evil ; fi"),
    ("a &&\nevil", "a && evil"),
    ("a\nevil\nfi", REFUSED),
]

_HANGS_AND_CRASHES = [
    ("echo '${a:'b", "echo '${a:b'"),
    ("echo '${'$", "echo '${$'"),
    ("'${'$", "'${$'"),
    ("'${'!", "'${!'"),
    ("cat <<<#x", REFUSED),
    ("(" * 30, REFUSED),
    ('"$(' * 25 + "evil" + ')"' * 25, "$(" * 25 + "evil" + ")" * 25),
    ("( " * 2_000, REFUSED),
    ("if " * 3_000, REFUSED),
    ("${x:-" * 2_000, REFUSED),
]

_CODE_IN_DATA = [
    ("x='a[$(evil)]'; echo $((x))", "(x='a[$(evil)]') ; echo $((x))<x>"),
    ("[[ -v 'a[$(evil)]' ]]", REFUSED),
    ("[[ 'a[$(evil)]' -eq 1 ]]", REFUSED),
    ("[[ a[$(evil)] -eq 1 ]]", REFUSED),
    ("a[$(evil)]=1", REFUSED),
    ("a[ $(evil) ]=1 ls", REFUSED),
    ("test -v 'a[$(evil)]'", "test -v 'a[$(evil)]'"),
    ("read 'a[$(evil)]'", "read 'a[$(evil)]'"),
    ("let 'a[$(evil)]=1'", "let 'a[$(evil)]=1'"),
    ("echo ${x@P}", REFUSED),
    ("echo $[a[$(evil)]]", REFUSED),
    ("PS4='$(evil)'; set -x", "(PS4='$(evil)') ; set -x"),
    ("ls(){ evil; }; ls", "ls() {evil ;} ; ls"),
    ("-n evil", REFUSED),
    ("echo ${ evil; }", REFUSED),
    ("echo ${| evil; }", REFUSED),
    ('echo "${ evil; }"', REFUSED),
    ("ls\u00a0evil", REFUSED),
    ("ls \u2028evil", REFUSED),
]

_ROWS = [*_LOST_BY_PARSERS, *_HANGS_AND_CRASHES, *_CODE_IN_DATA]


@pytest.mark.parametrize(("command", "text"), _ROWS, ids=[command[:40] for command, _ in _ROWS])
def test_a_trap_is_read_as_bash_reads_it_or_refused(command: str, text: str | None) -> None:
    """No trap makes the reader lose a command, hang or crash."""
    if text is REFUSED:
        with pytest.raises(ReadError):
            read(command)
    else:
        assert script_text(read(command)) == text


@pytest.mark.parametrize(
    "command",
    [command for command, text in _LOST_BY_PARSERS if text is not REFUSED and "evil" in command],
)
def test_a_lost_command_is_found_in_the_tree(command: str) -> None:
    """Where a trap is taken, the tree names the hidden program or leaves the name open."""
    assert names_marker(read(command)) or command.startswith(("./", "``"))
