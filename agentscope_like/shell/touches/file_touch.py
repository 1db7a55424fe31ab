"""A touch: what a command does to one path, for rules about files."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from agentscope_like.paths import Location
from agentscope_like.shell.analysis import Part

__all__ = ["Below", "Touch", "TouchKind"]


class TouchKind(Enum):
    """What happens to a path; the value is the verb shown in messages."""

    READ = "reads"
    LIST = "looks at"
    SHOW = "may show"
    WRITE = "writes"
    DELETE = "removes"
    MOVE = "moves"
    NAME = "names"


class Below(Enum):
    """What is reached below a path."""

    NOTHING = "nothing"
    PRESENT = "present files"
    ANYTHING = "present and new files"


class Touch(Struct, frozen=True):
    """What a part does to one path.

    Attributes:
        part: The part; None for a command that could not be read.
        kind: What is done.
        target: The path as it is written.
        location: Where it leads; None if that is only known at run time.
        below: What below it is reached too.
        follows: Whether symlinks below it are followed.
        certain: Whether the path itself is reached for certain.
        certain_below: Whether all that is below it is.
    """

    part: Part | None
    kind: TouchKind
    target: str
    location: Location | None
    below: Below = Below.NOTHING
    follows: bool = False
    certain: bool = True
    certain_below: bool = False
