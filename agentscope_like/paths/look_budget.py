"""How much is looked at for one decision: what would take more is asked about."""

from __future__ import annotations

from itertools import islice

from agentscope_like.paths.file_system import NameEntry, Names

__all__ = [
    "CHARACTER",
    "ENDING",
    "ENTRY",
    "FOLDER",
    "KEPT_FOR_PATHS",
    "MAX_BELOW",
    "MAX_EFFORT",
    "PART",
    "PATH",
    "RULE",
    "STEP",
    "TOO_MANY",
    "WALK",
    "Effort",
    "TooManyFilesError",
]

MAX_EFFORT = 20_000
"""What one decision may spend on a command and on looking at files; about as many microseconds."""

KEPT_FOR_PATHS = 5_000
"""What the search below directories for what rules speak of leaves for the paths themselves."""

MAX_BELOW = 5_000
"""What it may spend besides to list what is below directories."""

CHARACTER = 1
"""A character of a command is read."""

PART = 40
"""A simple command among those of a line is judged."""

ENTRY = 1
"""An entry of a directory is compared with a pattern or a rule."""

PATH = 4
"""A path is judged."""

RULE = 8
"""A path is compared with the rules about files."""

ENDING = 60
"""What is known of the end of a path is compared with all that is sensitive."""

FOLDER = 10
"""A directory is opened, or remembered with all that it lies in; more where that is much."""

WALK = 15
"""A path is followed from the root, as a symlink has to be; more where it has many names."""

STEP = 2
"""A name of a path that is followed, where it has many."""

TOO_MANY = "reaches too many files to check each one"
"""What a command does that is asked about because enough has been looked at."""


class TooManyFilesError(Exception):
    """A command reaches more files than are looked at."""


class Effort:
    """What is left to be spent.

    Args:
        left: How much that is.

    Attributes:
        left: How much that is.
    """

    __slots__ = ("_read", "left")

    def __init__(self, left: int = MAX_EFFORT) -> None:
        self.left = left
        self._read: str | None = None

    def read(self, text: str, parts: int) -> None:
        """Spend what the reading of a text took, once.

        Args:
            text: The text.
            parts: How many simple commands it holds.
        """
        if text is not self._read:
            self._read = text
            self.left -= CHARACTER * len(text) + PART * parts

    def spend(self, effort: int, *, keep: int = 0) -> None:
        """Spend some of it.

        Args:
            effort: How much.
            keep: What is to be left after that.

        Raises:
            TooManyFilesError: Not so much is left; what is not to be kept is lost.
        """
        self.left -= effort
        if self.left < keep:
            self.left = min(self.left + effort, keep)
            raise TooManyFilesError

    def raise_if_spent(self) -> None:
        """Raise the error of `spend` where nothing is left to be spent.

        Raises:
            TooManyFilesError: Nothing is left.
        """
        if self.left <= 0:
            raise TooManyFilesError

    def entries(self, directory: str, names: Names, *, keep: int = 0) -> list[NameEntry]:
        """Return the entries of a directory; none where it cannot be listed.

        Args:
            directory: Its path.
            names: The file system.
            keep: What is to be left after that.

        Raises:
            TooManyFilesError: There are more than there is effort left for.
        """
        deep = STEP * directory.count("/") - FOLDER
        self.spend(max(FOLDER, deep), keep=keep)
        try:
            with names.scandir(directory) as entries:
                found = list(islice(entries, self.left - keep + 1))
        except OSError:
            return []
        self.spend(ENTRY * len(found), keep=keep)
        return found
