"""Configurations, and the sandboxes that are made of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pydantic import ValidationError

from agentscope_like.exception import ConfigurationError
from agentscope_like.sandbox import (
    CommandResult,
    ISandboxHandle,
    IsolationLevel,
    SandboxConfig,
    SandboxHandle,
    SandboxProviderFactory,
    SandboxType,
    VolumeMount,
)
from tests.sandbox.kit import MyRemoteSandbox, passthrough, require_bubblewrap


@pytest.fixture
def registered() -> Iterator[None]:
    """Register a user's provider for one test."""
    SandboxProviderFactory.register_remote_provider("my_remote", MyRemoteSandbox)
    yield
    SandboxProviderFactory.unregister_remote_provider("my_remote")


@pytest.mark.parametrize("mode", [SandboxType.LOCAL, SandboxType.PASSTHROUGH])
async def test_sage_x_03_the_mode_says_what_is_made(mode: SandboxType) -> None:
    """The factory makes a sandbox of the mode, ready to use."""
    if mode is SandboxType.LOCAL:
        require_bubblewrap()
    async with await SandboxProviderFactory.create(SandboxConfig(mode=mode)) as sandbox:
        assert sandbox.sandbox_type is mode
        assert (await sandbox.execute_command("echo ready")).stdout == "ready\n"


async def test_sage_x_04_local_is_the_default() -> None:
    """Without a word, a sandbox is LOCAL, with a workspace of its own."""
    require_bubblewrap()
    async with await SandboxProviderFactory.create() as sandbox:
        assert sandbox.sandbox_type is SandboxType.LOCAL
        assert sandbox.workspace_path == "/workspace"
        await sandbox.write_file("file", "x")
        assert (await sandbox.execute_command("cat /workspace/file")).stdout == "x"


async def test_sage_x_06_each_has_a_workspace_of_its_own() -> None:
    """Two sandboxes that were not given one do not share a workspace, nor a name."""
    async with passthrough() as one, passthrough() as other:
        assert one.host_workspace_path != other.host_workspace_path
        assert one.sandbox_id != other.sandbox_id


async def test_sage_x_11_passthrough_has_no_isolation(tmp_path: Path) -> None:
    """PASSTHROUGH says that nothing isolates it; network and limits are not promised."""
    config = SandboxConfig(mode=SandboxType.PASSTHROUGH, workspace=str(tmp_path), sandbox_id="me")
    async with await SandboxProviderFactory.create(config) as sandbox:
        assert sandbox.sandbox_type is SandboxType.PASSTHROUGH
        assert sandbox.isolation is IsolationLevel.NONE
        assert sandbox.sandbox_id == "me"


@pytest.mark.parametrize(
    "fields",
    [
        {"virtual_workspace": "/elsewhere"},
        {"volume_mounts": [VolumeMount("/usr", "/elsewhere")]},
    ],
)
def test_passthrough_moves_nothing(fields: dict[str, object]) -> None:
    """What commands could not see at that path is refused, not pretended."""
    with pytest.raises(ConfigurationError, match="/elsewhere"):
        passthrough(**fields)
    passthrough(volume_mounts=[VolumeMount("/usr", "/usr")])


@pytest.mark.usefixtures("registered")
async def test_sage_x_20_and_21_a_user_s_provider_is_used(tmp_path: Path) -> None:
    """A provider as in seed 003 is registered by its class, and made when it is asked for."""
    config = SandboxConfig(
        mode=SandboxType.REMOTE,
        remote_provider="my_remote",
        workspace=str(tmp_path),
        remote_options={"region": "here"},
    )
    sandbox = await SandboxProviderFactory.create(config)
    assert isinstance(sandbox, MyRemoteSandbox)
    assert sandbox.sandbox_id == "my-machine"
    assert sandbox.config.remote_options == {"region": "here"}
    result = await sandbox.execute_command("echo there")
    assert isinstance(result, CommandResult)
    assert result.stdout == "there\n"
    assert "my_remote" in SandboxProviderFactory.remote_providers()


@pytest.mark.usefixtures("registered")
async def test_sage_x_22_an_unknown_provider_is_an_error() -> None:
    """The error names the nearest provider there is, and how to make others known."""
    config = SandboxConfig(mode=SandboxType.REMOTE, remote_provider="my_remot")
    with pytest.raises(ConfigurationError, match="did you mean 'my_remote'"):
        await SandboxProviderFactory.create(config)


@pytest.mark.usefixtures("registered")
def test_a_name_is_registered_once() -> None:
    """Nobody takes another's name, least of all ssh's; the same class again is no matter."""
    SandboxProviderFactory.register_remote_provider("my_remote", MyRemoteSandbox)
    for name in ("my_remote", "ssh"):
        with pytest.raises(ConfigurationError, match="already"):
            SandboxProviderFactory.register_remote_provider(name, partial(MyRemoteSandbox))


class _Unfinished(SandboxHandle):
    """A provider that lacks the one thing that it needs."""

    @property
    def sandbox_type(self) -> SandboxType:
        """Return where it runs."""
        return SandboxType.REMOTE


@pytest.mark.parametrize("provider", [str, _Unfinished, "my_remote", None])
def test_what_makes_no_sandbox_is_not_registered(provider: object) -> None:
    """Another class, an unfinished one and no class at all are refused at once."""
    with pytest.raises(ConfigurationError, match="my_remote"):
        SandboxProviderFactory.register_remote_provider("my_remote", provider)  # type: ignore[arg-type]


async def test_a_provider_that_makes_something_else_is_an_error() -> None:
    """What a function returns is looked at, too."""
    SandboxProviderFactory.register_remote_provider("odd", lambda config: 1)  # type: ignore[arg-type,return-value]
    try:
        with pytest.raises(ConfigurationError, match="odd"):
            await SandboxProviderFactory.create(
                SandboxConfig(mode=SandboxType.REMOTE, remote_provider="odd")
            )
    finally:
        SandboxProviderFactory.unregister_remote_provider("odd")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"netwrok": True}, "did you mean 'network'"),
        ({"mode": "remote"}, "remote_provider"),
        ({"remote_provider": "ssh"}, "remote_provider"),
        ({"cpu_time_limit": 0}, "greater than or equal to 1"),
        ({"env": {"A B": "c"}}, "not the name"),
        ({"mode": "nowhere"}, "local"),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(
    fields: dict[str, object], message: str
) -> None:
    """A typing error, or fields that do not go together, never make another sandbox."""
    with pytest.raises(ValidationError, match=message):
        SandboxConfig.model_validate(fields)


def test_a_configuration_is_read_only() -> None:
    """What a sandbox was made of does not change under it."""
    config = SandboxConfig()
    with pytest.raises(ValidationError):
        setattr(config, "network", True)  # noqa: B010 - that it fails is what is tested
    assert config.model_copy(update={"network": True}).network


def test_sage_x_12_the_seed_s_name_is_the_same_class() -> None:
    """`ISandboxHandle` is `SandboxHandle`."""
    assert ISandboxHandle is SandboxHandle
    mount = VolumeMount("/usr/../usr", "/mnt/")
    assert (mount.host_path, mount.mount_path, mount.read_only) == ("/usr", "/mnt", False)
