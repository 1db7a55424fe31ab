"""Lists and reads the files of one skill, and nothing outside of it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from agentscope_like.exception import RecoverableToolError
from agentscope_like.paths import PathError, locate, read_objection
from agentscope_like.sandbox.files import files_below
from agentscope_like.skill import Skill
from agentscope_like.tool.builtin.file_system import open_regular

__all__ = ["MAIN_FILE", "MOST_FILE_BYTES", "SkillFiles"]

MAIN_FILE = "SKILL.md"
MOST_FILE_BYTES = 4 << 20
MOST_FILES = 1_000

_SKIPPED = frozenset({"node_modules", "__pycache__"})


class SkillFiles:
    """The files of a skill; every method blocks.

    No symlink is followed, and hidden files and those that may hold a secret are left out.

    Args:
        skill: The skill. One without a directory has its text only, as `SKILL.md`.
    """

    def __init__(self, skill: Skill) -> None:
        self._skill = skill
        self._root = os.path.realpath(skill.dir) if skill.dir else ""

    def below(self, path: str) -> list[str]:
        """Return the files at or below a path of the skill, in order; the root is the empty path.

        Raises:
            RecoverableToolError: There is no such file or directory, or it is outside.
        """
        wanted = self._checked(path) if path not in ("", ".", "./") else ""
        files = self._listed()
        chosen = [one for one in files if not wanted or one == wanted or _is_in(one, wanted)]
        if not chosen and wanted:
            raise self._missing(wanted)
        return chosen

    def read(self, path: str) -> str:
        """Return the text of a file.

        Raises:
            RecoverableToolError: It is outside, is missing, is no text file in UTF-8, is too large,
                or may hold a secret.
        """
        wanted = self._checked(path)
        data = self._data(wanted)
        try:
            if b"\0" not in data:
                return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            pass
        raise RecoverableToolError(
            "skill.not_text", f"{wanted!r} is no text in UTF-8, so it cannot be read."
        )

    def _data(self, wanted: str) -> bytes:
        if not self._root:
            if wanted != MAIN_FILE:
                raise self._missing(wanted)
            return self._skill.markdown.encode("utf-8", "replace")
        if self._may_be_secret(wanted):
            raise RecoverableToolError(
                "skill.sensitive_file", f"{wanted!r} may hold a secret, and is not shown."
            )
        try:
            with open_regular(f"{self._root}/{wanted}") as file:
                data = file.read(MOST_FILE_BYTES + 1)
        except OSError as error:
            raise self._refusal(wanted, error) from error
        if len(data) > MOST_FILE_BYTES:
            raise RecoverableToolError(
                "skill.file_too_large", f"{wanted!r} has over {MOST_FILE_BYTES:,} bytes."
            )
        return data

    def _listed(self) -> list[str]:
        if not self._root:
            return [MAIN_FILE]
        try:
            return sorted(self._own_files())
        except OSError as error:
            raise RecoverableToolError(
                "skill.unreadable", f"The files of the skill cannot be listed: {error.strerror}."
            ) from error

    def _own_files(self) -> Iterator[str]:
        for path, source in files_below(self._root, skip=_SKIPPED, most=MOST_FILES):
            is_shown = not _is_hidden(path) and path.isprintable()
            if path == source and is_shown and not self._may_be_secret(path):
                yield path

    def _may_be_secret(self, path: str) -> bool:
        try:
            located = locate(f"{self._root}/{path}", directory="/")
        except PathError:
            return True
        return read_objection(located) is not None

    def _checked(self, path: str) -> str:
        """Return a path as it is listed: relative, without `.` and double slashes.

        Raises:
            RecoverableToolError: It leads outside, or to a hidden file.
        """
        parts = [part for part in path.split("/") if part not in ("", ".")]
        if path.startswith(("/", "~")) or ".." in parts or not parts or not path.isprintable():
            raise RecoverableToolError(
                "skill.invalid_path",
                f"{path[:200]!r} is no path inside the skill: give one such as `{MAIN_FILE}` or "
                "`references/forms.md`.",
            )
        wanted = "/".join(parts)
        if _is_hidden(wanted):
            raise RecoverableToolError(
                "skill.invalid_path", f"{wanted[:200]!r} is hidden, so it is no part of the skill."
            )
        return wanted

    def _refusal(self, wanted: str, error: OSError) -> RecoverableToolError:
        if error.errno == errno.ENOENT:
            return self._missing(wanted)
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            reason = "leads over a symlink or a file, which is not followed"
            return RecoverableToolError("skill.invalid_path", f"{wanted!r} {reason}.")
        return RecoverableToolError(
            "skill.not_a_file", f"{wanted!r} is no file that can be read: {error.strerror}."
        )

    def _missing(self, wanted: str) -> RecoverableToolError:
        return RecoverableToolError(
            "skill.file_not_found",
            f"The skill {self._skill.name!r} has no {wanted[:200]!r}; skill_list lists its files.",
        )


def _is_hidden(path: str) -> bool:
    return path.startswith(".") or "/." in path


def _is_in(path: str, directory: str) -> bool:
    return path.startswith(f"{directory}/")
