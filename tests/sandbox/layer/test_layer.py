"""Real programs write to layers, which are listed and applied."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.layer import (
    ApplyError,
    Layer,
    apply_layer,
    apply_objection,
    finish_applying,
    layer_objection,
)
from tests.sandbox.layer.layers import NEEDS_LAYERS, OTHER_USER, give, run, seen

pytestmark = NEEDS_LAYERS


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a small tree."""
    top = tmp_path / "project"
    (top / "src" / "inner").mkdir(parents=True)
    (top / "empty").mkdir()
    (top / "a.txt").write_text("a\n")
    (top / "src" / "b.py").write_text("b\n")
    (top / "src" / "inner" / "c.py").write_text("c\n")
    (top / "link").symlink_to("src/b.py")
    return top


@pytest.fixture(params=["own", "other"])
def user(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """Run as the user of the tests, and as one who has no rights, where that can be tried."""
    if request.param == "own":
        return None
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)
    return OTHER_USER


@pytest.fixture
def layered(project: Path, tmp_path: Path, user: int | None) -> Layer:
    """Make a layer over the project that this user can write to."""
    layer = Layer.make(tmp_path / "layers", [str(project)])
    if user is not None:
        for each in tmp_path.parents:
            each.chmod(each.stat().st_mode | 0o011)
        give(user, tmp_path)
        layer = _anew(layer)
    return layer


def _anew(layer: Layer) -> Layer:
    """Return a layer of the same directories that is younger than their change of owner."""
    made = Layer.make(layer.folder.parent, layer.directories)
    give(OTHER_USER, made.folder)
    return made


def changed(layer: Layer) -> dict[str, str]:
    """Return what happened to each path."""
    told = {}
    for change in layer.manifests()[0].changes:
        if change.before is None:
            told[change.path] = "added"
        else:
            told[change.path] = "changed" if change.after else "removed"
    return told


def test_a_run_writes_to_the_layer_alone(layered: Layer, project: Path, user: int | None) -> None:
    """What it wrote is listed, and the project is as it was."""
    before = seen(project)
    run(
        layered,
        "echo x > new; echo y >> a.txt; rm src/b.py; mv src/inner moved; chmod 600 link; mkdir d",
        user=user,
    )
    assert seen(project) == before
    assert (
        changed(layered)
        == {
            "a.txt": "changed",
            "d": "added",
            "moved": "added",
            "moved/c.py": "added",
            "new": "added",
            "src/b.py": "removed",
            "src/inner": "removed",
            "src/inner/c.py": "removed",
        }
        or user is None
    )


def test_what_is_applied_is_what_the_run_saw(
    layered: Layer, project: Path, user: int | None
) -> None:
    """Contents, modes, links, removals and times of files are as in the run."""
    told = run(
        layered,
        "umask 022; mkdir -p n/m; echo x > n/m/new; touch -d 2001-02-03 n/m/new; echo y >> a.txt;"
        "rm -r src; mkdir src; echo z > src/z; chmod 755 a.txt; ln -sfn n link; rmdir empty;"
        "ls -laR --time-style=full-iso | grep -v ' \\.\\+$' | grep -v total",
        user=user,
    )
    apply_layer(layered, tuple(layered.manifests()))
    shown = subprocess.run(
        "ls -laR --time-style=full-iso | grep -v ' \\.\\+$' | grep -v total",
        shell=True,
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    files = [line.split()[0:1] + line.split()[4:] for line in told.splitlines() if line[:1] == "-"]
    assert files == [
        line.split()[0:1] + line.split()[4:] for line in shown.splitlines() if line[:1] == "-"
    ]
    assert seen(project)["link"] == ("l", 0, "n")
    assert "empty" not in seen(project)
    assert seen(project)["a.txt"] == ("-", 0o755, "a\ny\n")
    assert not list(project.rglob("*.tmp"))


def test_the_same_content_is_no_change(layered: Layer, user: int | None) -> None:
    """A file written anew with its content and time is not listed; a renamed one is told."""
    run(layered, "cp -p a.txt t; rm a.txt; mv t a.txt; mv src/b.py src/renamed.py", user=user)
    told = {each.path: each.renamed_from for each in layered.manifests()[0].changes}
    assert told == {"src/b.py": None, "src/renamed.py": "src/b.py"}


def test_what_is_special_is_said_and_never_applied(layered: Layer, project: Path) -> None:
    """Pipes are left out, and set-user-ID bits."""
    if os.geteuid() != 0:
        pytest.skip("one way suffices")
    run(layered, "mkfifo pipe; cp /bin/true tool; chmod 4755 tool")
    told = {each.path: each.special for each in layered.manifests()[0].changes}
    assert told["pipe"] == "a named pipe, socket or device"
    assert told["tool"].startswith("set-user-ID")
    apply_layer(layered, tuple(layered.manifests()))
    assert not (project / "pipe").exists()
    assert (project / "tool").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda top: (top / "a.txt").write_text("mine\n"),
        lambda top: (top / "a.txt").touch(),
        lambda top: (top / "new").write_text("mine\n"),
        lambda top: (top / "src" / "b.py").unlink(),
        lambda top: ((top / "src").rename(top / "old"), (top / "empty").rename(top / "src")),
        lambda top: ((top / "src").rename(top / "old"), (top / "src").symlink_to("old")),
        lambda top: (top / "gone" / "extra").write_text("mine\n"),
    ],
)
def test_nothing_is_applied_where_something_else_changed(
    project: Path, tmp_path: Path, meanwhile: Callable[[Path], object]
) -> None:
    """A file or directory that a person changed meanwhile is not replaced; nor is anything else."""
    (project / "gone").mkdir()
    layer = Layer.make(tmp_path / "layers", [str(project)])
    run(layer, "echo x >> a.txt; echo n > new; rm src/b.py; echo s > src/s; rmdir gone")
    manifests = tuple(layer.manifests())
    assert apply_objection(layer, manifests) is None
    meanwhile(project)
    before = seen(project)
    with pytest.raises(ApplyError, match="since the run began"):
        apply_layer(layer, manifests)
    assert seen(project) == before


@pytest.mark.parametrize(
    "meanwhile",
    [
        lambda top: (top / "other").write_text("mine\n"),
        lambda top: (top / "src" / "other").write_text("mine\n"),
        lambda top: (top / "src" / "inner" / "c.py").write_text("mine\n"),
    ],
)
def test_other_files_may_change_meanwhile(
    project: Path, tmp_path: Path, meanwhile: Callable[[Path], object]
) -> None:
    """A new file beside those that the run wrote does not keep its changes from being applied."""
    layer = Layer.make(tmp_path / "layers", [str(project)])
    run(layer, "echo x >> a.txt; echo s > src/s")
    meanwhile(project)
    apply_layer(layer, tuple(layer.manifests()))
    assert (project / "src" / "s").read_text() == "s\n"


def test_a_layer_is_found_again_until_it_is_dropped(project: Path, tmp_path: Path) -> None:
    """Another process finds what was changed; a lost layer is told of in a sentence."""
    layer = Layer.make(tmp_path / "layers", [str(project)])
    run(layer, "echo x > new; mkdir -m 0 closed")
    again = Layer.open(layer.folder)
    assert again.manifests() == layer.manifests()
    again.drop()
    again.drop()
    assert list((tmp_path / "layers").iterdir()) == []
    with pytest.raises(IsolationError, match="no longer there"):
        Layer.open(layer.folder)


def test_a_damaged_layer_applies_nothing(project: Path, tmp_path: Path) -> None:
    """What was changed on the layer after the question is not what the answer was about."""
    layer = Layer.make(tmp_path / "layers", [str(project)])
    run(layer, "echo good > new; echo x >> a.txt")
    manifests = tuple(layer.manifests())
    (layer.folder / "0" / "upper" / "new").write_text("bad!\n")
    before = seen(project)
    with pytest.raises(ApplyError, match="damaged"):
        apply_layer(layer, manifests)
    assert seen(project) == before


def test_directories_within_each_other_share_a_layer(project: Path, tmp_path: Path) -> None:
    """Two working directories are layered together, a nested one with the one around it."""
    other = tmp_path / "other"
    other.mkdir()
    layer = Layer.make(tmp_path / "layers", [str(project / "src"), str(project), str(other)])
    assert layer.directories == (str(other), str(project))
    run(layer, f"echo x > o; echo y > {project}/src/n")
    apply_layer(layer, tuple(layer.manifests()))
    assert (other / "o").exists()
    assert (project / "src" / "n").exists()


def test_places_without_layers_are_named(project: Path, tmp_path: Path) -> None:
    """The root, the home, and a store within the project have no layer, and it is said why."""
    store = tmp_path / "layers"
    assert "is a working directory" in str(layer_objection(store, ["/"], home="/home/me"))
    assert "is a working directory" in str(
        layer_objection(store, [str(project)], home=str(project))
    )
    assert "lies in the working directory" in str(
        layer_objection(project / "layers", [str(project)], home="/home/me")
    )
    assert layer_objection(store, [str(project)], home="/home/me") is None


KILLED_AT = textwrap.dedent(
    """
    import os, signal, sys
    from pathlib import Path
    from agentscope_like.sandbox.layer import Layer, apply_layer
    folder, left = Path(sys.argv[1]), int(sys.argv[2])
    layer = Layer.open(folder)
    manifests = tuple(layer.manifests())
    def counted(function):
        def call(*arguments, **options):
            global left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return function(*arguments, **options)
        return call
    for name in ("replace", "rmdir", "unlink", "mkdir", "symlink", "fchmod", "utime", "fsync"):
        setattr(os, name, counted(getattr(os, name)))
    apply_layer(layer, manifests)
    """
)


def test_a_crash_at_any_step_leaves_all_or_nothing(tmp_path: Path) -> None:
    """Killed at each change of files, it is finished or taken back, and no file is half written."""
    outcomes = []
    new: tuple[tuple[str, tuple[str, int, str]], ...] | None = None
    for step in range(200):
        top = tmp_path / str(step) / "project"
        (top / "src").mkdir(parents=True)
        (top / "a.txt").write_text("a\n")
        (top / "src" / "b.py").write_text("b\n")
        (top / "link").symlink_to("a.txt")
        old = seen(top)
        layer = Layer.make(tmp_path / str(step) / "layers", [str(top)])
        run(layer, "umask 022; echo x >> a.txt; rm -r src link; echo f > src; mkdir n; echo q >n/q")
        done = subprocess.run(
            [sys.executable, "-c", KILLED_AT, str(layer.folder), str(step)],
            cwd=Path(__file__).parents[3],
            check=False,
        )
        whole = {"", "a.txt", "a\n", "a\nx\n", "b\n", "f\n", "q\n"}
        assert {file[2] for name, file in seen(top).items() if ".tmp" not in name} <= whole
        outcomes.append(finish_applying(layer))
        now = seen(top)
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
        if not outcomes[-1]:
            assert now == old, step
        else:
            assert new in {None, tuple(now.items())}, step
            new = tuple(now.items())
    assert new == (
        ("a.txt", ("-", 0o644, "a\nx\n")),
        ("n", ("d", 0o755, "")),
        ("n/q", ("-", 0o644, "q\n")),
        ("src", ("-", 0o644, "f\n")),
    )
    assert outcomes.index(True) > 3
    assert outcomes == [False] * outcomes.index(True) + [True] * outcomes.count(True)


NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
STEPS = st.one_of(
    st.builds("echo {1} > {0}".format, PATHS, st.integers(0, 3)),
    st.builds("echo {1} >> {0}".format, PATHS, st.integers(0, 3)),
    st.builds("mkdir -p {}".format, PATHS),
    st.builds("rm -rf {}".format, PATHS),
    st.builds("mv -T {} {}".format, PATHS, PATHS),
    st.builds("ln -sT {} {}".format, PATHS, PATHS),
    st.builds("cp -r {} {}".format, PATHS, PATHS),
    st.builds("chmod {1} {0}".format, PATHS, st.sampled_from(["700", "755", "640"])),
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(first=st.lists(STEPS, max_size=8), then=st.lists(STEPS, max_size=8))
def test_random_runs_end_as_without_a_layer(first: list[str], then: list[str]) -> None:
    """Whatever a script does, applied from a layer it is what it is when done at once."""
    with tempfile.TemporaryDirectory() as folder:
        plain, layered = Path(folder, "plain"), Path(folder, "layered")
        script = "; ".join(["umask 022", *(f"{each} 2>/dev/null" for each in then), "true"])
        for top in (plain, layered):
            top.mkdir()
            before = "; ".join(["umask 022", *(f"{each} 2>/dev/null" for each in first), "true"])
            subprocess.run(["/bin/sh", "-c", before], cwd=top, check=True)
        subprocess.run(["/bin/sh", "-c", script], cwd=plain, check=True)
        layer = Layer.make(Path(folder, "layers"), [str(layered)])
        run(layer, script)
        apply_layer(layer, tuple(layer.manifests()))
        assert seen(layered) == seen(plain)
