"""Reads what a repository's own files make git do, without running git.

Git is not asked: which `git` PATH finds, and what it does before it is confined, is not known.
Where the files are not understood, or lead git to files elsewhere, no git command is proven there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from agentscope_like.exception import ToolArgumentError
from agentscope_like.file_changes import Looks
from agentscope_like.paths import (
    MOST_CONFIG_BYTES,
    GitConfigError,
    GitSetting,
    PathError,
    TooManyFilesError,
    git_settings,
    is_below,
)
from agentscope_like.sandbox.repositories import MOST_INDEX_BYTES, GitIndexError, recorded_links
from agentscope_like.shell import Surroundings
from agentscope_like.tool.builtin.bash.environment.printed_names import (
    PrintedNames,
    PrintedNamesError,
    odd_name_error,
)
from agentscope_like.tool.builtin.bash.environment.repository_files import (
    MOST_LINK_BYTES,
    content_of,
    names_in,
)

__all__ = ["MAX_ENTRIES", "MAX_SUBMODULES", "Repositories", "settings_in"]

MAX_SUBMODULES = 200
"""Most submodules, at any depth, of one repository that a command may look at unasked."""

MAX_ENTRIES = 20_000
"""Most files of repositories, objects left out, whose names are looked at for one command."""

_MOST_INCLUDED = 10
_MOST_ALTERNATES_BYTES = 1 << 16
_GITFILE = b"gitdir: "
_MAY_BE_GITLINK = b"\0\0\xe0\0"
"""The mode of a submodule in an index (gitformat-index(5))."""

_NOT_LOOKED_INTO = frozenset({"hooks", "modules", "lfs", "annex"})
"""Of a repository: hooks are switched off, and submodules are repositories of their own."""

_TREE_FILES = (".gitattributes", ".gitignore", ".mailmap")

_NONE: frozenset[str] = frozenset()
_FAN_OUT = re.compile(r"[0-9a-f]{2}|pack")
_INCLUDES = re.compile(r"include\.path|includeif\..*\.path", re.DOTALL)
_FILE_SETTINGS = frozenset(
    {
        *("core.excludesfile", "core.attributesfile", "mailmap.file", "diff.orderfile"),
        *("blame.ignorerevsfile", "fsck.skiplist", "format.signaturefile", "commit.template"),
    }
)
_PLAIN_PATH = re.compile(r"[^~%\x00-\x1f][^\x00-\x1f]*")
_OWN_NAMES = ("HEAD", "objects", "refs", "commondir")


class Repositories:
    """The repositories that one command may read, as their files are now.

    Attributes:
        looks: What was looked at.

    Args:
        around: Where the command runs.
        environment: The variables that git would see.
    """

    def __init__(self, around: Surroundings, environment: Mapping[str, str]) -> None:
        self._around = around
        self._environment = environment
        self._roots = [each.resolved for each in around.working_directories]
        self.looks = Looks()
        self._looked_at = 0

    def keys(
        self, directory: str, options: Sequence[str], *, tells_names: Collection[str]
    ) -> list[str]:
        """Return the names of what repositories and the submodules in them set by themselves.

        A setting that names a file of the project which is no secret is left out.

        Args:
            directory: Where git starts.
            options: Git's own options that select the repository.
            tells_names: The sub-commands that print names which other commands get.

        Raises:
            ToolArgumentError: Git would read files elsewhere, or it is not known what it reads.
        """
        self.looks.at(directory)
        if not os.path.isdir(directory):
            return []
        found: dict[str, None] = {}
        pending = list(self._found(directory, options))
        tops = len(pending)
        for number, (place, root) in enumerate(pending):
            if number - tops >= MAX_SUBMODULES:
                raise ToolArgumentError(
                    f"{directory!r} has more than {MAX_SUBMODULES} submodules, too many to check "
                    "for programs that their configuration names, so no git command is run there "
                    "unasked."
                )
            repository = self._repository(place, root)
            if repository is None:
                continue
            if tells_names and number < tops:
                repository.refuse_odd_names(tells_names)
            found |= dict.fromkeys(repository.keys())
            pending += repository.submodules()
        return list(found)

    def settings(self, directory: str, options: Sequence[str]) -> Iterator[GitSetting]:
        """Yield the settings of the repositories, without those of submodules.

        Raises:
            ToolArgumentError: It is not known what they are.
        """
        for place, root in self._found(directory, options):
            repository = self._repository(place, root)
            if repository is not None:
                yield from repository.settings

    # Where git looks

    def _found(self, directory: str, options: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield what may be git's directory, and the directory that it lies in."""
        start, chosen = directory, self._environment.get("GIT_DIR")
        words = iter(options)
        for word in words:
            if word == "-C":
                start = os.path.join(start, next(words, ""))
            elif word == "--git-dir":
                chosen = next(words, "")
            elif word.startswith("--git-dir="):
                chosen = word.partition("=")[2]
        self.looks.at(start)
        place = os.path.realpath(start)
        if chosen:
            chosen = os.path.join(place, chosen)
            yield chosen, os.path.dirname(os.path.realpath(chosen))
            return
        while True:
            inner = os.path.join(place, ".git")
            self.looks.at(place)
            if os.path.lexists(inner):
                self.looks.at(inner)
                yield inner, place
            if _is_bare(place):
                yield place, place
            if _is_certain(inner) or place == os.path.dirname(place):
                return
            place = os.path.dirname(place)

    def _repository(self, place: str, root: str) -> _Repository | None:
        """Return the repository at a path; None where git would find none."""
        directory = place
        self.looks.at(place)
        if os.path.isfile(place):
            line = content_of(place, MOST_LINK_BYTES)
            if not line.startswith(_GITFILE):
                return None
            named = os.fsdecode(line.removeprefix(_GITFILE).rstrip(b"\r\n"))
            directory = os.path.join(os.path.dirname(place), named)
        self.looks.at(directory)
        directory = os.path.realpath(directory)
        if not os.path.isdir(directory):
            return None
        roots = [*self._roots, root]
        if not _lies_in(directory, roots):
            own = _acknowledged(directory, place, root, self.looks)
            if own is None:
                raise _elsewhere(root, f"its repository is {directory!r}")
            roots.append(own)
        self._check_links(directory, root, roots)
        common = _common(directory, self.looks)
        for each in () if is_below(directory, root) and is_below(common, root) else self._roots:
            self.looks.at(each)
        if common != directory:
            if not _lies_in(common, roots):
                raise _elsewhere(root, f"its repository is {common!r}")
            self._check_links(common, root, roots)
        return _Repository(self._around, root, roots, directory, common, self.looks)

    def _check_links(self, directory: str, root: str, roots: Sequence[str]) -> None:
        """Raise an error if a link in a repository leads out of the project, or to a secret."""
        pending, seen = [directory], {directory}
        while pending:
            place = pending.pop()
            is_passed_over = _passing_over(place, directory)
            has_no_objects = not is_below(place, f"{directory}/objects")
            for entry in self._entries(place, root):
                if entry.is_symlink():
                    self.looks.elsewhere()
                    target = os.path.realpath(entry.path)
                    _refuse_foreign(self._around, target, root, roots, f"its link {entry.path!r}")
                    if os.path.isdir(target) and target not in seen:
                        seen.add(target)
                        pending.append(target)
                elif entry.is_dir(follow_symlinks=False):
                    if not is_passed_over(entry.name):
                        pending.append(entry.path)
                elif has_no_objects and entry.stat(follow_symlinks=False).st_nlink > 1:
                    raise _elsewhere(root, f"{entry.path!r} is a file that has another name too")

    def _entries(self, place: str, root: str) -> list[os.DirEntry[str]]:
        self.looks.at(place)
        try:
            with os.scandir(place) as listing:
                entries = list(listing)
        except OSError as error:
            raise _not_understood(root, f"{place!r} cannot be listed") from error
        self._looked_at += len(entries)
        if self._looked_at > MAX_ENTRIES:
            raise _not_understood(root, f"it has more than {MAX_ENTRIES} files")
        return entries


class _Repository:
    """One repository whose links are checked.

    Attributes:
        settings: Its settings, with those of the files that it includes.

    Args:
        around: Where the command runs.
        root: The directory that it was found in.
        roots: Where its files may lie.
        directory: Its own directory.
        common: The directory that it shares with the other work trees.
        looks: Notes what is looked at.
    """

    def __init__(
        self,
        around: Surroundings,
        root: str,
        roots: Sequence[str],
        directory: str,
        common: str,
        looks: Looks,
    ) -> None:
        self._around = around
        self._root = root
        self._roots = roots
        self._directory = directory
        self._common = common
        self._looks = looks
        self.settings = list(self._all_settings())
        self._tree = self._work_tree()
        self._check_tree_files()
        self._check_alternates(os.path.join(common, "objects"), 0)

    def keys(self) -> Iterator[str]:
        """Yield the names of the settings."""
        for key, value in self.settings:
            if key not in _FILE_SETTINGS or not self._is_harmless(value):
                yield key

    def _is_harmless(self, value: str | None) -> bool:
        """Return whether a setting names a file of the project that is no secret."""
        if value is None or not _PLAIN_PATH.fullmatch(value):
            return False
        self._looks.elsewhere()
        target = os.path.realpath(os.path.join(self._tree, value))
        try:
            _refuse_foreign(self._around, target, self._root, self._roots, "a setting")
        except ToolArgumentError:
            return False
        return True

    # Configuration

    def _all_settings(self) -> Iterator[GitSetting]:
        yield from self._settings_of(os.path.join(self._common, "config"), 0)
        yield from self._settings_of(os.path.join(self._directory, "config.worktree"), 0)

    def _settings_of(self, path: str, depth: int) -> Iterator[GitSetting]:
        if not os.path.lexists(path):
            return
        if depth > _MOST_INCLUDED:
            raise _not_understood(self._root, "its configuration includes too many files")
        self._looks.at(path)
        try:
            settings = git_settings(content_of(path, MOST_CONFIG_BYTES + 1))
        except GitConfigError as error:
            raise _not_understood(self._root, f"of {path!r}, {error}") from error
        for setting in settings:
            yield setting
            if _INCLUDES.fullmatch(setting.key):
                self._looks.elsewhere()
                value = setting.value or ""
                included = os.path.expanduser(value) if value[:1] == "~" else value
                target = os.path.realpath(os.path.join(os.path.dirname(path), included))
                told = f"`{setting.key}` of its configuration"
                _refuse_foreign(self._around, target, self._root, self._roots, told)
                yield from self._settings_of(target, depth + 1)

    def _work_tree(self) -> str:
        """Return the work tree, which is where the repository was found unless it says so."""
        tree = self._root
        for key, value in self.settings:
            if key == "core.worktree":
                self._looks.elsewhere()
                tree = os.path.realpath(os.path.join(self._directory, value or ""))
                if not _lies_in(tree, self._roots):
                    raise _elsewhere(self._root, f"`core.worktree` names {tree!r}")
        return tree

    def _check_tree_files(self) -> None:
        """Raise an error if a file that git before 2.32 reads through a link is one elsewhere."""
        for name in _TREE_FILES:
            path = os.path.join(self._tree, name)
            if os.path.islink(path):
                self._looks.elsewhere()
                target = os.path.realpath(path)
                _refuse_foreign(self._around, target, self._root, self._roots, f"its {name}")

    # Objects, index and names

    def _check_alternates(self, objects: str, depth: int) -> None:
        path = os.path.join(objects, "info", "alternates")
        if not os.path.lexists(path):
            return
        self._looks.elsewhere()
        if depth > _MOST_INCLUDED:
            raise _not_understood(self._root, "its objects lie in too many places")
        data = content_of(path, _MOST_ALTERNATES_BYTES + 1)
        if len(data) > _MOST_ALTERNATES_BYTES or b'"' in data:
            raise _not_understood(self._root, f"{path!r} is not understood")
        for line in data.split(b"\n"):
            if line and not line.startswith(b"#"):
                other = os.path.realpath(os.path.join(objects, os.fsdecode(line)))
                _refuse_foreign(self._around, other, self._root, self._roots, f"{path!r}")
                for each in ("info", os.path.join("info", "alternates")):
                    inner = os.path.realpath(os.path.join(other, each))
                    _refuse_foreign(self._around, inner, self._root, self._roots, f"{path!r}")
                self._check_alternates(other, depth + 1)

    def submodules(self) -> Iterator[tuple[str, str]]:
        """Yield the submodules that are checked out, as `Repositories` finds repositories."""
        shared = [name for name in names_in(self._directory) if name.startswith("sharedindex.")]
        for name in ("index", *shared):
            path = os.path.join(self._directory, name)
            if not os.path.lexists(path):
                continue
            self._looks.at(path)
            data = content_of(path, MOST_INDEX_BYTES + 1)
            if len(data) > MOST_INDEX_BYTES:
                raise _not_understood(self._root, "its index is too large")
            if _MAY_BE_GITLINK not in data:
                continue
            try:
                links = recorded_links(data)
            except GitIndexError as error:
                raise _not_understood(self._root, f"of its index, {error}") from error
            for link in sorted(links):
                self._looks.elsewhere()
                inner = os.path.join(self._tree, os.fsdecode(link))
                if os.path.lexists(os.path.join(inner, ".git")):
                    yield os.path.join(inner, ".git"), os.path.realpath(inner)

    def refuse_odd_names(self, commands: Collection[str]) -> None:
        """Raise an error if git prints a name like an option; a clone copies any name."""
        if any(key == "extensions.refstorage" for key, _ in self.settings):
            raise _not_understood(self._root, "its names are not kept in files")
        names = PrintedNames(self._directory, self._common, self._looks)
        try:
            for odd in names.odd(commands):
                raise odd_name_error(self._root, odd)
        except PrintedNamesError as error:
            raise _not_understood(self._root, str(error)) from error


def settings_in(path: str, home: str, depth: int = 0) -> Iterator[GitSetting]:
    """Yield the settings of a user's configuration file, with those of the files that it includes.

    Args:
        path: The file.
        home: What `~` stands for.
        depth: How many files include it.

    Raises:
        ToolArgumentError: They are not understood.
    """
    if not os.path.lexists(path):
        return
    try:
        settings = git_settings(content_of(path, MOST_CONFIG_BYTES + 1))
    except GitConfigError as error:
        raise _not_understood(path, str(error)) from error
    for setting in settings:
        yield setting
        if _INCLUDES.fullmatch(setting.key) and setting.value:
            if depth > _MOST_INCLUDED:
                raise _not_understood(path, "it includes too many files")
            value = setting.value
            named = os.path.join(home, value[2:]) if value.startswith("~/") else value
            yield from settings_in(os.path.join(os.path.dirname(path), named), home, depth + 1)


def _is_bare(place: str) -> bool:
    """Return whether git may take a directory itself for a repository."""
    has = {name for name in _OWN_NAMES if os.path.lexists(os.path.join(place, name))}
    return "HEAD" in has and len(has) > 1


def _is_certain(place: str) -> bool:
    """Return whether git takes a `.git` for a repository, so that it looks no further up."""
    if os.path.isfile(place):
        line = content_of(place, MOST_LINK_BYTES)
        named = os.fsdecode(line.removeprefix(_GITFILE).rstrip(b"\r\n"))
        place = os.path.join(os.path.dirname(place), named)
    return all(os.path.lexists(os.path.join(place, name)) for name in _OWN_NAMES[:3])


def _acknowledged(directory: str, place: str, root: str, looks: Looks) -> str | None:
    """Return what a repository elsewhere consists of, if it says that this is its work tree.

    A linked work tree is named in `gitdir` (gitrepository-layout(5)), a submodule's in
    `core.worktree`.
    """
    common = _common(directory, looks)
    if os.path.basename(os.path.dirname(directory)) == "worktrees":
        looks.at(os.path.join(directory, "gitdir"))
        named = os.fsdecode(content_of(os.path.join(directory, "gitdir"), MOST_LINK_BYTES).rstrip())
        looks.at(os.path.join(directory, named))
        is_own = os.path.realpath(os.path.join(directory, named)) == os.path.realpath(place)
        is_plain = common == os.path.dirname(os.path.dirname(directory))
        return common if is_own and is_plain else None
    if common != directory:
        return None
    looks.elsewhere()
    try:
        settings = git_settings(content_of(os.path.join(directory, "config"), MOST_CONFIG_BYTES))
    except GitConfigError:
        return None
    trees = [value or "" for key, value in settings if key == "core.worktree"]
    is_own = [os.path.realpath(os.path.join(directory, each)) for each in trees] == [root]
    return directory if is_own else None


def _common(directory: str, looks: Looks) -> str:
    path = os.path.join(directory, "commondir")
    if not os.path.lexists(path):
        return directory
    looks.at(path)
    named = os.fsdecode(content_of(path, MOST_LINK_BYTES).rstrip(b"\r\n"))
    return os.path.realpath(os.path.join(directory, named))


def _passing_over(place: str, repository: str) -> Callable[[str], object]:
    """Return what tells which directories in a directory of a repository are not looked into."""
    if place == repository:
        return _NOT_LOOKED_INTO.__contains__
    return _FAN_OUT.fullmatch if place == f"{repository}/objects" else _NONE.__contains__


def _refuse_foreign(
    around: Surroundings, target: str, root: str, roots: Iterable[str], told: str
) -> None:
    """Raise an error if a path, with its links followed, is a secret or lies elsewhere."""
    if not _lies_in(target, roots):
        raise _elsewhere(root, f"{told} leads to {target!r}")
    try:
        reason = around.read_objection(around.locate(target))
    except (PathError, TooManyFilesError) as error:
        raise _not_understood(root, str(error)) from error
    if reason:
        raise _elsewhere(root, f"{told} leads to a secret: {reason}")


def _lies_in(path: str, roots: Iterable[str]) -> bool:
    return any(is_below(path, each) for each in roots)


def _elsewhere(root: str, why: str) -> ToolArgumentError:
    return ToolArgumentError(
        f"git would read files outside the repository at {root!r}: {why}. What is there is left to "
        "the user."
    )


def _not_understood(root: str, why: str) -> ToolArgumentError:
    return ToolArgumentError(
        f"it is not known what git would do in the repository at {root!r}: {why}. No git command "
        "is run there unasked."
    )
