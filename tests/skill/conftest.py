"""The sandboxes that skills are put into."""

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


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Return the directory that stands for the sandbox's workspace."""
    place = tmp_path / "workspace"
    place.mkdir()
    return place


@pytest.fixture(params=["local", "passthrough", "ssh", "mine"])
async def sandbox(request: pytest.FixtureRequest, workspace: Path) -> AsyncIterator[SandboxHandle]:
    """Return a sandbox of each kind, with that workspace."""
    place = str(workspace)
    handle: SandboxHandle
    if request.param == "local":
        handle = local(workspace=place)
    elif request.param == "passthrough":
        handle = passthrough(workspace=place)
    elif request.param == "ssh":
        handle = SSHSandbox(request.getfixturevalue("sshd").config(workspace=place))
    else:
        handle = MyRemoteSandbox(
            SandboxConfig(mode=SandboxType.REMOTE, remote_provider="mine", workspace=place)
        )
    async with handle:
        yield handle


@pytest.fixture
async def quick(workspace: Path) -> AsyncIterator[SandboxHandle]:
    """Return a sandbox on this host, with that workspace."""
    async with passthrough(workspace=str(workspace)) as handle:
        yield handle
