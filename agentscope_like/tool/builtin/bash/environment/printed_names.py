"""Checks the names that git prints of a repository, which other commands may take for options."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from agentscope_like.exception import ToolArgumentError
from agentscope_like.file_changes import Looks
from agentscope_like.tool.builtin.bash.environment.repository_files import (
    MOST_LINK_BYTES,
    content_of,
    names_in,
)
from agentscope_like.tool.builtin.bash.environment.tag_objects import TagError, TagReader

__all__ = ["MAX_TAGS", "PrintedNames", "PrintedNamesError", "odd_name_error"]

MAX_TAGS = 2_000
"""Most tags of one repository that are read for one command."""

_MOST_REFS_BYTES = 1 << 26
_KINDS = ("heads", "tags", "remotes")
_ODD_REF = re.compile(rb"^\S+ (refs/(?:heads|tags|remotes)/-.*)$", re.MULTILINE)
_TAG_REF = re.compile(rb"^([0-9a-f]{40}|[0-9a-f]{64}) refs/tags/.*$", re.MULTILINE)
_ID = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\s*")
_REPLACED = b" refs/replace/"

_WORD = re.compile(rb"[^\s*?\[\\-][^\s*?\[\\]*")
"""What stays one argument without quotes, and is no option."""

_UNDER_WAY = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
"""Files whose text `git branch` prints while HEAD is detached."""

_NO_BRANCH = b"detached HEAD"


class PrintedNamesError(ValueError):
    """It is not known which names git prints."""


class PrintedNames:
    """The names in one repository.

    Args:
        directory: Its own directory.
        common: The directory that it shares with the other work trees.
        looks: Notes what is looked at.
    """

    def __init__(self, directory: str, common: str, looks: Looks) -> None:
        self._directory = directory
        self._common = common
        self._looks = looks

    def odd(self, commands: Collection[str]) -> Iterator[str]:
        """Yield the names that are no plain word, or begin with a dash.

        Args:
            commands: The sub-commands of git that print them.

        Raises:
            PrintedNamesError: It is not known which names they print.
        """
        packed = self._packed()
        yield from self._odd_refs(packed)
        if "branch" in commands:
            yield from self._odd_under_way()
        if "describe" in commands:
            yield from self._odd_tags(packed)

    def _packed(self) -> bytes:
        """Return the file that holds many refs."""
        path = os.path.join(self._common, "packed-refs")
        if not os.path.lexists(path):
            return b""
        self._looks.at(path)
        data = content_of(path, _MOST_REFS_BYTES + 1)
        if len(data) > _MOST_REFS_BYTES:
            raise PrintedNamesError("it has too many names")
        return data

    def _odd_refs(self, packed: bytes) -> Iterator[str]:
        head = os.path.join(self._directory, "HEAD")
        if os.path.islink(head):
            branch = os.fsencode(os.readlink(head))
        else:
            self._looks.at(head)
            branch = content_of(head, MOST_LINK_BYTES).removeprefix(b"ref:").strip()
        if branch.startswith(b"refs/heads/-"):
            yield os.fsdecode(branch)
        for directory in dict.fromkeys((self._directory, self._common)):
            for kind in _KINDS:
                names = names_in(os.path.join(directory, "refs", kind))
                yield from (f"refs/{kind}/{name}" for name in names if name[0] == "-")
        yield from (os.fsdecode(found[1]) for found in _ODD_REF.finditer(packed))

    def _odd_under_way(self) -> Iterator[str]:
        """Yield what git says of a rebase or a search that has no plain name."""
        for name in _UNDER_WAY:
            path = os.path.join(self._directory, name)
            if not os.path.lexists(path):
                continue
            self._looks.at(path)
            text = content_of(path, MOST_LINK_BYTES).removesuffix(b"\n")
            branch = text.removeprefix(b"refs/heads/")
            if branch and branch != _NO_BRANCH and not _WORD.fullmatch(branch):
                yield f"{name}: {os.fsdecode(text)}"

    def _odd_tags(self, packed: bytes) -> Iterator[str]:
        """Yield the odd names in tags, which `git describe` prints instead of their refs'."""
        if _REPLACED in packed or names_in(os.path.join(self._common, "refs", "replace")):
            raise PrintedNamesError("some of its objects are replaced by others")
        objects = os.path.join(self._common, "objects")
        if os.path.lexists(os.path.join(objects, "info", "alternates")):
            raise PrintedNamesError("its tags may be those of another repository")
        wanted = list(islice(self._tags(packed), MAX_TAGS + 1))
        if len(wanted) > MAX_TAGS:
            raise PrintedNamesError(f"it has more than {MAX_TAGS} tags")
        try:
            with TagReader(objects) as reader:
                for each in wanted:
                    name = reader.name(each)
                    if name is not None and not _WORD.fullmatch(name):
                        yield f"tag {os.fsdecode(name)}"
        except TagError as error:
            raise PrintedNamesError(str(error)) from error

    def _tags(self, packed: bytes) -> Iterator[str]:
        """Yield the objects that tags name."""
        for found in _TAG_REF.finditer(packed):
            yield found[1].decode()
        for directory in dict.fromkeys((self._directory, self._common)):
            for path in _files_below(os.path.join(directory, "refs", "tags")):
                self._looks.at(path)
                found_id = _ID.fullmatch(content_of(path, MOST_LINK_BYTES))
                if found_id is None:
                    raise PrintedNamesError(f"{path!r} is not understood")
                yield found_id[1].decode()


def _files_below(directory: str) -> Iterator[str]:
    pending: Sequence[str] = [directory]
    while pending:
        names = [os.path.join(each, name) for each in pending for name in names_in(each)]
        pending = [each for each in names if os.path.isdir(each) and not os.path.islink(each)]
        yield from (each for each in names if each not in pending)


def odd_name_error(place: str, odd: str) -> ToolArgumentError:
    """Return the error for a repository with a name that another command takes for an option."""
    return ToolArgumentError(
        f"the repository at {place!r} has a name that begins with a dash, or has a blank in it "
        f"({odd}), so that git would take it for an option where the command passes it on. Rename "
        "or delete it, or give the name in full."
    )
