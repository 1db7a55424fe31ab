"""Commands made of recorded ones by small changes.

A change wraps a command in a construct of the shell, joins it with another, or removes, repeats,
exchanges, quotes or adds a word. What comes out may be no command at all; that, too, is read.

`tests/data/commands/varied.txt` holds some; `python -m tests.varied_commands` writes it anew, with
others where the commands changed that they are made of.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.effects_record import read_effects
from tests.record import command_of, corpora, line_of, read_record

__all__ = ["read_varied", "varied"]

_VARIED: Final = Path(__file__).parent / "data" / "commands" / "varied.txt"
_COUNT: Final = 8_000

_VARIATIONS: Final[dict[str, list[str]]] = tomllib.loads(
    (Path(__file__).parent / "data" / "commands" / "variations.toml").read_text("utf-8")
)
_MOST_CHARACTERS: Final = 110


class _Choices:
    """Numbers that look random and are the same with every version of Python."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._taken = 0

    def below(self, limit: int) -> int:
        self._taken += 1
        digest = sha256(f"{self._seed} {self._taken}".encode()).digest()
        return int.from_bytes(digest[:6], "big") % limit

    def one(self, choices: Sequence[str]) -> str:
        return choices[self.below(len(choices))]


def varied(commands: Sequence[str], count: int, seed: str = "") -> Iterator[str]:
    """Yield distinct commands that are changed ones of `commands`.

    Args:
        commands: What to begin with, in an order that stays.
        count: How many are made.
        seed: Another one makes others.
    """
    choices = _Choices(seed)
    made: set[str] = set()
    while len(made) < count:
        command = choices.one(commands)
        for _ in range(1 + choices.below(3)):
            command = _changed(command, commands, choices)
        if len(command) <= _MOST_CHARACTERS and command not in made:
            made.add(command)
            yield command


def _changed(command: str, commands: Sequence[str], choices: _Choices) -> str:
    match choices.below(20):
        case 0 | 1 | 2 | 3 | 4:
            return choices.one(_VARIATIONS["constructs"]).replace("@", command)
        case 5 | 6:
            return command + choices.one(_VARIATIONS["joints"]) + choices.one(commands)
        case 7:
            return choices.one(commands) + choices.one(_VARIATIONS["joints"]) + command
    words = command.split(" ")
    at = choices.below(len(words))
    match choices.below(20):
        case 0 | 1 | 2:
            del words[at]
        case 3 | 4:
            words.insert(at, words[at])
        case 5 | 6:
            other = choices.below(len(words))
            words[at], words[other] = words[other], words[at]
        case 7 | 8 | 9 | 10:
            words[at] = choices.one(_VARIATIONS["words"])
        case 11 | 12 | 13 | 14:
            words.insert(at + 1, choices.one(_VARIATIONS["words"]))
        case 15 | 16:
            words[at] += choices.one(_VARIATIONS["endings"])
        case 17:
            words[at] = f'"{words[at]}"'
        case _:
            words[at] = choices.one(choices.one(commands).split(" "))
    return " ".join(words)


def read_varied() -> list[str]:
    """Return the commands that are on record."""
    return [command_of(line) for line in _VARIED.read_text("utf-8").splitlines()]


def _write() -> None:
    commands = sorted({*read_effects(), *corpora(), *list(read_record())[::5]})
    lines = map(line_of, varied(commands, _COUNT))
    _VARIED.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    _write()
