"""What a project's files make of a program is asked about, unless it is known to be harmless."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from agentscope_like.sandbox.isolation.views import network_programs
from agentscope_like.shell import catalog
from agentscope_like.shell.catalog import steered_by, steering_table
from agentscope_like.toml_tables import TableError
from tests.permission.kit import Place, decide, make_place
from tests.steered_list import listed

TABLE = tomllib.loads(Path(__file__).with_name("steering.toml").read_text("utf-8"))
FILES = tomllib.loads(Path(__file__).with_name("steering_files.toml").read_text("utf-8"))["file"]
HOSTILE = "[toolchain]\npath = '/tmp/evil'\n"


def project(base: Path, table: dict[str, Any]) -> Place:
    """Make the project of one entry of the table."""
    place = make_place(base)
    for name in (*table.get("directories", ()), "sub"):
        (place.work / name).mkdir(parents=True)
    for name, text in table.get("files", {}).items():
        path = place.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return place


@pytest.fixture
def rust(tmp_path: Path) -> Place:
    """Return a project that names a directory as its toolchain."""
    return project(tmp_path, {"files": {"rust-toolchain.toml": HOSTILE}})


@pytest.mark.parametrize("mode", ["explore", "default", "accept_edits"])
@pytest.mark.parametrize("table", TABLE["project"], ids=lambda table: table["says"])
def test_a_project_steers_what_its_files_say(
    table: dict[str, Any], mode: str, tmp_path: Path
) -> None:
    """A program is no read where a file of the project steers it; every other still is."""
    place = project(tmp_path, table)
    allowed = {
        command
        for command in (*table.get("asks", ()), *table.get("reads", ()))
        if decide(command, place, mode=mode).behavior.value == "allow"
    }
    assert allowed == set(table.get("reads", ()))


def test_each_program_says_what_steers_it() -> None:
    """No program is in the catalog without an answer to what steers it."""
    for name in sorted(catalog.names()):
        assert steered_by(name), f"steered_by.toml does not say what steers `{name}`"


def test_a_program_that_reaches_the_network_says_itself_what_steers_it() -> None:
    """That all programs of a file of the catalog are harmless covers none that has a network."""
    named = {command.split()[0] for record in steering_table() for command in record.commands}
    assert network_programs() - named == set()


def test_only_programs_of_the_catalog_are_said_to_be_steered() -> None:
    """A record for a program that the catalog does not know would be dead."""
    named = {command.split()[0] for record in steering_table() for command in record.commands}
    assert named - catalog.names() == set()


def test_a_record_that_says_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record without a file, a variable or a reason answers nothing."""
    text = '[[steering]]\nsource = "its manual"\nprograms = "ls"\n'
    monkeypatch.setattr(Path, "read_text", lambda *_: text)
    steering_table.cache_clear()
    try:
        with pytest.raises(TableError, match="steers"):
            steering_table()
    finally:
        steering_table.cache_clear()


def test_no_command_takes_a_switch_away(tmp_path: Path) -> None:
    """What switches a program's files off cannot be unset for it."""
    place = make_place(tmp_path)
    assert decide("env -u FOO ls", place).behavior.value == "allow"
    switches = {name for record in steering_table() for name in record.off}
    assert switches
    for name in switches:
        for command in (f"env -u {name} ls", f"unset {name}; ls", f"{name}=x ls", f"{name}= ls"):
            assert decide(command, place).behavior.value == "ask", command


LARGE: dict[str, tuple[str, Callable[[int], str]]] = {
    "rust-toolchain": ("cargo --version", lambda more: "#" * ((1 << 20) + more)),
    "package.json": ("npm ls", lambda more: "[" * (32 + more) + "1" + "]" * (32 + more)),
    "composer.json": (
        "composer show",
        lambda more: '{"a":' * (32 + more) + "1" + "}" * (32 + more),
    ),
    "pyproject.toml": ("poetry show", lambda more: "a" + ".a" * (31 + more) + " = 1"),
}


@pytest.mark.parametrize("name", LARGE)
def test_only_so_much_of_a_file_is_read(name: str, tmp_path: Path) -> None:
    """A file that is larger or nested more deeply may hold anything."""
    place = make_place(tmp_path)
    command, contents = LARGE[name]
    for more, behavior in ((0, "allow"), (1, "ask")):
        (place.work / name).write_text(contents(more))
        assert decide(command, place).behavior.value == behavior


def test_a_variable_with_an_empty_part_means_the_directory(tmp_path: Path) -> None:
    """Python takes an empty part of PYTHONPATH for the directory that it runs in."""
    place = make_place(tmp_path)
    for value, behavior in (("/usr/lib/x", "allow"), ("/usr/lib/x:", "ask"), (".", "ask")):
        with patch.dict(os.environ, PYTHONPATH=value):
            assert decide("pip list", place).behavior.value == behavior, value


def test_the_file_is_told(rust: Place) -> None:
    """The question names the file, and what it makes of a program that would else be a read."""
    decision = decide("cargo --version", rust)
    assert "`rust-toolchain.toml` chooses the toolchain" in decision.message
    assert "rust-toolchain" not in decide("cargo build", rust).message


def test_a_rule_still_allows_what_a_person_has_seen(rust: Place) -> None:
    """The question is one that a rule may answer."""
    rules = ["allow cargo --version"]
    assert decide("cargo --version", rust, rules=rules).behavior.value == "allow"
    assert decide("cargo -V", rust, rules=rules).behavior.value == "ask"


def test_what_a_command_writes_steers_it(tmp_path: Path) -> None:
    """With accepted edits, a command that writes the file before the program is asked about."""
    place = project(tmp_path, {})
    (place.work / "other").symlink_to("rust-toolchain")
    (place.work / "evil").mkdir()
    (place.work / "a.txt").touch()
    write = "printf '%s' '[toolchain]' > rust-toolchain.toml"
    for command, behavior in (
        (f"{write}; cargo --version", "ask"),
        ("touch .cargo/config.toml; cargo search x", "ask"),
        ("mv evil sub; cd sub; cargo --version", "ask"),
        ("ln -s evil sub/x; cd sub/x; cargo --version", "ask"),
        ("echo x > other; cargo --version", "ask"),
        ("echo x > sub/Rust-Toolchain; cargo --version", "ask"),
        ("cp a.txt rust-toolchain; cargo --version", "ask"),
        ("cp a.txt sub; cargo --version", "allow"),
        ("cp rust-toolchain.txt sub/rust-toolchain; cargo --version", "ask"),
        ("mv a.txt b.txt; cargo --version", "allow"),
        ("cp -r evil/. .; cargo --version", "ask"),
        ("rm a.txt; cargo --version", "allow"),
        ("mv evil lib && rg x", "allow"),
        ("cp -r evil sub && rg x", "allow"),
        ("cp -r evil/. sub; cd sub; rg x", "ask"),
        ("mv ./*.txt sub; rg x", "allow"),
        ("mv ./*.txt sub; cd sub; rg x", "ask"),
        ("mkdir -p a/b; cd a/b; cargo --version", "allow"),
        (f"{write}; git status", "allow"),
        ("echo x > out.txt; cargo --version", "allow"),
        ("mkdir -p a/b; cargo --version > a/b/version.txt", "allow"),
    ):
        assert decide(command, place, mode="accept_edits").behavior.value == behavior, command


def test_files_above_the_project_count(tmp_path: Path) -> None:
    """A program looks in the directories above the one that it runs in, and through symlinks."""
    place = project(tmp_path, {})
    other = tmp_path / "elsewhere" / "deep"
    other.mkdir(parents=True)
    (place.work / "link").symlink_to(other)
    assert decide("cd link && cargo --version", place).behavior.value == "allow"
    (other.parent / "rust-toolchain.toml").write_text(HOSTILE)
    assert decide("cargo --version", place).behavior.value == "allow"
    assert decide("cd link && cargo --version", place).behavior.value == "ask"
    (tmp_path / "rust-toolchain.toml").write_text(HOSTILE)
    assert decide("cargo --version", place).behavior.value == "ask"


def test_a_home_is_the_users_own(tmp_path: Path) -> None:
    """Files in the home steer for the user, unless the home is what is worked in."""
    home = tmp_path.resolve() / "u"
    (home / "project").mkdir(parents=True)
    (home / "rust-toolchain.toml").write_text(HOSTILE)
    inside = Place(home / "project", home)
    assert decide("cargo --version", inside).behavior.value == "allow"
    (tmp_path / "link").symlink_to(home.parent)
    for started, called in (("link", "link"), (".", "link")):
        other = Place(home.parent / started / "u" / "project", home.parent / called / "u")
        assert decide("cargo --version", other).behavior.value == "allow", (started, called)
    assert decide("cargo --version", Place(home, home)).behavior.value == "ask"
    assert decide("cargo --version", Place(tmp_path.resolve(), home)).behavior.value == "allow"
    assert (
        decide("cd u/project && cargo --version", Place(tmp_path.resolve(), home)).behavior.value
        == "ask"
    )


def test_a_file_that_comes_is_seen_in_a_directory_that_was_looked_at(tmp_path: Path) -> None:
    """What one decision has seen of a directory, the next one does not go by."""
    place = project(tmp_path, {})
    assert decide("cargo --version", place).behavior.value == "allow"
    (place.work / "rust-toolchain").write_text(HOSTILE)
    assert decide("cargo --version", place).behavior.value == "ask"
    (place.work / "rust-toolchain").unlink()
    assert decide("cargo --version", place).behavior.value == "allow"


def test_the_list_names_files_and_switches() -> None:
    """What steers a program can be read: its files, its variables and what is switched off."""
    lines = "\n".join(listed(["cargo"]))
    for text in ("rust-toolchain.toml", "RUSTUP_AUTO_INSTALL=0", "CARGO_HOME", "cargo search"):
        assert text in lines
    assert "\nls\n" not in "\n".join(listed())
    assert "\nls\n" in "\n".join(listed(everything=True))


def test_a_file_that_cannot_be_read_steers(tmp_path: Path) -> None:
    """What is no regular file, too large or no text is not known to be harmless."""
    place = project(tmp_path, {})
    path = place.work / "rust-toolchain"
    assert decide("cargo --version", place).behavior.value == "allow"
    for text in (b"", b"# stable\n", b"\r\n"):
        path.write_bytes(text)
        assert decide("cargo --version", place).behavior.value == "allow"
    for text in (b"\xff\xfe", b"stable\n" * 200_000, b"stable\x00path"):
        path.write_bytes(text)
        assert decide("cargo --version", place).behavior.value == "ask"
    path.unlink()
    os.mkfifo(path)
    assert decide("cargo --version", place).behavior.value == "ask"
    path.unlink()
    path.symlink_to(place.home / "x")
    assert decide("cargo --version", place).behavior.value == "allow"
    (place.home / "x").write_text(HOSTILE)
    assert decide("cargo --version", place).behavior.value == "ask"


@pytest.mark.parametrize(
    ("variable", "command"),
    [
        ("KUBECONFIG", "kubectl get pods"),
        ("CARGO_HOME", "cargo search x"),
        ("NPM_CONFIG_USERCONFIG", "npm ls"),
        ("PYTHONPATH", "pip list"),
        ("AWS_CONFIG_FILE", "aws s3 ls"),
        ("DOCKER_CONFIG", "docker ps"),
        ("VIRTUAL_ENV", "uv pip list"),
    ],
)
def test_a_variable_that_leads_into_the_project_steers(
    variable: str, command: str, tmp_path: Path
) -> None:
    """What the environment names is the user's own, unless it lies in the project."""
    place = project(tmp_path, {})
    for value, behavior in (
        (f"{place.home}/x", "allow"),
        (f"{place.work}/x", "ask"),
        (f"{place.home}/x:{place.work}/x", "ask"),
        ("../../../../../x", "ask"),
        ("/x" * 2100, "ask"),
        ("x", "ask"),
        ("", "allow"),
    ):
        with patch.dict(os.environ, {variable: value}):
            assert decide(command, place).behavior.value == behavior, value


@pytest.mark.parametrize(
    "row", FILES, ids=lambda row: f"{row['command']}: {row['names'].split()[0]}"
)
def test_a_file_steers_by_what_is_in_it(row: dict[str, Any], tmp_path: Path) -> None:
    """Each content that is known to be harmless leaves the command a read, and no other does."""
    for number, name in enumerate(row["names"].split()):
        place = make_place(tmp_path / str(number))
        path = place.home / name[2:] if name.startswith("~/") else place.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        assert decide(row["command"], place).behavior.value == "allow", name
        if name.startswith("/"):
            continue
        if name.endswith("/"):
            path.mkdir()
            assert decide(row["command"], place).behavior.value == "ask", name
            continue
        for side, behavior in (("reads", "allow"), ("asks", "ask")):
            for content in row.get(side, ()):
                path.write_text(content)
                decision = decide(row["command"], place)
                assert decision.behavior.value == behavior, (name, content)
                assert side == "reads" or path.name in decision.message


def test_each_file_that_steers_is_tried() -> None:
    """No record of a file is without contents that steer."""
    records = [file.all_names for record in steering_table() for file in record.file]
    assert sorted(records) == sorted(tuple(row["names"].split()) for row in FILES)


def test_a_python_that_is_named_with_its_directory_is_that_one(tmp_path: Path) -> None:
    """What PATH would find, and what pyenv would choose, is nothing to it."""
    place = make_place(tmp_path)
    (tmp_path / "shims").mkdir()
    (tmp_path / "shims" / "python3").touch(0o755)
    known = re.fullmatch(r"python3\.(\d+)", Path("/usr/bin/python3").resolve().name)
    behavior = "allow" if known and int(known[1]) >= 11 else "ask"
    for version in ("3.10", "3.12"):
        variables = {"PATH": f"{tmp_path}/shims", "PYENV_VERSION": version, "PYENV_DIR": ""}
        with patch.dict(os.environ, variables):
            named = decide("/usr/bin/python3 -m pip list", place)
            assert named.behavior.value == behavior
            found = decide("python3 -m pip list", place)
            assert found.behavior.value == ("allow" if version == "3.12" else "ask")


PYTHONS = """
new | | | allow
edge | | | allow
old | | | ask
odd | | | ask
nothing | | | ask
nothing:missing:folder:new | | | allow
old:new | | | ask
new:old | | | allow
shims | | pyenv/version=3.12.1 | allow
shims/ | | pyenv/version=3.12.1 | allow
shims | | pyenv/version=3.11 | allow
shims | | pyenv/version=3.12.1/envs/my-own | allow
shims:new | | pyenv/version=3.10.1 | ask
shims:new | | pyenv/version=3.12.1-dev | ask
shims:new | | pyenv/version=mine | ask
shims:new | | pyenv/version=3.12 3.10 | ask
shims:old | | pyenv/version=3.12 3.13 | allow
shims:new | | pyenv/version=3.12 system | allow
shims:new | | pyenv/version=system | allow
shims:old | | pyenv/version=3.12 system | ask
shims:new | | pyenv/version=3.10 system | ask
shims | | pyenv/version=system | ask
shims:new | | | allow
shims:old | | | ask
shims:new | | pyenv/version= | ask
shims:new | | pyenv/version/x=3.12 | ask
shims:new | | pyenv/version=\xff | ask
shims | PYENV_VERSION=3.12.1 | pyenv/version=3.10 | allow
shims | PYENV_VERSION=3.12.1:3.13 | pyenv/version=3.10 | allow
shims:new | PYENV_VERSION=3.12.1:3.10 | pyenv/version=3.12 | ask
shims | PYENV_DIR=/x | pyenv/version=3.12 | ask
new | PYENV_DIR=/x | | ask
shims | | pyenv/version=3.10 work/project/.python-version=3.12 | allow
shims | | pyenv/version=3.10 work/.python-version=3.12 | allow
shims:new | | pyenv/version=3.12 work/.python-version=3.10 | ask
shims:new | | work/project/.python-version=3.12 work/.python-version=3.10 | ask
shims:new | | pyenv/version=3.12 work/.python-version/x=3.12 | ask
"""


@pytest.mark.parametrize("row", PYTHONS.strip().splitlines())
def test_each_python_that_may_run_is_recent(row: str, tmp_path: Path) -> None:
    """Before 3.11 a module of the directory may be imported, and so by a Python of no version."""
    path, variables, files, behavior = (column.strip() for column in row.split("|"))
    place = make_place(tmp_path)
    for name, version in (("new", "3.12"), ("edge", "3.11"), ("old", "3.10"), ("odd", "3.12x")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"python{version}").touch(0o755)
        (tmp_path / name / "python3").symlink_to(f"python{version}")
    (tmp_path / "folder" / "python3").mkdir(parents=True)
    (tmp_path / "nothing").mkdir()
    (tmp_path / "pyenv" / "shims").mkdir(parents=True)
    (tmp_path / "pyenv" / "shims" / "python3").touch(0o755)
    for each in re.findall(r"(\S+?)=([^=]*)(?= \S+=|$)", files):
        file = tmp_path / each[0]
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(each[1].encode("latin-1"))
    places = [f"{tmp_path}/{name.replace('shims', 'pyenv/shims')}" for name in path.split(":")]
    none = dict.fromkeys(("PYENV_VERSION", "PYENV_DIR"), "")
    added = dict(each.split("=") for each in variables.split())
    with patch.dict(os.environ, {"PATH": ":".join(places), **none, **added}):
        decision = decide("python3 -m pip list", place)
        assert decision.behavior.value == behavior
        assert behavior == "allow" or "may be older than 3.11" in decision.message
        assert decide("cd $x; python3 -m pip list", place).behavior.value == "ask"
