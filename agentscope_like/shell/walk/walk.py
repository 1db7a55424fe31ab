"""Walks the tree of a command line in the order in which bash runs it.

What is known (variables, the directory, functions) flows from command to command. Where control
may take several ways, only what holds on all of them is kept; in a loop, only what its body cannot
change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter

from msgspec.structs import replace

from agentscope_like.shell.analysis import EffectKind, Part
from agentscope_like.shell.draft import (
    UNKNOWN_INPUT,
    BudgetError,
    Draft,
    Pipe,
    WalkScope,
)
from agentscope_like.shell.expand import (
    asks_for_root,
    heeds_input,
    keeps_input,
    printed,
    printed_by_any,
    takes_all,
)
from agentscope_like.shell.names import names_from
from agentscope_like.shell.state import (
    UNKNOWN_PARAMETERS,
    State,
    merge,
    mutations,
    parameters_of_calls,
    widened,
)
from agentscope_like.shell.syntax import (
    Arithmetic,
    ArithmeticCommand,
    Command,
    Function,
    Pipeline,
    ReadError,
    Script,
    SimpleCommand,
    Statement,
    Test,
    may_fail,
    read,
)
from agentscope_like.shell.values import Argument, Names, Unknown, join, piece_of
from agentscope_like.shell.walk.compound_commands import CompoundJudge
from agentscope_like.shell.walk.posix_differences import bash_only
from agentscope_like.shell.walk.redirections import doubt_copied_inputs

__all__ = ["Walk"]

_REDIRECTS = attrgetter("redirects")
_NOTHING_KNOWN = Unknown()
_SIMPLE = {SimpleCommand}

MAX_TEXT = 40_000
"""How many characters of scripts in words are read: `eval eval ...` has the rest read each time."""


class Walk(CompoundJudge):
    """One walk over one command line.

    Attributes:
        texts: The scripts that were read in words, each with its text.
    """

    def __init__(self, command: str, home: str | None, work_tree: str | None = None) -> None:
        super().__init__(command, home)
        self.texts: list[tuple[str, Script]] = []
        self._script: Script | None = None
        self._calls: Mapping[str, tuple[Argument, ...]] | None = None
        self._work_tree = work_tree
        self._start = ""
        self._text_read = 0

    def run(self, script: Script, directory: str) -> tuple[Part, ...]:
        """Judge the whole command line, which starts in `directory`; return its parts.

        Raises:
            BudgetError: There are more than `MAX_PARTS` simple commands, or too many words in them.
        """
        self._script, self._start = script, directory
        judge = self._lines if "\n" in self.command else self.script
        judge(script, State((directory,), {}), self._scope(script, WalkScope()))
        if any(map(_REDIRECTS, self.drafts)):
            doubt_copied_inputs(self.drafts)
        return tuple(map(Draft.finish, self.drafts))

    def script(self, script: Script, state: State, scope: WalkScope) -> State:
        """Judge a script that runs in the shell of `state`."""
        statements = script.statements
        if len(statements) == 1 and statements[0].connector != "&":
            return self._command(statements[0].command, state, scope).settle()
        chain: list[Statement] = []
        for statement in statements:
            chain.append(statement)
            if statement.connector in {"&&", "||"}:
                continue
            if statement.connector == "&":  # it outlives the shell, and what ends that in time
                self._chain(chain, state, replace(scope, bounded=False, source=UNKNOWN_INPUT))
            else:
                state = self._chain(chain, state, scope)
            chain = []
        return self._chain(chain, state, scope) if chain else state

    def text(self, text: str, state: State, scope: WalkScope, draft: Draft) -> State:
        """Read and judge a script that stands as text in a word of `draft`.

        Raises:
            BudgetError: There is too much of such text.
        """
        span = scope.place or draft.span
        self._text_read += len(text)
        if self._text_read > MAX_TEXT:
            raise BudgetError
        try:
            script = read(text)
        except ReadError as error:
            draft.doubt(f"the script cannot be read: {error}", span, kind=EffectKind.EXECUTE)
            return state
        if scope.posix and bash_only(text, script):
            draft.doubt(
                "`sh` parses this script differently from bash", span, kind=EffectKind.EXECUTE
            )
        self.texts.append((text, script))
        if not keeps_input(script):
            scope = replace(scope, source=UNKNOWN_INPUT)
        return self._lines(script, state, self._scope(script, scope))

    def _lines(self, script: Script, state: State, scope: WalkScope) -> State:
        """Judge a text of which bash reads the next line after an error, as in arithmetic."""
        if len(script.statements) == 1:
            return self.script(script, state, scope)
        if not _may_break_off(script):
            return self.script(script, state, scope)
        for line in _lines_of(script):
            after = self.script(line, state, scope)
            if _may_break_off(script if scope.defined else line):
                found = mutations(line)
                left = widened(state, found, scope)
                after = merge(after, left)
            state = after
        return state

    def substitute(self, script: Script, state: State, scope: WalkScope) -> tuple[Argument, Names]:
        """Judge the script of a substitution, and return what is known of what it prints."""
        output = self._substituted(script, state, scope)
        return output, names_from(scope.output)

    def _substituted(self, script: Script, state: State, scope: WalkScope) -> Argument:
        first = len(self.drafts)
        scope = self._scope(script, scope)
        self.script(script, state, scope)
        statements = script.statements
        connectors = {each.connector for each in statements[:-1]}
        if not connectors <= {"&&", "||"}:
            return _NOTHING_KNOWN
        outputs = [self._printed(each.command, self.drafts[first:], scope) for each in statements]
        return printed_by_any(outputs, after_failure=connectors == {"||"})

    def _printed(
        self, command: Command, drafts: Sequence[Draft], scope: WalkScope
    ) -> Argument | None:
        """Return what is known of what a command prints; None where that is nothing."""
        commands: tuple[Command, ...] = (command,)
        if isinstance(command, Pipeline) and not command.timed:
            commands = command.commands
        stages: list[Draft] = []
        for each in commands:
            stages += [draft for draft in drafts if draft.proves(each, scope)]
        last = commands[-1]
        if not stages or not isinstance(last, SimpleCommand) or stages[-1].words is not last.words:
            return _NOTHING_KNOWN
        root = self._work_tree if last is command else None
        if root is not None and asks_for_root(stages[-1], (self._start, root)):
            return join([root, ""])
        return printed(stages if len(stages) == len(commands) else stages[-1:])

    def _scope(self, script: Script, scope: WalkScope) -> WalkScope:
        """Return `scope` with what is true of the whole of `script`."""
        statements = script.statements
        only = statements[0].command if len(statements) == 1 else None
        stages = only.commands if isinstance(only, Pipeline) else (only,)
        if set(map(type, stages)) == _SIMPLE:
            return scope  # nothing comes after it, and no function is defined in it
        found = mutations(script)
        if not (found.functions or found.moves or found.arrays):
            return scope
        defined, arrays = scope.defined | found.functions, scope.arrays | found.arrays
        return replace(scope, defined=defined, arrays=arrays, moves=scope.moves or found.moves)

    def _chain(self, chain: Sequence[Statement], state: State, scope: WalkScope) -> State:
        """Judge commands joined by `&&` and `||`."""
        succeeded = failed = state
        connector = ""
        for statement in chain:
            start = failed if connector == "||" else succeeded
            after = self._command(statement.command, start, scope)
            success = replace(after, before_cd=None)
            failure = after.failed()
            if connector == "&&":
                succeeded, failed = success, merge(failed, failure)
            elif connector == "||":
                succeeded, failed = merge(succeeded, success), failure
            else:
                succeeded, failed = success, failure
            connector = statement.connector
        return merge(succeeded, failed)

    def _command(self, command: Command, state: State, scope: WalkScope) -> State:
        match command:
            case SimpleCommand():
                return self.judge_simple(command, state, scope)
            case Pipeline():
                return self._pipeline(command, state, scope)
            case Test() | ArithmeticCommand():
                return self.judge_evaluation(command, state, scope)
            case Function():
                return self._function(command, state, scope)
            case _:
                return self.judge_compound(command, state, scope)

    def _pipeline(self, pipeline: Pipeline, state: State, scope: WalkScope) -> State:
        if len(pipeline.commands) == 1:
            after = self._command(pipeline.commands[0], state, scope)
            return after.settle() if pipeline.negated else after
        stages: list[Draft] = []
        last = len(pipeline.commands) - 1
        source = scope.source
        for place, command in enumerate(pipeline.commands):
            output = Pipe() if place < last else scope.output
            if not (isinstance(command, SimpleCommand) or keeps_input(command)):
                source = UNKNOWN_INPUT
            inner = replace(scope, source=source, output=output)
            source = output
            if place and (scope.fed != _NOTHING_KNOWN or heeds_input(command)):
                known = len(stages) == place and not pipeline.timed and keeps_input(command)
                fed = (printed(stages) if known else None) or _NOTHING_KNOWN
                inner = replace(inner, fed=fed if takes_all(command) else piece_of(fed))
            first = len(self.drafts)
            self._command(command, state, inner)
            stages += [each for each in self.drafts[first:] if each.proves(command, scope)]
        return state

    def _function(self, command: Function, state: State, scope: WalkScope) -> State:
        """Judge the body of a function for whatever is known wherever it may be called."""
        directories = () if scope.moves else state.directories
        if self._calls is None:
            self._calls = {} if self._script is None else parameters_of_calls(self._script)
        calls = self._calls if scope.place is None else {}
        known = calls.get(command.name, UNKNOWN_PARAMETERS)
        start = State(directories, {}, {}, known, stack=None, fixed=state.fixed)
        inside = replace(
            scope,
            fed=_NOTHING_KNOWN,
            source=UNKNOWN_INPUT,
            output=Pipe(),
            in_function=True,
            bounded=False,
        )
        after = self._command(command.body, start, inside)
        functions = {**state.functions, command.name: inside.output}
        return replace(state, functions=functions).fix(after.fixed)


def _lines_of(script: Script) -> Iterator[Script]:
    """Yield the lines of a script; bash runs each before it parses the next."""
    line: list[Statement] = []
    for statement in script.statements:
        line.append(statement)
        if statement.connector == "\n":
            yield replace(script, statements=tuple(line))
            line = []
    if line:
        yield replace(script, statements=tuple(line))


def _may_break_off(script: Script) -> bool:
    """Return whether arithmetic in a script may fail for some values."""
    return any(isinstance(node, Arithmetic) and may_fail(node.text) for node in script.nodes)
