"""Which words of a command say what it does."""

from __future__ import annotations

import shlex

import pytest

from agentscope_like.permission.shell.families import families


@pytest.mark.parametrize(
    ("command", "prefix"),
    [
        ("git commit -m fix", "git commit"),
        ("git stash pop", "git stash pop"),
        ("npm run build --watch", "npm run build"),
        ("npm install x", "npm install"),
        ("docker compose up -d", "docker compose up"),
        ("cargo test --all", "cargo test"),
        ("make build", "make build"),
        ("pytest -q tests", "pytest"),
        ("mkdir -p x", "mkdir"),
        ("uv run pytest -q", "uv run pytest"),
        ("npx tsc --noEmit", "npx tsc"),
        ("./gradlew test", "./gradlew"),
        ("unknown-tool sync all", "unknown-tool sync"),
    ],
)
def test_the_safe_prefix(command: str, prefix: str) -> None:
    """The prefix is as long as it takes to say what is done."""
    assert families().prefix_of(shlex.split(command)) == tuple(prefix.split())


@pytest.mark.parametrize(
    "command",
    [
        *("git", "npm", "npm run", "make", "python x.py", "python -c x", "node x.js", "bash x.sh"),
        *("sh -c x", "sudo ls", "env A=1 x", "xargs rm", "ssh host x", "find . -delete", "rm x"),
        *("rm -rf x", "chmod +x y", "curl http://x", "docker run x", "docker exec x y"),
        *(
            "uv run python x.py",
            "npx -y x",
            "poetry run python x",
            "git -C x push",
            "git --version",
        ),
        *("unknown-tool -x", "unknown-tool a/b.txt", "unknown-tool", "./script.sh a", "awk x y"),
        *("sed -i s/a/b/ x", "eval x", "time ls", "kubectl exec x", "terraform apply", "'a b' c"),
    ],
)
def test_no_open_ended_prefix(command: str) -> None:
    """Shells, interpreters, wrappers, whole families and unclear commands have none."""
    assert families().prefix_of(shlex.split(command)) is None


def test_an_unknown_word_is_no_part_of_a_prefix() -> None:
    """A prefix ends before what is not known, or there is none."""
    assert families().prefix_of(["git", None]) is None
    assert families().prefix_of(["git", "commit", None]) == ("git", "commit")
    assert families().prefix_of([None]) is None
    assert families().prefix_of([]) is None


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("git -C a -c b=c push x", "git push x"),
        ("git --no-pager log", "git log"),
        ("kubectl -n prod delete x", "kubectl delete x"),
        ("git push -f", "git push -f"),
        ("ls -la x", "ls -la x"),
    ],
)
def test_leading_options_are_left_out(command: str, plain: str) -> None:
    """A sub-command is found behind the options of its program."""
    assert list(families().without_leading_options(command.split())) == plain.split()
