"""The votes on compound commands: what they confirm, what they stop, and their process."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.shell import Dissent, analyze, analyze_unconfirmed
from agentscope_like.shell.syntax.reader import read
from agentscope_like.shell.voters import Panel, is_plain
from agentscope_like.shell.voters import program as voters_program
from agentscope_like.shell.voters.answer import (
    Answer,
    NoAnswerError,
    Opinion,
    Outcome,
)
from agentscope_like.shell.voters.findings import Findings, find
from agentscope_like.shell.voters.veto import unexplained
from agentscope_like.shell.voters.worker import Worker
from agentscope_like.tool import Bash

PROGRAM = str(Path(voters_program.__file__))
HANG = "(echo '${'$HOME); ls"
NOTHING = Opinion(Outcome.READ)


@pytest.fixture
def workers() -> Iterator[Callable[..., Worker]]:
    """Makes workers, and closes them."""
    made: list[Worker] = []

    def make(*command: str, answer_seconds: float = 0.25) -> Worker:
        made.append(Worker(command or None, answer_seconds=answer_seconds))
        return made[-1]

    yield make
    for worker in made:
        worker.close()


@pytest.fixture(scope="module")
def parsers() -> Iterator[Worker]:
    """The real parsers, with time enough on a busy machine."""
    worker = Worker(answer_seconds=10)
    yield worker
    worker.close()


@pytest.fixture
def panel(parsers: Worker) -> Panel:
    """A panel that asks the real parsers."""
    return Panel(parsers)


def without(*modules: str) -> tuple[str, ...]:
    """Return a command that runs the program of the parsers without some modules."""
    absent = "".join(f"sys.modules[{name!r}] = None; " for name in modules)
    code = f"import runpy, sys; {absent}runpy.run_path({PROGRAM!r}, run_name='__main__')"
    return (sys.executable, "-I", "-c", code)


def talking(body: str) -> tuple[str, ...]:
    """Return a command that says it is ready, and then runs `body` for each `question`."""
    code = (
        "import json, os, sys, time\n"
        "print('{}', flush=True)\n"
        "for question in sys.stdin:\n"
        "    number, text = json.loads(question)\n"
        f"{textwrap.indent(textwrap.dedent(body), '    ')}"
    )
    return (sys.executable, "-I", "-c", code)


def dissent(panel: Panel, text: str) -> str | None:
    """Return what is said against the strict reader's own reading of a text."""
    found = panel.dissent(text, read(text))
    return None if found is None else found.message


def use(monkeypatch: pytest.MonkeyPatch, panel: Panel) -> None:
    """Let every analysis ask this panel."""
    module = importlib.import_module("agentscope_like.shell.read_command")
    monkeypatch.setattr(module, "default_panel", lambda: panel)


def deny(tool: str, content: str) -> PermissionRule:
    """Return a deny rule."""
    return PermissionRule(
        tool_name=tool, rule_content=content, behavior=PermissionBehavior.DENY, source="test"
    )


class Voters:
    """Others that always find the same, and count the questions."""

    def __init__(
        self, bashlex: Opinion = NOTHING, tree_sitter: Opinion = NOTHING, *, fails: bool = False
    ) -> None:
        self.asked: list[str] = []
        self._answer = Answer(0, bashlex, tree_sitter)
        self._fails = fails

    def ask(self, text: str) -> Answer:
        self.asked.append(text)
        if self._fails:
            raise NoAnswerError("is on strike")
        return self._answer


AGREED = [
    "ls -la | head -5; pwd",
    "cd x && ls 2>/dev/null || echo none",
    'echo $(ls `pwd`) "$(git log "$(cat x)")"',
    "diff <(sort a) <(sort b) | head",
    'for f in *.py; do [ -f "$f" ] && wc -l "$f"; done | sort -n',
    "while IFS= read -r l; do echo $l; done < <(ls)",
    "if ls; then pwd; elif id; then :; else uname; fi",
    "f() { ls; }; f",
    "! grep -q x f && echo no",
    "ls &> /dev/null; ls >& f; ls |& cat; ls 2>&1 > $(pwd)",
    "find . \\( -name a -o -name b \\) -print",
    "ls \\\n  -la \\\n  | head",
    "ls # it's `x`\npwd",
    "echo é $(ls 'ñ 🎉') ü | grep \"ö\" <(cat ä)",
    "cat $(pwd)/{a,b} x{1..3} | cat",
    "A=1 B=$(ls) env; export X=$(ls) Y=`pwd`; x+=1",
    "> f; ls; < g",
    "grep '$(x) `y` ${z} <(a)' f | cat",
    "x='a $(b)'; ls",
    "git log --grep='$(x)' --author='`y`' && ls",
    "[ \\( a = b \\) ] && ls",
    "[ a \\< b ]; ls | cat",
    'n=$(grep -c x f || true); echo "$(cd a && ls)"',
    "diff <(ls a && pwd) <(ls b || id | cat)",
    "x=$(ls &&\n  pwd)",
    "x=$(ls '&&' && pwd)",
]
"""Both find what the strict reader found."""

ALONE = [
    "[[ -n $(ls) && $a == b* ]] && pwd",
    "case $x in a|b) ls;; *) pwd;; esac",
    "cat <<'E' | wc -l\n$(x) `y`\nE\nls",
    "cat - <<'E'\nplain\nE",
    "cat <<E; ls\nx\nE",
    "cd x; cat <<'E' | grep y; for f in a b; do ls $f; done; id\nx; (y\nE\nls; pwd",
    "cat <<E; ls $(id; pwd) && id; (ls; id)\nx\nE",
    "echo $((1 + 2)); ls",
    "(( $(ls | wc -l) > 1 + $(id) )) && pwd; (( x = $(ls) ))",
    'a=(x $(ls) "y z"); echo "${a[0]}" "${#a[@]}"',
    "time { ls; id; } | cat; time -p { pwd; }",
    "time git log | head; time -p ls; time (ls; pwd)",
    "git commit -m \"$(cat <<'E'\nit's\nE\n)\"",
]
"""bashlex does not know such forms; tree-sitter-bash agrees."""

BLIND = [
    'ls "${x:-$(pwd)}" | cat',
    'v=x; ls "${!v}" | cat; id ${x@Q}',
    'cat <<E\n$(ls | wc) "it\'s"\nE',
    "echo $(ls\npwd; id\n) | cat",
]
"""bashlex never looks at some of it; tree-sitter-bash agrees on all."""

JUSTIFIED = [
    ("cat <<A; cat <<B\nx\nA\ny\nB", "tree-sitter-bash"),
    ("(cat <<A; ls)\nx\nA", "tree-sitter-bash"),
    ("cat <<A;ls\nx\nA", "tree-sitter-bash"),
    ("echo ${x:-`ls`}", "tree-sitter-bash"),
    ("time ! ls", "tree-sitter-bash"),
    ('[ \\( `ls` = b \\) ] && ls "${x:-$(pwd)}"', "tree-sitter-bash"),
    ("[ \\( a = b \\) ] && ls --x='$(y)'", "tree-sitter-bash"),
    ("{ time { ls; id; }; }", "tree-sitter-bash"),
    ("echo `ls $(pwd || id)`", "bashlex"),
]


class TestVotes:
    """Who confirms what."""

    @pytest.mark.parametrize("text", [*AGREED, *ALONE, *BLIND])
    def test_harmless_differences_do_not_count(self, panel: Panel, text: str) -> None:
        """What bash and all parsers mean alike is confirmed, whatever the form of their trees."""
        assert dissent(panel, text) is None

    @pytest.mark.parametrize(("text", "name"), JUSTIFIED)
    def test_who_disagrees_is_named(self, panel: Panel, text: str, name: str) -> None:
        """Where one parser reads something else, or cannot read it, the doubt says which."""
        assert name in (dissent(panel, text) or "")

    @pytest.mark.parametrize(
        ("text", "read_as"),
        [
            ("ls; rm x", "ls"),
            ("ls", "ls; rm x"),
            ("ls | rm x", "ls a rm x"),
            ("ls 'a;b' c", "ls 'a; b'c"),
            ("echo $(rm x)", "echo '(rm x)'"),
            ("ls > a; pwd", "ls   a; pwd"),
            ("cat <(rm x)", "cat '(rm x'"),
            ("ls\nrm x", "ls #rm x"),
            ("cat <<E\n$(rm x)\nE", "cat <<'E'\n(rm)\nE"),
            ("ls --x=\"'$(rm x)'\"; id", "ls --x=a'$(rm x)'a; id"),
            ("time { ls; rm x; }", "time { ls; rm-x; }"),
            ("a=(b $(rm x)); ls", "a=(b '(rm x)'); ls"),
            ("(( $(rm x) )); ls", "(( 1 + 22222 )); ls"),
            ("echo $(ls && rm x)", "echo $(ls && rm=x)"),
            ("echo $(ls '||' rm x)", "echo $(ls  ||  rm x)"),
            ("cat <<E; ls\nx\nE\nrm x", "cat <<E; ls\nx\nrm\nE"),
            ("cat <<E; ls; rm x\nx\nE", "cat <<E; ls; rm-x\nx\nE"),
            ("cat <<E; ls '; ' rm\nx\nE", "cat <<E; ls  ;   rm\nx\nE"),
        ],
    )
    def test_a_wrong_reading_is_never_confirmed(
        self, parsers: Worker, text: str, read_as: str
    ) -> None:
        """Were the strict reader to read anything else than is there, nothing would be proven."""
        assert Panel(parsers).dissent(text, read(read_as)) is not None
        assert Panel(parsers).dissent(text, read(text)) is None

    def test_the_doubt_says_what_disagrees(self) -> None:
        """A doubt names the parser, what it finds, and its place."""
        one, other = (((0, 2),), ((4, 6), (7, 8)))
        agreeing = Opinion(Outcome.READ, (one, other))
        text, script = "ls; rm x", read("ls; rm x")
        assert Panel(Voters(agreeing, agreeing)).dissent(text, script) is None
        found = Panel(Voters(agreeing, Opinion(Outcome.READ, (one,)))).dissent(text, script)
        assert found is not None
        assert "tree-sitter-bash" in found.message
        assert "misses the command `rm x`" in found.message
        assert text[slice(*found.span)] == "rm x"
        longer = Opinion(Outcome.READ, (one, ((4, 8),)))
        found = Panel(Voters(longer, agreeing)).dissent(text, script)
        assert found is not None
        assert "(bashlex)" in found.message
        assert "finds the command `rm x`" in found.message

    @pytest.mark.parametrize(
        ("bashlex", "tree_sitter", "confirmed"),
        [
            (Outcome.READ, Outcome.READ, True),
            (Outcome.UNSUPPORTED, Outcome.READ, True),
            (Outcome.SYNTAX, Outcome.READ, False),
            (Outcome.FAILED, Outcome.READ, False),
            (Outcome.ABSENT, Outcome.READ, False),
            (Outcome.READ, Outcome.SYNTAX, False),
            (Outcome.READ, Outcome.FAILED, False),
            (Outcome.READ, Outcome.ABSENT, False),
            (Outcome.UNSUPPORTED, Outcome.ABSENT, False),
        ],
    )
    def test_only_bashlex_may_abstain(
        self, bashlex: Outcome, tree_sitter: Outcome, confirmed: bool
    ) -> None:
        """That bashlex does not know a construct is no objection; all else but agreement is."""
        commands = (((0, 2),), ((4, 7),))
        voters = Voters(Opinion(bashlex, commands), Opinion(tree_sitter, commands))
        found = Panel(voters).dissent("ls; pwd", read("ls; pwd"))
        assert (found is None) == confirmed

    def test_a_list_in_a_substitution_is_asked_about_in_another_form(self) -> None:
        """bashlex, which cannot read `$(a || b)`, is asked about `$(a ; b)`; its word counts."""
        text = "$(a || b)"
        commands = Opinion(Outcome.READ, (((2, 3),), ((7, 8),), ((0, 9),)))
        voters = Voters(Opinion(Outcome.SYNTAX), commands)
        found = Panel(voters).dissent(text, read(text))
        assert voters.asked == [text, "$(a  ; b)"]
        assert found is not None
        assert "(bashlex)" in found.message
        voters = Voters(Opinion(Outcome.SYNTAX), commands)
        assert Panel(voters).dissent("$(a)", read("$(a)")) is not None
        assert voters.asked == ["$(a)"]

    def test_what_follows_a_heredoc_is_asked_about_in_another_form(self) -> None:
        """tree-sitter-bash, which cannot read `cat <<E; ls`, is asked about a pipe in its place."""
        text = "cat <<E; ls; id\nx; y\nE\npwd; id"
        cannot = Opinion(Outcome.SYNTAX)
        voters = Voters(Opinion(Outcome.UNSUPPORTED), cannot)
        assert Panel(voters).dissent(text, read(text)) is not None
        assert voters.asked == [text, "cat <<E |ls |id\nx; y\nE\npwd; id"]
        for other in ("cat <<E &&ls\nx\nE", "ls; id", "cat <<E # a; b\nx\nE\nls; id"):
            voters = Voters(Opinion(Outcome.UNSUPPORTED), cannot)
            assert Panel(voters).dissent(other, read(other)) is not None
            assert voters.asked == [other]

    def test_an_error_of_bashlex_counts_but_where_it_is_known_for_it(self) -> None:
        """It takes every quoted heredoc for an error: there it abstains, elsewhere it disagrees."""
        syntax = Opinion(Outcome.SYNTAX)
        text = "cat <<'E'\n;\nE"
        voters = Voters(syntax, Opinion(Outcome.READ, (((0, 3),),)))
        assert Panel(voters).dissent(text, read(text)) is None
        assert Panel(Voters(syntax, syntax)).dissent(text, read(text)) is not None

    @pytest.mark.parametrize("text", ["ls -la /tmp", "grep -rn 'a b' src 2>&1", "ls ${x} > f"])
    def test_a_plain_command_needs_no_votes(
        self, text: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where no second command can stand, nobody is asked."""
        voters = Voters(fails=True)
        use(monkeypatch, Panel(voters))
        assert is_plain(text, read(text))
        assert not analyze(text, directory="/plain").doubts
        assert not voters.asked

    @pytest.mark.parametrize(
        "text", ["ls;pwd", "ls 'a;b'", "ls|cat", "ls&pwd", "ls `pwd`", "ls\nid"]
    )
    def test_anything_else_does(self, text: str) -> None:
        """Whatever could begin another command is voted upon, quoted or not."""
        assert not is_plain(text, read(text))


class TestBuried:
    """What bashlex never looks at is left to the other parser, and nothing else is."""

    @pytest.mark.parametrize(
        ("text", "buried"),
        [
            ("echo $(ls\npwd; id) | cat; who", {"pwd", "id"}),
            ("echo $(ls\npwd\nid) $(who; date)", {"pwd", "id"}),
            ("echo $(ls; pwd); id", set()),
            ('echo "${x:-$(pwd)}"; id', {"pwd"}),
            ("cat <<E; ls\n$(pwd)\nE\nid", {"pwd"}),
            ("(( $(pwd) )); ls $(id)", {"pwd"}),
        ],
    )
    def test_only_what_is_below_is_buried(self, text: str, buried: set[str]) -> None:
        """What follows a substitution of several lines is compared again, as what stands before."""
        found = find(text, read(text)).buried
        assert {text[start:end] for places in found for start, end in places} == buried


class TestVeto:
    """The raw text has the last word."""

    @pytest.mark.parametrize("text", [*AGREED, *ALONE, *BLIND, 'echo $(( a + 1 )) \\` "\\$(x)"'])
    def test_what_was_read_is_explained(self, text: str) -> None:
        """Expansions that were read, and text in which none can begin, are no reason to ask."""
        assert unexplained(text, find(text, read(text))) is None

    @pytest.mark.parametrize(
        ("text", "opening"),
        [
            ("ls `a`", "`"),
            ("ls $(a)", "$("),
            ('ls "$(a)"', "$("),
            ('ls "${a}"', "${"),
            ("cat <(a)", "<("),
            ("tee >(a)", ">("),
            ("ls \\\\$(a)", "$("),
        ],
    )
    def test_what_was_not_read_is_refused(self, text: str, opening: str) -> None:
        """An opening that the reading knows nothing of is never explained."""
        place = unexplained(text, Findings())
        assert place is not None
        assert text[slice(*place)] == opening

    def test_the_others_are_not_even_asked(self) -> None:
        """A veto is cheap: it comes before any vote."""
        voters = Voters()
        found = Panel(voters).dissent("ls $(a)", read("ls"))
        assert found is not None
        assert "`$(`" in found.message
        assert not voters.asked


class TestDecisions:
    """What the votes change, and what they do not."""

    @pytest.fixture(autouse=True)
    def silence(self, monkeypatch: pytest.MonkeyPatch) -> Voters:
        """The others give no answer."""
        voters = Voters(fails=True)
        use(monkeypatch, Panel(voters))
        return voters

    @staticmethod
    async def decide(
        command: str,
        *rules: tuple[PermissionBehavior, str],
        mode: PermissionMode = PermissionMode.DEFAULT,
        cwd: Path | None = None,
    ) -> PermissionBehavior:
        """Return how a command is decided."""
        engine = PermissionEngine(PermissionContext(mode=mode))
        for behavior, content in rules:
            engine.add_rule(
                PermissionRule(
                    tool_name="Bash", rule_content=content, behavior=behavior, source="test"
                )
            )
        return (await engine.check_permission(Bash(cwd=cwd), {"command": command})).behavior

    async def test_no_votes_no_proof(self) -> None:
        """Without votes a compound read is asked about, a plain one still runs."""
        assert await self.decide("(ls) | wc") is PermissionBehavior.ASK
        assert await self.decide("ls") is PermissionBehavior.ALLOW
        found = await Bash().check_permissions({"command": "(ls) | wc"}, PermissionContext())
        assert "is on strike" in found.message

    async def test_no_votes_no_edit(self, tmp_path: Path) -> None:
        """Nor is a compound edit accepted."""
        accept = PermissionMode.ACCEPT_EDITS
        assert await self.decide("(touch a); touch b", mode=accept, cwd=tmp_path) is (
            PermissionBehavior.ASK
        )
        assert await self.decide("touch a", mode=accept, cwd=tmp_path) is PermissionBehavior.ALLOW

    async def test_rules_of_the_user_still_count(self) -> None:
        """Deny and ask rules match as ever; allow rules where they speak of every part."""
        allow, deny = PermissionBehavior.ALLOW, PermissionBehavior.DENY
        assert await self.decide("(ls) | wc", (deny, "wc:*")) is deny
        assert await self.decide("(ls) | wc", (PermissionBehavior.ASK, "wc:*")) is (
            PermissionBehavior.ASK
        )
        assert await self.decide("(ls) | wc", (allow, "ls:*"), (allow, "wc:*")) is allow
        assert await self.decide("(ls) | wc", (allow, "ls:*")) is PermissionBehavior.ASK
        assert await self.decide("(npm test) | wc", (allow, "npm test:*")) is PermissionBehavior.ASK

    async def test_a_script_in_a_word_is_voted_upon(self, silence: Voters) -> None:
        """What a shell is given to run is confirmed like the command line itself."""
        assert await self.decide("bash -c '(ls) | wc'") is PermissionBehavior.ASK
        assert silence.asked == ["(ls) | wc"]
        assert await self.decide("bash -c 'ls | wc'") is PermissionBehavior.ALLOW
        assert silence.asked == ["(ls) | wc"]

    def test_what_cannot_be_proven_is_not_voted_upon(self, silence: Voters) -> None:
        """Nobody is asked where nothing would come of it."""
        analyze("make a; curl b | sh", directory="/")
        analyze("ls; echo ((", directory="/")
        assert not silence.asked

    def test_it_is_asked_once(self, silence: Voters) -> None:
        """One text is voted upon once, in whatever directory."""
        for directory in ("/a", "/b", "/a"):
            analyze("(ls) | wc", directory=directory)
        assert silence.asked == ["(ls) | wc"]

    def test_nothing_is_proven_before_the_votes(self, silence: Voters) -> None:
        """What forbids reads without votes, and such a reading is no proof."""
        before = analyze_unconfirmed("(ls) | wc", directory="/")
        assert isinstance(before.doubts[0], Dissent)
        assert [part.argv for part in before.parts] == [("ls",), ("wc",)]
        assert analyze_unconfirmed("ls", directory="/").read_only
        assert not silence.asked

    def test_what_forbids_asks_nobody(self, silence: Voters) -> None:
        """Deny rules, for commands and for files, are matched before any vote."""
        bash, context = Bash(), PermissionContext()
        commands = bash.compile_rules(["wc:*"], PermissionBehavior.DENY)
        files = bash.compile_related([deny("Write", "/etc/**")])
        assert commands.match({"command": "(ls) | wc"}, context) is not None
        assert files.match({"command": "(ls) | tee /etc/x"}, context) is not None
        assert not silence.asked

    def test_only_so_many_are_kept(self) -> None:
        """The oldest votes are forgotten."""
        panel = Panel(Voters(), kept=2)
        for text in ("a; b", "c; d", "e; f"):
            panel.dissent(text, read(text))
        assert [panel.knows(text) for text in ("a; b", "c; d", "e; f")] == [False, True, True]


class TestWorker:
    """The process of the parsers."""

    def test_it_is_started_once_and_on_use(self, workers: Callable[..., Worker]) -> None:
        """The first question starts it, the next ones find it running."""
        worker = workers(answer_seconds=10)
        assert worker.pid is None
        assert worker.ask("ls; pwd").bashlex.commands == (((4, 7),), ((0, 2),))
        pid = worker.pid
        worker.ask("id")
        assert worker.pid == pid is not None

    def test_one_that_hangs_is_killed(self, workers: Callable[..., Worker]) -> None:
        """Since bashlex hangs on some texts, it is killed; the next vote works."""
        worker = workers()
        with pytest.raises(NoAnswerError, match="within 250 ms"):
            worker.ask(HANG)
        assert worker.pid is None
        assert worker.ask("ls").bashlex.outcome is Outcome.READ

    @pytest.mark.parametrize(
        "body",
        [
            "os._exit(1)",
            "print('nonsense', flush=True)",
            "print('{}', flush=True)",
            "print('{\"number\": 0}', flush=True)",
            "sys.stdout.write('x'); sys.stdout.flush(); os._exit(0)",
        ],
    )
    def test_one_that_fails_is_no_vote(self, workers: Callable[..., Worker], body: str) -> None:
        """However it fails, and however often, that is no vote and no error."""
        worker = workers(*talking(body), answer_seconds=10)
        for _ in range(3):
            found = Panel(worker).dissent("ls; pwd", read("ls; pwd"))
            assert found is not None
            assert "gave no answer" in found.message
        assert worker.pid is None

    def test_an_answer_to_another_question_is_none(self, workers: Callable[..., Worker]) -> None:
        """An answer is taken only for the question that it bears the number of."""
        answer = (
            '{"number": %d, "bashlex": {"outcome": "read"}, "tree_sitter": {"outcome": "read"}}'
        )
        worker = workers(*talking(f"print({answer!r} % number, flush=True)"), answer_seconds=10)
        assert worker.ask("x").bashlex is not None
        worker = workers(*talking(f"print({answer!r} % (number + 1), flush=True)"))
        with pytest.raises(NoAnswerError):
            worker.ask("x")

    def test_one_that_was_killed_is_replaced(self, workers: Callable[..., Worker]) -> None:
        """A process that somebody killed in between costs no vote."""
        worker = workers(answer_seconds=10)
        worker.ask("ls")
        first = worker.pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        time.sleep(0.1)
        assert worker.ask("ls").bashlex.outcome is Outcome.READ
        assert worker.pid != first

    @pytest.mark.parametrize(
        "command", [("/nowhere/python",), (sys.executable, "-I", "-c", "raise SystemExit")]
    )
    def test_none_at_all_is_no_vote(
        self, workers: Callable[..., Worker], command: tuple[str, ...]
    ) -> None:
        """Where the process cannot be started, nothing is proven."""
        assert "gave no answer" in (dissent(Panel(workers(*command)), "ls; pwd") or "")

    @pytest.mark.parametrize(
        ("module", "name"),
        [("bashlex", "(bashlex)"), ("tree_sitter", "(tree-sitter-bash)")],
    )
    def test_an_absent_parser_is_no_vote(
        self, workers: Callable[..., Worker], module: str, name: str
    ) -> None:
        """A parser that is not installed confirms nothing, and the doubt says so."""
        panel = Panel(workers(*without(module), answer_seconds=10))
        found = dissent(panel, "ls; pwd") or ""
        assert name in found
        assert "is not installed" in found

    def test_threads_may_share_it(self, workers: Callable[..., Worker]) -> None:
        """Each thread gets the answer to its own question."""
        worker = workers(answer_seconds=10)
        texts = [f"ls {'x' * length}; pwd" for length in range(1, 40)]
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(worker.ask, texts))
        for text, answer in zip(texts, answers, strict=True):
            assert answer.tree_sitter.commands[-1] == ((0, 2), (3, text.index(";")))

    def test_a_forked_process_has_its_own(self, workers: Callable[..., Worker]) -> None:
        """After a fork, with the lock held, the child starts one of its own; ours goes on."""
        worker = workers(answer_seconds=10)
        worker.ask("ls")
        ours = worker.pid
        with worker._lock:
            child = os.fork()
            if child == 0:
                try:
                    worker.ask("ls")
                    theirs = worker.pid
                    worker.close()
                    os._exit(0 if theirs not in {None, ours} else 1)
                finally:
                    os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        worker.ask("pwd")
        assert worker.pid == ours

    @pytest.mark.parametrize(
        "end",
        [
            "pass",
            "os._exit(0)",
            "os.kill(os.getpid(), 9)",
            "threading.Thread(target=hang).start(); time.sleep(.1); os._exit(9)",
        ],
    )
    def test_no_process_is_left_behind(self, end: str) -> None:
        """However the interpreter ends, even while a parser hangs, the process ends with it."""
        code = (
            "import os, threading, time\n"
            "from agentscope_like.shell.voters.worker import Worker\n"
            f"hang = lambda: worker.ask({HANG!r})\n"
            "worker = Worker(answer_seconds=10)\n"
            "worker.ask('ls')\n"
            "print(worker.pid, flush=True)\n"
            f"{end}\n"
        )
        done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=False)
        left = int(done.stdout)
        until = time.monotonic() + 20
        while is_running(left) and time.monotonic() < until:
            time.sleep(0.02)
        assert not is_running(left)

    def test_it_knows_nothing_of_us(
        self, workers: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It has neither our environment nor our directory, nor may it start processes."""
        monkeypatch.setenv("SECRET_TOKEN", "x")
        monkeypatch.setenv("PYTHONPATH", "/evil")
        body = """
            seen = [os.getcwd(), os.environ.get("SECRET_TOKEN"), "/evil" in sys.path]
            if seen == ["/", None, False]:
                opinion = {"outcome": "read"}
                print(json.dumps({"number": number, "bashlex": opinion, "tree_sitter": opinion}))
                sys.stdout.flush()
        """
        assert workers(*talking(body), answer_seconds=10).ask("x").number == 1

    @pytest.mark.parametrize("name", ["LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"])
    def test_it_finds_the_libraries_of_python(
        self, workers: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        """It is told where libraries are looked for, and nothing of a like name."""
        monkeypatch.setenv(name, "/nonexistent/lib")
        monkeypatch.setenv("LD_LIBRARY_PATH_64", "/nonexistent/lib")
        body = f"""
            seen = [os.environ.get({name!r}), os.environ.get("LD_LIBRARY_PATH_64")]
            if seen == ["/nonexistent/lib", None]:
                opinion = {{"outcome": "read"}}
                print(json.dumps({{"number": number, "bashlex": opinion, "tree_sitter": opinion}}))
                sys.stdout.flush()
        """
        assert workers(*talking(body), answer_seconds=10).ask("x").number == 1


class TestLoop:
    """An event loop is never held up."""

    async def test_nothing_blocks(self, monkeypatch: pytest.MonkeyPatch, panel: Panel) -> None:
        """A decision about a compound command makes no blocking call on the loop."""
        use(monkeypatch, panel)
        engine, bash = PermissionEngine(PermissionContext()), Bash()
        engine.add_rule(deny("Bash", "rm:*"))
        with blockbuster_ctx():
            decision = await engine.check_permission(bash, {"command": "(ls) | sort | wc"})
            again = await engine.check_permission(bash, {"command": "(ls) | sort | wc"})
        assert decision.behavior is again.behavior is PermissionBehavior.ALLOW

    async def test_others_run_while_a_parser_hangs(
        self, monkeypatch: pytest.MonkeyPatch, workers: Callable[..., Worker]
    ) -> None:
        """While a vote is waited for, other tasks go on; the answer is then no proof."""
        worker = workers()
        worker.ask("ls")
        use(monkeypatch, Panel(worker))
        task = asyncio.create_task(Bash().check_read_only({"command": HANG}))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.005)
            ticks += 1
        assert not await task
        assert ticks > 5

    async def test_what_is_known_needs_no_thread(
        self, monkeypatch: pytest.MonkeyPatch, panel: Panel
    ) -> None:
        """A repeated command is decided at once."""
        use(monkeypatch, panel)
        bash = Bash()
        assert await bash.check_read_only({"command": "(ls) | wc"})
        main = threading.get_ident()
        seen: list[int] = []
        monkeypatch.setattr(asyncio, "to_thread", lambda *_: seen.append(main))
        assert await bash.check_read_only({"command": "(ls) | wc"})
        assert not seen


def is_running(pid: int) -> bool:
    """Return whether a process runs; one that has ended but was not waited for does not."""
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], stdout=subprocess.PIPE, check=False
    )
    return bool(found.stdout.strip()) and not found.stdout.startswith(b"Z")


def test_no_parser_is_loaded_here() -> None:
    """Neither importing the package nor a vote loads a parser into its process."""
    code = (
        "import sys\n"
        "from agentscope_like.shell import analyze\n"
        "import agentscope_like.permission\n"
        "names = ('bashlex', 'tree_sitter', 'tree_sitter_bash')\n"
        "before = 'agentscope_like.shell.voters.worker' in sys.modules\n"
        "proven = analyze('(ls) | wc', directory='/').read_only\n"
        "print(before, proven, [name for name in names if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True
    )
    assert done.stdout.strip() == "False True []"
