"""`SandboxConfig`: the settings of a sandbox."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from agentscope_like.exception import ToolArgumentError
from agentscope_like.nearest import refuse_unknown_fields
from agentscope_like.sandbox.mount import VolumeMount
from agentscope_like.sandbox.variables import check_name

__all__ = ["SandboxConfig", "SandboxType"]


class SandboxType(StrEnum):
    """Where commands run (seed 003, 1.2).

    Attributes:
        LOCAL: On this host, isolated by its kernel.
        REMOTE: On another host or in a service, by a provider.
        PASSTHROUGH: On this host, without any isolation.
    """

    LOCAL = "local"
    REMOTE = "remote"
    PASSTHROUGH = "passthrough"


class SandboxConfig(BaseModel):
    """The settings of a sandbox; read-only, `model_copy(update=...)` makes another.

    Attributes:
        mode: Where commands run; by default LOCAL.
        sandbox_id: Its name; by default a new one.
        workspace: The directory that commands start in: of this host, or for REMOTE of the other.
            By default, an empty one that is removed when the sandbox is closed.
        virtual_workspace: The path that a LOCAL sandbox knows the workspace by; by default, the
            path on the host, `/workspace` for one of its own.
        volume_mounts: Further directories and files of the host.
        allowed_paths: Directories of the host that are mounted at their own path, for writing too.
        network: Whether commands reach the network; by default, they do not. LOCAL alone keeps it.
        pass_env: Names of variables that commands get from this process's environment, besides
            the language, the time zone and the terminal; `"*"` is all of them.
        env: Variables that commands get besides.
        cpu_time_limit: Seconds of processor time that a process gets (300).
        memory_limit_mb: Megabytes of memory that a process can address (4096).
        max_processes: Processes and threads that run at a time (512).
        max_file_size_mb: Megabytes that a file can be written to (1024).
        remote_provider: Name of the registered provider that REMOTE uses.
        remote_options: What that provider needs to know, such as a host.

    Raises:
        ValidationError: A field is unknown or cannot be used.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: SandboxType = SandboxType.LOCAL
    sandbox_id: str | None = Field(default=None, min_length=1)
    workspace: str | None = None
    virtual_workspace: str | None = None
    volume_mounts: tuple[VolumeMount, ...] = ()
    allowed_paths: tuple[str, ...] = ()
    network: bool = False
    pass_env: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    cpu_time_limit: int = Field(default=300, ge=1)
    memory_limit_mb: int = Field(default=4096, ge=16)
    max_processes: int = Field(default=512, ge=1)
    max_file_size_mb: int = Field(default=1024, ge=1)
    remote_provider: str | None = None
    remote_options: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, data: Any) -> Any:
        refuse_unknown_fields(data, cls.model_fields)
        return data

    @field_validator("workspace", mode="before")
    @classmethod
    def _accept_paths(cls, value: Any) -> Any:
        return os.fspath(value) if isinstance(value, os.PathLike) else value

    @field_validator("env")
    @classmethod
    def _check_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            try:
                check_name(name, text)
            except ToolArgumentError as error:
                raise ValueError(error.message) from error
        return value

    @model_validator(mode="after")
    def _check_provider(self) -> Self:
        if (self.mode is SandboxType.REMOTE) != (self.remote_provider is not None):
            raise ValueError(
                "`remote_provider` names the provider of a REMOTE sandbox: give both of "
                "`mode=SandboxType.REMOTE` and `remote_provider`, or neither"
            )
        return self
