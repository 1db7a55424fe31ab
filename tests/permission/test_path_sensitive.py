"""Which paths a person must agree to, and which neighbours they need not."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import pytest

from agentscope_like.paths import (
    FileSystemNames,
    Location,
    SensitiveNames,
    locate,
    private_objection,
    read_objection,
    standard_devices,
    write_objection,
    xdg_places,
)
from agentscope_like.permission import PatternError

HOME = "/nonexistent/home/u"
TABLES = tomllib.loads(Path(__file__).with_name("sensitive.toml").read_text("utf-8"))


def at(path: str) -> Location:
    return locate(path, directory=f"{HOME}/project", home=HOME)


def nothing(path: str) -> NoReturn:
    """Find no name, as in a file system without any link."""
    raise FileNotFoundError(path)


BARE = cast(FileSystemNames, SimpleNamespace(lstat=nothing, readlink=nothing, scandir=nothing))


def everywhere(path: str) -> list[Location]:
    """Return the places that a path of the tables stands for."""
    return [at(path)] if path[0] in "/~" else [at(path), at(f"sub/dir/{path}")]


@pytest.mark.parametrize("entry", TABLES["write"], ids=lambda entry: entry["does"])
def test_each_listed_path_is_sensitive_to_write(entry: dict[str, Any]) -> None:
    """What runs later, guards something or holds a secret is only changed with a person's word."""
    for path in entry["sensitive"]:
        for place in everywhere(path):
            reason = write_objection(place)
            assert reason is not None, path
            assert reason.endswith(entry["does"]), path


@pytest.mark.parametrize("entry", TABLES["read"], ids=lambda entry: entry["does"])
def test_each_listed_path_is_sensitive_to_read(entry: dict[str, Any]) -> None:
    """What holds a secret is only read with a person's word."""
    for path in entry["sensitive"]:
        for place in everywhere(path):
            reason = read_objection(place)
            assert reason is not None, path
            assert reason.endswith(entry["does"]), path


def test_each_listed_path_is_sensitive_on_any_host() -> None:
    """`/sbin` is one of the system's directories also where it is no link to `/usr/sbin`."""
    for table, sensitive in (("write", write_objection), ("read", read_objection)):
        for path in [path for entry in TABLES[table] for path in entry["sensitive"]]:
            place = locate(path, directory=f"{HOME}/project", home=HOME, names=BARE)
            assert sensitive(place) is not None, path
    place = locate("/sbinx/x", directory=f"{HOME}/project", home=HOME, names=BARE)
    assert write_objection(place) is None


@pytest.mark.parametrize(
    ("path", "home", "text"),
    [
        ("/home/u/.env", "/home/u", "~/.env"),
        ("/home/ux/.env", "/home/u", "/home/ux/.env"),
        ("/home/v/.env", "/home/u", "/home/v/.env"),
        ("/etc/x", "/", "/etc/x"),
        ("/etc/x", "", "/etc/x"),
    ],
)
def test_a_path_is_shown_as_a_person_would_write_it(path: str, home: str, text: str) -> None:
    """A reason writes the home directory as a tilde, unless it is the root or unknown."""
    reason = write_objection(locate(path, directory="/", home=home, names=BARE))
    assert reason is not None
    assert f"`{text}`" in reason


def test_paths_beside_them_may_be_written() -> None:
    """Examples, public halves and look-alikes are no secrets."""
    for path in [path for entry in TABLES["write"] for path in entry.get("harmless", ())]:
        for place in everywhere(path):
            assert write_objection(place) is None, path


def test_paths_beside_them_may_be_read() -> None:
    """Examples, public halves and look-alikes are no secrets."""
    for path in [path for entry in TABLES["read"] for path in entry.get("harmless", ())]:
        for place in everywhere(path):
            assert read_objection(place) is None, path


@pytest.mark.parametrize(
    ("sensitive", "harmless"),
    [
        ("~/.bashrc", "bashrc"),
        ("dotfiles/.zshrc", "dotfiles/zshrc.md"),
        ("~/.config/fish/config.fish", "~/.config/fishing/notes"),
        (".env", ".env.example"),
        (".env", ".env/bin/python"),
        (".env.local", ".env.local.example"),
        (".env.production", "env.production.ts"),
        (".ENV", "environment.py"),
        (".git/hooks/pre-commit", ".github/CODEOWNERS"),
        (".git/config", ".gitignore"),
        (".git", "git"),
        (".gitmodules", ".gitattributes"),
        ("vendor/lib/.git/config", "vendor/lib/git/config"),
        (".github/workflows/ci.yml", ".github/ISSUE_TEMPLATE/bug.yml"),
        (".vscode/tasks.json", "vscode/tasks.json"),
        (".idea/workspace.xml", "idea.md"),
        ("Jenkinsfile", "Makefile"),
        (".npmrc", "package.json"),
        (".pypirc", "pyproject.toml"),
        ("sitecustomize.py", "conftest.py"),
        (".venv/lib/python3.11/site-packages/x.pth", "model.pth"),
        (".mcp.json", "mcp.py"),
        (".claude/settings.json", "CLAUDE.md"),
        (".agentscope-like/rules.toml", "agentscope-like/rules.py"),
        ("~/.config/agentscope-like/policy.toml", "agentscope-like/policy.toml"),
        ("~/.ssh/config", "ssh/config"),
        ("~/bin/ls", "bin/ls"),
        ("~/.docker/config.json", ".docker/Dockerfile"),
        ("~/Library/LaunchAgents/x.plist", "Library/x.asset"),
        ("/etc/hosts", "etc/hosts"),
        ("/usr/local/bin/x", "/usr/src/app/main.py"),
        ("/dev/sda", "/dev/null"),
        ("/proc/sys/kernel/core_pattern", "proc/x"),
        ("/run/docker.sock", "run/docker.sock"),
        ("/dev/tcp/example.org/80", "/dev/shm/scratch"),
        ("/boot/grub/grub.cfg", "/tmp/boot"),
        ("app.code-workspace", "app.code"),
        ("api_service-account.json/../service-account-1.json", "service-accounts.md"),
    ],
)
def test_a_sensitive_write_has_a_harmless_neighbour(sensitive: str, harmless: str) -> None:
    """What runs later or guards something is sensitive; what only resembles it is not."""
    assert write_objection(at(sensitive))
    assert write_objection(at(harmless)) is None


@pytest.mark.parametrize(
    ("sensitive", "harmless"),
    [
        ("~/.ssh/id_ed25519", "~/.ssh/id_ed25519.pub"),
        ("~/.ssh/some_key", "~/.ssh/config"),
        ("deploy/id_rsa", "deploy/id_rsa.pub"),
        ("server.pem", "fullchain.pem"),
        ("tls.key", "keys.py"),
        ("server-key.pem", "cacert.pem"),
        (".env", ".env.sample"),
        ("~/.netrc", "netrc.py"),
        ("~/.aws/credentials", "~/.aws/config"),
        ("~/.kube/config", "kube/config"),
        ("~/.npmrc", "package.json"),
        ("/etc/shadow", "/etc/passwd"),
        ("/etc/shadow-", "/etc/hosts"),
        ("/proc/1/environ", "/proc/meminfo"),
        ("/proc/self/task/12/environ", "/proc/self/status"),
        ("/dev/nvme0n1", "/dev/urandom"),
        ("~/.gnupg/private-keys-v1.d/x.key", "~/.gnupg/gpg.conf"),
        ("~/.mozilla/firefox/p/cookies.sqlite", "cookies.py"),
        ("~/.bash_history", "history.md"),
        ("~/.local/share/keyrings/login.keyring", "keyring.py"),
        ("~/.docker/config.json", "docker/config.json"),
        ("~/.git-credentials", "~/.gitconfig"),
        ("secrets.yaml", "secrets.py"),
    ],
)
def test_a_sensitive_read_has_a_harmless_neighbour(sensitive: str, harmless: str) -> None:
    """Credential material is sensitive to read; public halves and look-alikes are not."""
    assert read_objection(at(sensitive))
    assert read_objection(at(harmless)) is None


@pytest.mark.parametrize(
    "path",
    [
        ".GIT/hooks/x",
        ".g\u200cit/config",
        "git~1/config",
        ".\u017f\u017fh/id",
        "x/../.git/config",
        "/ETC/hosts",
        "~/.BashRC",
    ],
)
def test_another_spelling_is_the_same_file(path: str) -> None:
    """Case, invisible characters and short names do not hide what a file system takes for it."""
    assert write_objection(at(path))


def test_the_reason_is_a_sentence() -> None:
    """A reason says which file and what it does, the home directory as a tilde."""
    assert write_objection(at("~/.bashrc")) == "`~/.bashrc` runs whenever a shell starts"


def test_the_reason_is_the_one_that_says_most() -> None:
    """Where two entries speak of a path, the more exact one is quoted."""
    assert write_objection(at("~/.aws/credentials")) == (
        "`~/.aws/credentials` holds passwords or tokens"
    )


def test_a_home_behind_a_link_is_one_home(tmp_path: Path) -> None:
    """What is sensitive in a home is so by the home's real name as well."""
    base = tmp_path.resolve()
    (base / "real").mkdir()
    (base / "home").symlink_to("real")
    location = locate(f"{base}/real/bin/x", directory="/", home=f"{base}/home")
    assert write_objection(location)
    assert write_objection(locate(f"{base}/bin/x", directory="/", home=f"{base}/home")) is None


def test_configuration_may_be_kept_elsewhere() -> None:
    """Where XDG_CONFIG_HOME says so, what is sensitive in `.config` is so there."""
    program = (
        "from agentscope_like.paths import locate, write_objection\n"
        "for name in ('git/config', 'gitte/config'):\n"
        "    location = locate('/nonexistent/conf/' + name, directory='/')\n"
        "    print(write_objection(location) is not None)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "XDG_CONFIG_HOME": "/nonexistent/conf/"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == ["True", "False"]


@pytest.mark.parametrize(
    ("path", "places"),
    [
        (".config/git/config", ["/c/git/config"]),
        (".local/share/x", ["/d/e/x"]),
        (".local/state/x/y", []),
        (".cache/x", []),
        ("x/.config/y", []),
        (".configx/y", []),
    ],
)
def test_the_environment_says_where_else(
    monkeypatch: pytest.MonkeyPatch, path: str, places: list[str]
) -> None:
    """An absolute directory is another place for what is usually below that of the variable."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/c//")
    monkeypatch.setenv("XDG_DATA_HOME", "/d/e")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert list(xdg_places(path)) == places
    monkeypatch.setenv("XDG_STATE_HOME", "/s")
    assert list(xdg_places(".local/state/x")) == ["/s/x"]
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert list(xdg_places(".config/x")) == []


def test_a_link_does_not_hide_what_it_leads_to(tmp_path: Path) -> None:
    """A harmless name that leads to a sensitive file is explained as such; others are not."""
    work = tmp_path.resolve()
    (work / ".env").write_text("TOKEN=1")
    (work / "notes.txt").symlink_to(".env")
    (work / "plain.txt").symlink_to("readme")
    location = locate("notes.txt", directory=str(work), home=HOME)
    reason = (
        f"`{work}/notes.txt` leads to `{work}/.env`, "
        "which holds secrets of the program it configures"
    )
    assert read_objection(location) == reason
    assert write_objection(location) == reason
    assert write_objection(locate("plain.txt", directory=str(work), home=HOME)) is None


def test_standard_devices_are_everyones() -> None:
    """Output may go nowhere, to the terminal or to the standard streams."""
    for device in standard_devices():
        assert write_objection(at(device)) is None
        assert read_objection(at(device)) is None


def test_to_list_a_directory_is_not_to_read_it(tmp_path: Path) -> None:
    """Names of keys may be listed; reading all that lies there is another matter."""
    (tmp_path / ".ssh").mkdir()
    location = locate(".ssh", directory=str(tmp_path))
    assert read_objection(location) is None
    assert read_objection(location, recursive=True)


@pytest.mark.parametrize("path", ["~", "/nonexistent/home", "/", "~/.config", "/etc"])
def test_reading_everything_below_reads_what_is_sensitive_there(path: str) -> None:
    """`grep -r` over a home, or over what holds credentials, is sensitive; the name is not."""
    assert read_objection(at(path)) is None
    assert read_objection(at(path), recursive=True)


def test_everything_is_below_the_root() -> None:
    """The root holds what is sensitive even where there is no home directory."""
    root = locate("/", directory="/", home="")
    assert read_objection(root, recursive=True)
    assert write_objection(root, recursive=True)


@pytest.mark.parametrize("path", ["src", ".", "/tmp", "../other", "etc", "sub/proc", "wireguard"])
def test_reading_everything_below_a_project_is_daily_work(path: str) -> None:
    """A recursive search in a workspace does not ask."""
    assert read_objection(at(path), recursive=True) is None


def test_changing_everything_below_changes_what_is_sensitive_there() -> None:
    """`rm -r .github` takes the workflows with it; `rm -r build` takes nothing."""
    assert write_objection(at(".github")) is None
    assert write_objection(at(".github"), recursive=True) == (
        "`~/project/.github` is the place of `.github/workflows/**`, "
        "which runs in continuous integration, with its secrets"
    )
    for path in ("build", "etc", "Library", "snap"):
        assert write_objection(at(path), recursive=True) is None


def test_the_names_can_be_chosen() -> None:
    """A caller's own lists replace the names, but not the places of the system."""
    chosen = partial(
        write_objection,
        names=SensitiveNames.of(["notes.txt", "*.lock", "conf/tokens.ini"], ["vault"]),
    )
    assert chosen(at("notes.txt")) == ("`~/project/notes.txt` is on the list of what to protect")
    assert chosen(at("x/poetry.lock"))
    assert chosen(at("x/conf/tokens.ini"))
    assert chosen(at("x/tokens.ini")) is None
    assert chosen(at("vault/a/b"))
    assert chosen(at("vaults/a")) is None
    assert chosen(at(".bashrc")) is None
    assert chosen(at(".vscode/x")) is None
    assert chosen(at("/etc/hosts"))


def test_the_names_can_be_added_to() -> None:
    """Extra names come on top of the usual ones (seed 002, "Bash")."""
    extended = partial(
        write_objection,
        names=SensitiveNames.of(extra_files=[".secret-stuff"], extra_directories=[".credentials"]),
    )
    assert extended(at("x/.secret-stuff"))
    assert extended(at(".credentials/token"))
    assert extended(at(".bashrc"))
    assert extended(at(".credentials.md")) is None
    assert write_objection(at(".credentials/token")) is None


def test_a_directory_name_can_hold_a_wildcard() -> None:
    """A caller's directory names are patterns too."""
    extended = partial(write_objection, names=SensitiveNames.of(extra_directories=["vault-*"]))
    assert extended(at("x/vault-1/y"))
    assert extended(at("x/vault/y")) is None


@pytest.mark.parametrize("name", ["vault", "vault/", "vault/**", "vault//"])
def test_a_directory_may_be_named_with_a_slash_or_with_what_it_holds(name: str) -> None:
    """However a directory is spelled, what is below it is protected, and nothing beside it."""
    extended = partial(write_objection, names=SensitiveNames.of(extra_directories=[name]))
    assert extended(at("x/vault/a/b"))
    assert extended(at("x/vaults/a")) is None


def test_the_first_of_two_names_may_hold_a_wildcard() -> None:
    """A file is protected in each directory that the pattern means, and there alone."""
    extended = partial(write_objection, names=SensitiveNames.of(extra_files=["conf*/tokens.ini"]))
    assert extended(at("x/conf.d/tokens.ini"))
    assert extended(at("x/conf.d/other.ini")) is None
    assert extended(at("x/data/tokens.ini")) is None


def test_the_root_has_no_name_that_a_wildcard_could_match() -> None:
    """A pattern of names that begin or end with anything says nothing of the root."""
    extended = partial(write_objection, names=SensitiveNames.of(extra_files=["*a*"]))
    assert extended(at("/")) is None
    assert extended(at("/srv/data"))


@pytest.mark.parametrize("name", ["", "*", "**", "/", "/**"])
def test_a_name_that_means_everything_is_refused(name: str) -> None:
    """A list that would make every path sensitive is a mistake, and said to be one."""
    with pytest.raises(PatternError, match="every path"):
        write_objection(at("x"), SensitiveNames.of(extra_directories=[name]))


def test_the_names_of_the_documents_are_among_the_defaults() -> None:
    """The lists that programs pass on hold what the documents name."""
    assert {".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".env"} <= set(
        SensitiveNames().all_files
    )
    assert {".git", ".vscode", ".idea", ".ssh"} <= set(SensitiveNames().all_directories)


def test_hidden_files_of_a_home_are_private_unless_listed() -> None:
    """What is known to hold no secret is read without a question, and only that."""
    for path in TABLES["harmless_hidden_files"]:
        assert private_objection(at(path), ()) is None, path
    for path in TABLES["other_hidden_files"]:
        assert private_objection(at(path), ()) is not None, path


@pytest.mark.parametrize(
    "path", ["/srv/other/home/u", "/srv/u", "/srv", HOME + "/d", "/nonexistent"]
)
@pytest.mark.parametrize(
    "name", [".azure/x", ".gradle/gradle.properties", ".age/x", "Library/Keychains/x"]
)
def test_what_is_secret_in_the_home_is_not_so_elsewhere(path: str, name: str) -> None:
    """A path of the home counts there alone, not as deep in another directory, above or below."""
    assert read_objection(at(f"{HOME}/{name}")) is not None
    assert read_objection(at(f"{path}/{name}")) is None


@pytest.mark.parametrize(
    "path", ["/srv/other/home/u", "/srv/u", "/srv", HOME + "/d", "/nonexistent"]
)
@pytest.mark.parametrize("name", [".cargo/config", ".docker/x", ".kube/x", ".aws/x", "bin/x"])
def test_what_runs_in_the_home_may_be_written_elsewhere(path: str, name: str) -> None:
    """A path of the home counts there alone, not as deep in another directory, above or below."""
    assert write_objection(at(f"{HOME}/{name}")) is not None
    assert write_objection(at(f"{path}/{name}")) is None


def test_without_a_home_no_place_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is a secret in a home is none in the directory that one happens to be in."""
    monkeypatch.chdir(tmp_path)
    path = f"{tmp_path}/.azure/x"
    assert read_objection(locate(path, directory="/", home=str(tmp_path))) is not None
    for home in ("", "/"):
        assert read_objection(locate(path, directory="/", home=home)) is None


def test_either_list_of_names_may_be_chosen_alone() -> None:
    """Files that are chosen replace the files, directories the directories."""
    for path, by_default, by_files, by_directories in (
        (".envrc", True, False, True),
        ("x/one", False, True, False),
        (".vscode/x", True, True, False),
        ("two/x", False, False, True),
    ):
        assert bool(write_objection(at(path))) is by_default
        assert bool(write_objection(at(path), SensitiveNames(files=("one",)))) is by_files
        assert (
            bool(write_objection(at(path), SensitiveNames(directories=("two",)))) is by_directories
        )


@pytest.mark.parametrize(
    ("name", "neighbour"),
    [
        ("id_work", "idwork"),
        ("server.pem", "server.pem.py"),
        ("a.key", "akey"),
        ("a.p12", "ap12"),
        ("a.pfx", "apfx"),
        ("credentials.old", "mycredentials"),
        ("shadow", "shadows"),
        ("a.kdbx", "akdbx"),
        (".bashrc", "bashrc"),
        (".vscode/x", "vscode/x"),
        ("client_secret_1.json", "client_secret_1.toml"),
        ("wg0.conf", "wg0.config"),
    ],
)
def test_names_that_credentials_often_have_are_known(name: str, neighbour: str) -> None:
    """A path that ends with such a name, whatever its case, is looked at; its neighbour is not."""
    names = SensitiveNames()
    for path in (name, f"a/{name}", name.upper(), f"{name}/"):
        assert names.occur_in(path), path
    assert not names.occur_in(neighbour)
    assert SensitiveNames.of(files=["x.conf"]).occur_in(name) == (
        name not in {".bashrc", "client_secret_1.json", "wg0.conf"}
    )


def test_names_with_a_star_are_known_wherever_it_stands() -> None:
    """A name that a person adds may begin, end or be held together by what it says."""
    names = SensitiveNames.of(extra_files=["own*", "*.own", "a*z"], extra_directories=["priv*"])
    for path in ("d/own.txt", "X.OWN", "a-to-z", "private/x", "d/PRIV/e/f"):
        assert names.occur_in(path), path
    for path in ("d/my-own", "x.own.txt", "a-to-y", "d/apriv/x"):
        assert not names.occur_in(path), path
