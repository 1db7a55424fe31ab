"""The error tree.

An agent-oriented error becomes a tool result that tells the model what to do next; a
developer-oriented one is raised to the program that uses the library::

    Exception
    ├── AgentOrientedException
    │   ├── RecoverableToolError
    │   ├── ToolNotFoundError
    │   ├── ToolGroupInactiveError
    │   ├── ToolNotShownError
    │   ├── ToolJSONDecodeError
    │   ├── ToolArgumentError
    │   ├── ToolInterruptedError
    │   ├── SandboxPathError
    │   └── SandboxConnectionError
    └── DeveloperOrientedException
        ├── BridgeError
        ├── ConfigurationError
        ├── GrantError
        ├── ResumeError
        ├── IsolationError
        └── ModelError
"""

from __future__ import annotations

from agentscope_like.types import ErrorType

__all__ = [
    "AgentOrientedException",
    "BridgeError",
    "ConfigurationError",
    "DeveloperOrientedException",
    "GrantError",
    "IsolationError",
    "ModelError",
    "RecoverableToolError",
    "ResumeError",
    "SandboxConnectionError",
    "SandboxPathError",
    "ToolArgumentError",
    "ToolGroupInactiveError",
    "ToolInterruptedError",
    "ToolJSONDecodeError",
    "ToolNotFoundError",
    "ToolNotShownError",
]


class AgentOrientedException(Exception):  # noqa: N818 - the name is part of the public contract
    """A failure that the model can recover from, once it is told how.

    Args:
        message: What happened, to what, and what to do instead.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    @property
    def told(self) -> str:
        """Return the text for the model."""
        return self.message

    @property
    def metadata(self) -> dict[str, str]:
        """Return the metadata of the result."""
        return {}


class DeveloperOrientedException(Exception):  # noqa: N818 - the name is part of the public contract
    """A mistake that only the program's developer can mend.

    Args:
        message: What happened, to what, and how to mend it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class RecoverableToolError(AgentOrientedException):
    """A call that failed for a reason with a code, which is told before the message.

    Args:
        code: The area and the reason, such as `workspace.stale_file`; the result's metadata have it
            as `error_code`.
        message: What happened, to what, and what to do instead.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def told(self) -> str:
        """Return the code and the message."""
        return f"{self.code}: {self.message}"

    @property
    def metadata(self) -> dict[str, str]:
        """Return the code as `error_code`."""
        return {"error_code": self.code}


class ToolNotFoundError(AgentOrientedException):
    """The model called a tool that does not exist."""


class ToolGroupInactiveError(AgentOrientedException):
    """The model called a tool whose group is not active."""


class ToolNotShownError(AgentOrientedException):
    """The model called a tool that it was not told of in this turn."""


class ToolJSONDecodeError(AgentOrientedException):
    """The arguments of a call are not a JSON object."""


class ToolArgumentError(AgentOrientedException):
    """The arguments of a call do not fit the tool's schema, or cannot be used."""


class ToolInterruptedError(AgentOrientedException):
    """A call was interrupted before it finished."""


class SandboxPathError(AgentOrientedException):
    """A path that a sandbox does not give access to, or not for writing."""


class SandboxConnectionError(AgentOrientedException):
    """The connection to a remote sandbox could not be made, or was lost."""


class BridgeError(DeveloperOrientedException):
    """Blocking code that waits for async code where it cannot: in a running event loop, say."""


class ConfigurationError(DeveloperOrientedException):
    """A toolkit, tool or agent that is set up in a way that cannot work."""


class GrantError(DeveloperOrientedException):
    """A run was tried with a grant that this toolkit did not issue, or that no longer holds."""


class ResumeError(DeveloperOrientedException, ValueError):
    """An answer, or a message, that does not fit what the agent is waiting for."""


class IsolationError(DeveloperOrientedException):
    """A command could not be isolated, so it was not run at all."""


class ModelError(DeveloperOrientedException):
    """A model could not be called, or answered with something that is not a response.

    Args:
        message: What happened, and how to mend it.
        type: The kind of failure, for the reply's `ErrorInfo`.
    """

    def __init__(self, message: str, *, type: ErrorType = ErrorType.UNKNOWN) -> None:  # noqa: A002
        super().__init__(message)
        self.type = type
