"""Reserved words of bash: syntax where a command may begin, and words everywhere else."""

from __future__ import annotations

import pytest

from tests.permission.shell.syntax import Pipeline, ReadError, SimpleCommand, read

_RESERVED = (
    *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac"),
    *("in", "{", "}", "[[", "]]", "!", "time", "function", "select", "coproc"),
)


@pytest.mark.parametrize("word", _RESERVED)
def test_a_reserved_word_is_never_the_name_of_a_command(word: str) -> None:
    """Bare where a command may begin, it is syntax or refused; quoted or as an argument, a word."""
    for form in ("W", "a && W", "a | W b", "x=1 W b", ">f W b", "function W { a; }", "W() { a; }"):
        with pytest.raises(ReadError):
            read(form.replace("W", word))
    for form in ("W b", "a; W b", "W 'b'"):
        try:
            script = read(form.replace("W", word))
        except ReadError:
            continue
        assert word in {"!", "time"}
        assert isinstance(script.statements[-1].command, Pipeline)
    for text, place in ((f"'{word}' b", 0), (f"echo {word}", 1)):
        command = read(text).statements[0].command
        assert isinstance(command, SimpleCommand)
        assert command.words[place].literal == word
