"""The file that a recorded session is written in."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.model import RecordedAnswer, RecordedCall, Script, Turn


class TestReading:
    """What a script may say."""

    def test_turns_and_answers(self) -> None:
        """Turns keep their order, answers are found by call id, comments and blanks are skipped."""
        script = Script.parse(
            "# a session\n"
            '{"think": "hm", "say": "I look.", "calls": [{"id": "c1", "name": "Bash",'
            ' "input": {"command": "ls é"}}]}\r\n'
            "\n"
            '  # later\n{"answer": "c1", "confirmed": true, "remember": "ls:*"}\n'
            '{"say": "Done."}\n'
        )
        call = RecordedCall("c1", "Bash", '{"command": "ls é"}')
        assert script.turns == (Turn("I look.", "hm", (call,)), Turn("Done."))
        assert script.answers == {"c1": RecordedAnswer("c1", confirmed=True, remember="ls:*")}
        assert list(script.calls()) == [(0, call)]

    def test_rejection_and_external_result(self) -> None:
        """A no may carry a message, and an external result its output."""
        script = Script.parse(
            '{"calls": [{"id": "a", "name": "X"}, {"id": "b", "name": "Y"}]}\n'
            '{"answer": "a", "confirmed": false, "message": "not that"}\n'
            '{"answer": "b", "output": "approved"}'
        )
        assert script.answers["a"] == RecordedAnswer("a", confirmed=False, message="not that")
        assert script.answers["b"] == RecordedAnswer("b", output="approved")

    def test_input_as_text_is_kept_raw(self) -> None:
        """An `input` that is a string is given as it stands, malformed or not."""
        script = Script.parse('{"calls": [{"name": "Bash", "input": "{\\"command\\": "}]}')
        assert script.turns[0].calls[0].input == '{"command": '

    def test_ids_and_inputs_are_made_where_missing(self) -> None:
        """A call without id and input gets an id that says where it stands, and no arguments."""
        script = Script.parse('{"say": "x"}\n{"calls": [{"name": "A"}, {"name": "B"}]}')
        assert script.turns[1].calls == (
            RecordedCall("turn-2-call-1", "A", "{}"),
            RecordedCall("turn-2-call-2", "B", "{}"),
        )

    def test_line_separators_inside_strings(self) -> None:
        """Only a newline ends a line; U+2028 in a string does not."""
        assert Script.parse('{"say": "a\u2028b"}').turns == (Turn("a\u2028b"),)

    def test_an_empty_turn_is_an_empty_answer(self) -> None:
        """`{}` is a turn in which the model says nothing."""
        assert Script.parse("{}").turns == (Turn(),)

    def test_load(self, tmp_path: Path) -> None:
        """A script is read from a file and remembers which."""
        path = tmp_path / "session.jsonl"
        path.write_text('{"say": "hi"}\n', encoding="utf-8")
        assert Script.load(path) == Script((Turn("hi"),), {}, str(path))


@pytest.mark.parametrize(
    ("lines", "number", "said"),
    [
        ('{"sya": "hi"}', 1, "did you mean 'say'?"),
        ('# c\n\n{"say": "hi", "call": []}', 3, "did you mean 'calls'?"),
        ('{"calls": [{"name": "A", "inputs": {}}]}', 1, "did you mean 'input'?"),
        ('{"answer": "c1", "confirmd": true}', 1, "did you mean 'confirmed'?"),
        ('{"say": "hi"', 1, "not JSON"),
        ('["say"]', 1, "not a JSON object"),
        ('{"say": 1}', 1, "`say` is not text"),
        ('{"calls": {}}', 1, "`calls` is not a list"),
        ('{"calls": ["ls"]}', 1, "call 1 is not a JSON object"),
        ('{"calls": [{"input": {}}]}', 1, "call 1 has no `name`"),
        ('{"calls": [{"name": "A", "input": [1]}]}', 1, "`input` of call 1"),
        ('{"calls": [{"id": "c", "name": "A"}, {"id": "c", "name": "A"}]}', 1, "used twice"),
        ('{"calls": [{"id": "c1", "name": "A"}]}\n{"answer": "c1"}', 2, "exactly one"),
        ('{"calls": [{"id": "c1", "name": "A"}]}\n{"answer": "C1", "output": ""}', 2, "mean 'c1'"),
        ('{"answer": "c1", "confirmed": true, "output": "x"}', 1, "exactly one"),
        ('{"answer": "c1", "confirmed": "yes"}', 1, "neither true nor false"),
        ('{"answer": "c1", "confirmed": false, "remember": "x"}', 1, "`remember` goes with"),
        ('{"answer": "c", "output": ""}\n{"answer": "c", "output": ""}', 2, "answered twice"),
    ],
)
def test_mistakes_name_the_line_and_the_mend(lines: str, number: int, said: str) -> None:
    """A line that cannot be taken is refused with its file, its number and what to mend."""
    with pytest.raises(ConfigurationError) as caught:
        Script.parse(lines, source="s.jsonl")
    assert caught.value.message.startswith(f"s.jsonl:{number}: ")
    assert said in caught.value.message


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, or one that is not text, is a mistake of set-up that names it."""
    binary = tmp_path / "b"
    binary.write_bytes(b"\xff\xfe")
    for path in (tmp_path / "missing", binary):
        with pytest.raises(ConfigurationError, match=str(path)):
            Script.load(path)
