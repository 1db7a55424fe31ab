"""Python programs in a sandbox's own virtual environment."""

from __future__ import annotations

import posixpath
import shlex
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Protocol

from agentscope_like.sandbox.result import CommandResult, ExecutionResult

__all__ = ["PythonRunner"]

_NOT_INSTALLED = (
    "The requirements could not be installed; from an index, that takes "
    "`SandboxConfig(network=True)`"
)
_PIP = ("-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check")


class _Sandbox(Protocol):
    @property
    def scratch_path(self) -> str: ...

    @property
    def python(self) -> str: ...

    async def execute_command(
        self,
        command: str,
        workdir: str | None = None,
        timeout: float = 30,
        env_vars: Mapping[str, str] | None = None,
    ) -> CommandResult: ...

    async def write_file(
        self, path: str, content: str | bytes, *, append: bool = False
    ) -> None: ...


class PythonRunner:
    """Makes the environment when it is first needed, installs into it, runs in it.

    All of that happens inside the sandbox, by its commands: an installation runs a stranger's code,
    too.

    Args:
        sandbox: Where to run.
    """

    def __init__(self, sandbox: _Sandbox) -> None:
        self._sandbox = sandbox
        self._venv = posixpath.join(sandbox.scratch_path, "venv")
        self._python = posixpath.join(self._venv, "bin", "python")

    async def run(
        self, code: str, requirements: Sequence[str], workdir: str | None, timeout: float
    ) -> ExecutionResult:
        """Run a program within `timeout` seconds, installing included."""
        started_at = time.monotonic()

        def left() -> float:
            return max(timeout - (time.monotonic() - started_at), 0.001)

        def failure(error: str) -> ExecutionResult:
            return ExecutionResult(
                success=False,
                output="",
                execution_time=time.monotonic() - started_at,
                error=error,
            )

        if options := [text for text in requirements if text.lstrip().startswith("-")]:
            return failure(f"{options[0]!r} is an option of pip, not a requirement: leave it out.")
        for step, meaning in self._preparations(requirements):
            done = await self._sandbox.execute_command(step, timeout=left())
            if not done.success:
                return failure(f"{meaning}: {done.stderr.strip() or done.stdout.strip()}")
        program = posixpath.join(self._sandbox.scratch_path, f"program-{uuid.uuid4().hex}.py")
        await self._sandbox.write_file(program, code)
        done = await self._sandbox.execute_command(
            f"trap 'rm -f -- {shlex.quote(program)}' EXIT; {shlex.join([self._python, program])}",
            workdir,
            left(),
        )
        return ExecutionResult(
            success=done.success,
            output=done.stdout,
            execution_time=time.monotonic() - started_at,
            error=None if done.success else done.stderr or f"exit status {done.return_code}",
            installed_packages=tuple(requirements),
        )

    def _preparations(self, requirements: Sequence[str]) -> list[tuple[str, str]]:
        """Return the commands to run first, each with what its failure means."""
        bare = shlex.join([self._sandbox.python, "-m", "venv", "--without-pip", self._venv])
        steps: list[tuple[str, str]] = [
            (
                f"[ -x {shlex.quote(self._python)} ] || {bare}",
                "The virtual environment could not be made",
            )
        ]
        if requirements:
            pip = posixpath.join(self._venv, "bin", "pip")
            steps += [
                (
                    f"[ -e {shlex.quote(pip)} ] || {shlex.join([self._python, '-m', 'ensurepip'])}",
                    "The virtual environment has no pip (Debian: apt-get install python3-venv)",
                ),
                (
                    shlex.join([self._python, *_PIP, "--", *requirements]),
                    _NOT_INSTALLED,
                ),
            ]
        return steps
