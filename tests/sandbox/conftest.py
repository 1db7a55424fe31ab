"""The sandboxes that the tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from agentscope_like.sandbox import SandboxConfig, SandboxHandle, SandboxType
from agentscope_like.sandbox.ssh.ssh_sandbox import SSHSandbox
from tests.sandbox.kit import MyRemoteSandbox, SSHServer, local, passthrough


@pytest.fixture(scope="package")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SSHServer]:
    """Return a running sshd, or skip."""
    server = SSHServer.start(tmp_path_factory.mktemp("sshd"))
    yield server
    server.stop()


def _made(kind: str, workspace: Path, request: pytest.FixtureRequest) -> SandboxHandle:
    place = str(workspace)
    if kind == "local":
        return local(workspace=place)
    if kind == "passthrough":
        return passthrough(workspace=place)
    if kind == "ssh":
        return SSHSandbox(request.getfixturevalue("sshd").config(workspace=place))
    return MyRemoteSandbox(
        SandboxConfig(mode=SandboxType.REMOTE, remote_provider="mine", workspace=place)
    )


@pytest.fixture(params=["local", "passthrough", "ssh", "mine"])
async def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SandboxHandle]:
    """Return a sandbox of each kind, in a workspace that is this test's."""
    async with _made(request.param, tmp_path, request) as handle:
        yield handle


@pytest.fixture(params=["local", "passthrough", "ssh"])
async def shipped(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SandboxHandle]:
    """Return a sandbox of each kind that comes with the package."""
    async with _made(request.param, tmp_path, request) as handle:
        yield handle


@pytest.fixture(params=["local", "passthrough"])
async def on_host(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[SandboxHandle]:
    """Return a sandbox of each kind that runs commands on this host."""
    async with _made(request.param, tmp_path, request) as handle:
        yield handle


@pytest.fixture
async def isolated(tmp_path: Path) -> AsyncIterator[SandboxHandle]:
    """Return a LOCAL sandbox."""
    async with local(workspace=str(tmp_path)) as handle:
        yield handle
