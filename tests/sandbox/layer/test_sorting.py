"""What real programs changed is sorted by what git recorded before."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentscope_like.sandbox.layer import Layer, Sort, UndoBudget, sort_changes
from tests.sandbox.layer.layers import NEEDS_LAYERS, run

pytestmark = NEEDS_LAYERS
GIT = "git -c user.name=A -c user.email=a@b -c commit.gpgsign=false"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with a history, a stash, a tag, ignored and untracked files."""
    top = tmp_path_factory.mktemp("template") / "project"
    (top / "src").mkdir(parents=True)
    (top / "src" / "a.py").write_text("a\n")
    (top / "b.txt").write_text("b\n")
    (top / "package.json").write_text("{}\n")
    (top / ".gitignore").write_text("*.log\n__pycache__/\ntarget/\n")
    script = (
        f"git init -q -b main . && {GIT} add -A && {GIT} commit -qm one && echo 2 >> b.txt"
        f"&& {GIT} commit -qam two && {GIT} branch side HEAD~1 && {GIT} tag -a v1 -m v1"
        f"&& echo 3 >> b.txt && {GIT} stash -q && {GIT} checkout -q -b other"
        f"&& echo o > o.txt && {GIT} add -A && {GIT} commit -qm other && {GIT} checkout -q main"
        f"&& git -c core.logallrefupdates=false update-ref refs/heads/unlogged HEAD~1"
        f"&& {GIT} commit-tree -m lone 'HEAD^{{tree}}' > lone.log"
        f"&& git -c core.logallrefupdates=false update-ref refs/heads/lone $(cat lone.log)"
    )
    subprocess.run(["/bin/sh", "-c", script], cwd=top, check=True, env=_environment(top))
    (top / "notes.txt").write_text("mine\n")
    (top / "debug.log").write_text("log\n")
    (top / "__pycache__").mkdir()
    (top / "__pycache__" / "a.pyc").write_text("compiled\n")
    return top


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Path:
    """Copy it."""
    subprocess.run(["/bin/cp", "-a", str(template), str(tmp_path)], check=True)
    return tmp_path / "project"


def _environment(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}


def sorts(
    project: Path, script: str, budget: Callable[[], UndoBudget | None] = UndoBudget
) -> dict[Sort, set[str]]:
    """Return what a script changes, by its sort; of git's own only whether there is any."""
    layer = Layer.make(project.parent / "layers", [str(project)])
    run(layer, f"export HOME={project.parent}; {script}")
    (manifest,) = layer.manifests()
    with layer.descriptors() as (opened,):
        found: dict[Sort, set[str]] = {}
        for each in sort_changes(manifest, opened, budget()):
            path = "" if each.sort is Sort.GIT else each.change.path
            found.setdefault(each.sort, set()).add(path)
    layer.drop()
    return found


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("true", {}),
        ("echo x >> src/a.py", {Sort.CHANGE: {"src/a.py"}}),
        ("echo x > new.py", {Sort.CHANGE: {"new.py"}}),
        ("rm src/a.py; rmdir src", {Sort.CHANGE: {"src/a.py", "src"}}),
        ("echo x >> notes.txt", {Sort.CHANGE: {"notes.txt"}}),
        ("mv notes.txt moved.txt", {Sort.CHANGE: {"notes.txt", "moved.txt"}}),
        ("rm notes.txt", {Sort.LOST: {"notes.txt"}}),
        ("rm debug.log", {Sort.LOST: {"debug.log"}}),
        ("echo x >> src/a.py; cp src/a.py src/c.py", {Sort.CHANGE: {"src/a.py", "src/c.py"}}),
        ("rm -r __pycache__", {Sort.CACHE: {"__pycache__", "__pycache__/a.pyc"}}),
        (
            "mkdir -p node_modules/x; echo 1 > node_modules/x/i.js",
            {Sort.CACHE: {"node_modules", "node_modules/x", "node_modules/x/i.js"}},
        ),
        ("mkdir target; echo 1 > target/x", {Sort.CHANGE: {"target", "target/x"}}),
        ("mkdir dist; echo 1 > dist/x", {Sort.CACHE: {"dist", "dist/x"}}),
        ("ln -s /etc/passwd p", {Sort.SETTING: {"p"}}),
        ("ln -s ../../x p", {Sort.SETTING: {"p"}}),
        ("ln -s src/a.py p", {Sort.CHANGE: {"p"}}),
    ],
)
def test_files(project: Path, script: str, expected: dict[Sort, set[str]]) -> None:
    """A loss is what neither git nor another path has; caches are what programs make again."""
    assert sorts(project, script) == expected


def test_a_cache_that_git_records_is_none(project: Path) -> None:
    """What somebody committed is a change like any other."""
    script = "git add -f __pycache__"
    subprocess.run(script.split(), cwd=project, check=True, env=_environment(project))
    assert sorts(project, "rm -r __pycache__") == {
        Sort.CHANGE: {"__pycache__", "__pycache__/a.pyc"}
    }


def test_a_modified_file_is_lost_when_it_is_removed(project: Path) -> None:
    """Git records the old content alone."""
    (project / "src" / "a.py").write_text("modified\n")
    assert sorts(project, "rm src/a.py")[Sort.LOST] == {"src/a.py"}


@pytest.mark.parametrize(
    ("script", "needs", "path"),
    [
        ("echo x >> notes.txt", 5, "notes.txt"),
        ("ln -sfn src/a.py own", 5, "own"),
        ("echo x >> debug.log", 4, "debug.log"),
    ],
)
def test_what_is_overwritten_is_lost_unless_it_is_kept(
    project: Path, script: str, needs: int, path: str
) -> None:
    """What git does not have asks where nothing is kept, the file is too large, or all is full."""
    (project / "own").symlink_to("b.txt")
    kept, lost = {Sort.CHANGE: {path}}, {Sort.LOST: {path}}
    assert sorts(project, script) == kept
    assert sorts(project, script, lambda: None) == lost
    assert sorts(project, script, lambda: UndoBudget(most_file_bytes=needs)) == kept
    assert sorts(project, script, lambda: UndoBudget(most_file_bytes=needs - 1)) == lost
    assert sorts(project, script, lambda: UndoBudget(most_bytes=needs)) == kept
    assert sorts(project, script, lambda: UndoBudget(most_bytes=needs - 1)) == lost


@pytest.mark.parametrize(
    "script",
    [
        "echo x >> src/a.py",
        "echo x > new.py",
        "chmod 700 notes.txt",
        "touch notes.txt",
        "mv notes.txt moved.txt",
        "rm src/a.py; rmdir src",
    ],
)
def test_what_loses_nothing_needs_no_copy(project: Path, script: str) -> None:
    """Git has the content, it is elsewhere, or it is as it was."""
    assert Sort.LOST not in sorts(project, script, lambda: None)


def test_a_removal_asks_although_it_can_be_undone(project: Path) -> None:
    """A copy that is kept for some weeks does not make a removal a plain change."""
    assert sorts(project, "rm notes.txt") == {Sort.LOST: {"notes.txt"}}


def test_the_budget_is_for_small_files_first(project: Path) -> None:
    """One large file does not keep the others from being undone."""
    (project / "a-large").write_text("x" * 100)
    found = sorts(
        project, "echo x >> a-large; echo x >> notes.txt", lambda: UndoBudget(most_bytes=99)
    )
    assert found == {Sort.LOST: {"a-large"}, Sort.CHANGE: {"notes.txt"}}


_STASHED = f"{GIT} stash -q -u"
_BLOB = "$(git rev-parse stash^3:notes.txt)"
_FILE = f".git/objects/$(echo {_BLOB} | cut -c1-2)/$(echo {_BLOB} | cut -c3-)"
_BRANCHED = f"git checkout -q -b wip; git add -A; {GIT} commit -qm wip; git checkout -q main"
_AS_SUBMODULE = (
    "blob=$(git hash-object notes.txt); tree=$(printf '160000 commit %s\\tnotes.txt\\n' $blob"
    f" | git mktree --missing); git update-ref refs/heads/wip $({GIT} commit-tree -m x $tree)"
    "; git hash-object -w notes.txt; rm notes.txt"
)
_NAMED = f"id=$(git rev-parse stash); {GIT} stash drop -q"


@pytest.mark.parametrize(
    "script",
    [
        _STASHED,
        f"{GIT} stash -q -a",
        f"echo x > src/new; git add src/new; {GIT} stash -q -u",
        _BRANCHED,
        f"git add -A && {GIT} commit -qm wip && git rm -q notes.txt && {GIT} commit -qm gone",
    ],
)
def test_what_the_run_records_itself_is_no_loss(project: Path, script: str) -> None:
    """An untracked file is removed, but a stash or branch that is there afterwards has it."""
    found = sorts(project, script)
    assert "notes.txt" in found[Sort.CHANGE]
    assert set(found) <= {Sort.GIT, Sort.CHANGE, Sort.CACHE}, found


@pytest.mark.parametrize(
    "script",
    [
        f"{_STASHED} && git stash drop -q",
        f"{_STASHED} && git stash clear",
        "git hash-object -w notes.txt && rm notes.txt",
        f"echo y >> notes.txt; {_STASHED}",
        f"{_STASHED} && f={_FILE} && rm -f $f",
        f"{_STASHED} && f={_FILE} && chmod u+w $f && echo x > $f",
        f"{_STASHED} && f={_FILE} && chmod u+w $f && cp $(ls .git/objects/??/* | head -1) $f",
        f"{_STASHED} && git repack -q -a -d",
        f"{_STASHED} && {_NAMED}; echo $id > .git/refs/heads/wip.lock",
        f"{_STASHED} && {_NAMED}; mkdir -p .git/refs/kept; echo $id > .git/refs/kept/wip",
        f"{_STASHED} && {_NAMED}; echo $id > .git/refs/heads/..wip",
        _AS_SUBMODULE,
        f"git hash-object -w notes.txt; echo x > notes.txt; {_BRANCHED}",
    ],
)
def test_what_no_reference_of_the_run_records_is_lost(project: Path, script: str) -> None:
    """The stash is gone, its object is not what it says, or git follows nothing to it."""
    assert "notes.txt" in sorts(project, script)[Sort.LOST]


def test_a_file_with_another_name_is_told(project: Path) -> None:
    """Changing it would part the names, or reach a file elsewhere."""
    os.link(project / "b.txt", project.parent / "elsewhere")
    assert sorts(project, "echo x >> b.txt") == {Sort.SETTING: {"b.txt"}}


@pytest.mark.parametrize(
    "script",
    [
        "git status",
        f"echo x >> b.txt; {GIT} commit -qam three",
        f"{GIT} commit -q --amend -m again",
        "git reset -q --hard HEAD~1",
        "git checkout -q -b feature",
        "git tag light",
        f"{GIT} tag -a heavy -m heavy",
        "git branch -D other",
        "git branch -D unlogged",
        f"{GIT} merge -q --no-edit other",
        f"{GIT} cherry-pick other",
        f"{GIT} checkout -q other && {GIT} rebase -q main",
        "git pack-refs --all",
        "git gc -q --no-prune --keep-largest-pack || true",
        f"echo x >> b.txt; {GIT} stash -q",
        "git mv b.txt c.txt",
    ],
)
def test_everyday_git_is_bookkeeping(project: Path, script: str) -> None:
    """Nothing that git forgets, and no setting."""
    found = sorts(project, script)
    if "gc" in script:
        found.pop(Sort.LOST, None)  # loose objects go into a pack
    assert found.pop(Sort.CACHE, set()) <= {".git/index"}
    assert set(found) <= {Sort.GIT, Sort.CHANGE}, found


_TOUCHED = "touch -d '2001-01-01' b.txt src/a.py"


@pytest.mark.parametrize(
    ("script", "sort"),
    [
        ("git status", Sort.CACHE),
        ("git update-index --refresh", Sort.CACHE),
        ("git diff", Sort.CACHE),
        ("echo x >> b.txt; git status", Sort.CACHE),
        ("echo x >> b.txt; git add b.txt", Sort.GIT),
        ("git update-index --assume-unchanged b.txt", Sort.GIT),
        ("git update-index --chmod=+x b.txt", Sort.GIT),
        ("git rm -q --cached b.txt", Sort.GIT),
    ],
)
def test_an_index_that_git_only_refreshes_is_a_cache(
    project: Path, script: str, sort: Sort
) -> None:
    """Which files are as recorded, git finds out again; what it records is no cache."""
    layer = Layer.make(project.parent / "layers", [str(project)])
    run(layer, f"export HOME={project.parent}; {_TOUCHED}; {script}")
    (manifest,) = layer.manifests()
    with layer.descriptors() as (opened,):
        found = {each.change.path: each for each in sort_changes(manifest, opened, UndoBudget())}
    layer.drop()
    assert found[".git/index"].sort is sort
    assert found[".git/index"].is_in_git


def test_an_index_that_hides_a_change_is_no_cache(project: Path) -> None:
    """What it notes of a file's time and size is believed only if the file is as recorded."""
    forge = (
        "import hashlib, os; data = bytearray(open('.git/index', 'rb').read())[:-20];"
        "at = data.index(b'b.txt') - 62; found = os.stat('b.txt');"
        "data[at + 36 : at + 40] = found.st_size.to_bytes(4, 'big');"
        "data[at + 8 : at + 12] = int(found.st_mtime).to_bytes(4, 'big');"
        "open('.git/index', 'wb').write(data + hashlib.sha1(data).digest())"
    )
    for lines, sort in (("echo hidden > b.txt", Sort.GIT), ("touch b.txt", Sort.CACHE)):
        found = sorts(project, f'{lines}; /usr/bin/python3 -c "{forge}"')
        assert ".git/index" in found.get(Sort.CACHE, set()) or sort is Sort.GIT
        assert (Sort.GIT in found) is (sort is Sort.GIT), found


@pytest.mark.parametrize(
    ("script", "path"),
    [
        ("git stash drop -q", ".git/refs/stash"),
        ("git stash clear", ".git/refs/stash"),
        ("git branch -D lone", ".git/refs/heads/lone"),
        ("git tag -d v1", ".git/refs/tags/v1"),
        ("rm -r .git/objects/??", None),
    ],
)
def test_what_git_would_forget_is_a_loss(project: Path, script: str, path: str | None) -> None:
    """A stash, a branch without a reflog, a tag object, objects."""
    found = sorts(project, script)
    assert found.get(Sort.LOST)
    assert path is None or path in found[Sort.LOST]


def test_a_reflog_that_forgets_the_old_tip_is_a_loss(project: Path) -> None:
    """After an amended commit, only the reflog names the first one."""
    amend = f"{GIT} commit -q --amend -m again"
    subprocess.run(["/bin/sh", "-c", amend], cwd=project, check=True, env=_environment(project))
    assert ".git/logs/HEAD" in sorts(project, "git reflog expire --expire=now --all")[Sort.LOST]


@pytest.mark.parametrize(
    "script",
    [
        "git config core.fsmonitor ./evil",
        "echo evil > .git/hooks/pre-commit",
        "mkdir .git/hooks2; echo x > .git/hooks2/y",
        "echo '*' > .git/info/exclude",
        "echo '*.py filter=x' > .git/info/attributes",
        "echo /elsewhere > .git/objects/info/alternates",
        "echo x > .git/info/grafts",
        "echo x > .git/shallow",
        "echo ../elsewhere > .git/commondir",
        f"{GIT} replace HEAD HEAD~1",
        "f=$(ls .git/objects/??/* | head -1); chmod u+w $f; echo bad > $f",
        "mkdir -p .git/modules/x/hooks; echo x > .git/modules/x/hooks/pre-commit",
        "mkdir -p .git/modules/x; echo x > .git/modules/x/config",
        "mv .git .git2",
        "mkdir sub; git init -q sub",
        "git init -q --bare bare",
        "mkdir -p bare/objects bare/refs; echo x > bare/HEAD; echo evil > bare/config",
        "mkdir sub; echo 'gitdir: ../bare' > sub/.git",
        "mkdir sub; mkdir sub/.GIT; echo x > sub/.GIT/config",
        "rm .git/index",
        "rm .git/HEAD",
        "ln -sf /etc/passwd .git/HEAD",
    ],
)
def test_what_git_would_run_or_read_is_a_setting(project: Path, script: str) -> None:
    """Configuration, hooks, attributes, other repositories and names that git does not write."""
    assert sorts(project, script).get(Sort.SETTING)
