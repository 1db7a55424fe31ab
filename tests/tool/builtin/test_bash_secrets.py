"""A proven read shows the model no secret of the environment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agentscope_like.message import TextBlock
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.tool import Bash
from agentscope_like.tool.builtin.bash.environment.secret_variables import without_secrets
from tests.permission.kit import analyze

SECRET = "s3cr3t-value"


async def output(
    command: str, policy: PermissionContext | None = None, bash: Bash | None = None
) -> str:
    """Return all that the command says."""
    said = []
    async for chunk in (bash or Bash()).call(command, _permission_context=policy):
        said += [block.text for block in chunk.content if isinstance(block, TextBlock)]
    return "".join(said)


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a key, a token and a harmless variable into the environment."""
    for name in ("OPENAI_API_KEY", "GH_TOKEN", "DB_PASSWORD", "aws_secret_access_key"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("MONKEY_BUSINESS", "fine")


@pytest.mark.parametrize(
    "command",
    [
        "env",
        "printenv OPENAI_API_KEY",
        'echo "$OPENAI_API_KEY"',
        'ls "$GH_TOKEN" 2>&1',
        "env | grep -i key",
        "gh --version; printenv GH_TOKEN",
        "awk 'BEGIN { print ENVIRON[\"DB_PASSWORD\"] }'",
    ],
)
async def test_what_runs_unasked_shows_no_secret(command: str) -> None:
    """Whatever prints the environment prints the secrets empty."""
    assert SECRET not in await output(command)


async def test_an_accepted_edit_writes_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody was asked about it, and a file that it writes can be read; a person's yes is one."""
    monkeypatch.chdir(tmp_path)
    for mode in (PermissionMode.ACCEPT_EDITS, PermissionMode.DEFAULT):
        await output("env > told", PermissionContext(mode=mode))
        told = (tmp_path / "told").read_text()
        assert (SECRET in told) is (mode is PermissionMode.DEFAULT)
        assert "fine" in told


async def test_other_variables_are_shown() -> None:
    """A name that only looks a little like a secret is left alone."""
    assert "fine" in await output("printenv MONKEY_BUSINESS")


async def test_what_a_person_agreed_to_has_its_secrets() -> None:
    """A command that is no proven read runs with the whole environment."""
    assert SECRET in await output("printenv OPENAI_API_KEY; touch /dev/null")


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("gh pr list | head", True),
        ("gh pr list | awk '{print}'", False),
        ("gh pr list --search GH_TOKEN", False),
        ("git status", True),
        ("ls", False),
        ("gh api user --jq env", False),
        ("gh pr list --json title --jq '$ENV'", False),
        ("gh pr list --json title -q '.[] | $ENV.GH_TOKEN'", False),
        ("gh pr list --json title -qenv", False),
        ("gh api user --paginate --jq='{a: env}' | head", False),
        ('gh api user --jq "$x"', False),
        ('gh api user "--jq=$x"', False),
        ("gh api user '--jq='$x", False),
        ("gh api repos/a/b --jq '.name'", True),
        ("gh api repos/a/b --jq '.env'", True),
        ("gh api repos/a/b -q '.[] | .environment'", True),
        ("gh pr view $n --json title", True),
        ("helm env", False),
        ("helm list", True),
        ("docker compose config", False),
        ("docker compose -f a.yml convert", False),
        ("docker compose ps", True),
        ("pip config list", False),
        ("pip index versions requests", True),
    ],
)
def test_who_needs_credentials_alone_has_them(command: str, kept: bool) -> None:
    """Programs of services keep them, as long as nothing beside them could show them."""
    analysis = analyze(command, directory="/")
    environment = {"GH_TOKEN": SECRET, "HOME": "/root"}
    assert (without_secrets(analysis, environment) == {}) is kept


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("HELM_KUBETOKEN", False),
        ("PGPASSWORD", False),
        ("MYSQL_PWD", False),
        ("GITHUBTOKEN", False),
        ("DBPASSWD", False),
        ("PWD", True),
        ("OLDPWD", True),
        ("TOKENIZERS_PARALLELISM", True),
        ("MONKEY", True),
        ("PATH", True),
    ],
)
def test_a_secret_is_told_by_its_name(name: str, kept: bool) -> None:
    """What a name ends with says so, whatever stands before it."""
    hidden = without_secrets(analyze("env", directory="/"), {name: SECRET})
    assert (hidden == {}) is kept


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("https://user:pw@example.org/simple", False),
        ("https://token@example.org", False),
        ("postgres://app:pw@db/app", False),
        ("-i HTTPS://a:b@example.org", False),
        ("ssh://git@example.org/a/b", True),
        ("git@example.org:a/b", True),
        ("https://example.org/a@b", True),
        ("me@example.org", True),
    ],
)
def test_a_secret_in_an_address_is_told_by_its_value(value: str, kept: bool) -> None:
    """A password or token before the host is one, whatever the variable is called."""
    hidden = without_secrets(analyze("env", directory="/"), {"DATABASE": value})
    assert (hidden == {}) is kept


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("npm view react version", {"NPM_TOKEN", "NODE_AUTH_TOKEN"}),
        ("npm ls | head; npm whoami", {"NPM_TOKEN", "NODE_AUTH_TOKEN"}),
        ("npm view react; gh pr list", {"NPM_TOKEN", "NODE_AUTH_TOKEN"}),
        ("npm view react | awk 1", set()),
        ("npm config list", set()),
        ("npm config get registry", set()),
        ("npm -s get registry; npm view react", set()),
        ("docker compose config", set()),
        ("docker ps", {"GH_TOKEN", "NPM_TOKEN", "NODE_AUTH_TOKEN"}),
        ("gh pr list", {"GH_TOKEN", "NPM_TOKEN", "NODE_AUTH_TOKEN"}),
    ],
)
def test_what_a_project_may_print_or_send_is_no_secret(command: str, kept: set[str]) -> None:
    """A project's `.npmrc` says where npm puts variables, its compose file where compose does."""
    analysis = analyze(command, directory="/")
    assert analysis.read_only
    names = {"GH_TOKEN", "NPM_TOKEN", "NODE_AUTH_TOKEN"}
    blank = without_secrets(analysis, dict.fromkeys(names, SECRET))
    assert names - set(blank) == kept
    assert set(blank.values()) <= {""}


async def test_npm_shows_no_variable_that_the_project_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `.npmrc` has as `${NAME}`, npm would print with the variable filled in."""
    if shutil.which("npm") is None:
        pytest.skip("needs npm")
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / ".npmrc").write_text("user-agent = x${GH_TOKEN}y\n")
    monkeypatch.chdir(tmp_path)
    for command in ("npm config get user-agent", "npm config list", "npm get user-agent"):
        said = await output(command)
        assert "x" in said
        assert SECRET not in said


async def test_npm_writes_no_log_where_the_project_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read by npm leaves no file in the directory that the project's `.npmrc` names for logs."""
    if shutil.which("npm") is None:
        pytest.skip("needs npm")
    logs = tmp_path / "logs"
    logs.mkdir()
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / ".npmrc").write_text(f"logs-dir={logs}\n")
    monkeypatch.chdir(tmp_path)
    assert "(empty)" in await output("npm ls", bash=Bash(confine="off"))
    assert list(logs.iterdir()) == []
