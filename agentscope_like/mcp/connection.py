"""Holds one session with a server in a dedicated task.

The task that enters a cancel scope of the MCP library must also leave it. The dedicated task enters
them all, so that any task may open, call and close.

This module loads the MCP library; it is imported when a client first connects.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from contextvars import copy_context
from typing import Any, TypeVar

import anyio
from mcp import Client, MCPError
from mcp.shared.dispatcher import ProgressFnT
from mcp_types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    DiscoverResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    ErrorData,
    Implementation,
    InputRequiredResult,
    InputResponses,
    Tool,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct
from pydantic import TypeAdapter

from agentscope_like.exception import ConfigurationError, ToolArgumentError
from agentscope_like.mcp.config import HttpMCPConfig, StdioMCPConfig
from agentscope_like.mcp.deadline import Deadline
from agentscope_like.mcp.elicitation import ElicitationAnswer
from agentscope_like.mcp.errors import ConnectionLostError, MCPCallError
from agentscope_like.mcp.transport import (
    ANSWER,
    MAX_MESSAGE_BYTES,
    Answer,
    Watch,
    open_transport,
)
from agentscope_like.progress import emit_tool_progress
from agentscope_like.tool.arguments import ArgumentValidator
from agentscope_like.version import __version__

__all__ = ["Connection", "Era"]

ResultT = TypeVar("ResultT")

_LISTEN_TIMEOUT = 5.0
_CLOSE_TIMEOUT = 10.0
_PROBE_TIMEOUT = 3.0
_MAX_PAGES = 100
_MAX_ROUNDS = 10
_ElicitParams = ElicitRequestFormParams | ElicitRequestURLParams
AskPerson = Callable[[str, dict[str, Any] | None, str | None], Awaitable[ElicitationAnswer]]
"""Asks a person, given the message, and the schema of the values or the page to visit."""
_SELF = Implementation(name="agentscope_like", version=__version__)
TOO_LARGE = (
    f"The answer is larger than {MAX_MESSAGE_BYTES:,} bytes, and was not read; the call may have "
    "had its effect. Ask for less at a time."
)
_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
    CallToolResult | InputRequiredResult
)


class Era(Struct, frozen=True):
    """The negotiated protocol of a server, reused by later sessions."""

    mode: str = "auto"
    discovered: DiscoverResult | None = None


class Connection:
    """A session with a server.

    Args:
        config: How to reach the server.
        on_tools_changed: Called when the server says that its tools have changed.
        era: The protocol negotiated earlier.
        listens: Whether to subscribe to changes; not needed for a single request.
        ask_person: Asks a person what the server wants to know; None if nobody can be asked.
    """

    def __init__(
        self,
        config: StdioMCPConfig | HttpMCPConfig,
        *,
        on_tools_changed: Callable[[], None],
        era: Era | None = None,
        listens: bool = True,
        ask_person: AskPerson | None = None,
    ) -> None:
        self._config = config
        self._ask_person = ask_person
        self._deadlines: set[Deadline] = set()
        self._on_tools_changed = on_tools_changed
        self._era = era or Era()
        self._listens = listens
        self._watch = Watch()
        self._settled = asyncio.Event()
        self._scope = anyio.CancelScope()
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_listening = False
        self._failure: Exception | None = None

    @property
    def is_open(self) -> bool:
        """Return whether the connection is open, as far as is known."""
        held = self._task is not None and not self._task.done()
        return held and self._client is not None and not self._watch.ended.is_set()

    @property
    def era(self) -> Era:
        """Return the negotiated protocol."""
        client = self._connected()
        found = client.session.discover_result
        return Era("legacy") if found is None else Era(client.protocol_version, found)

    @property
    def misses_changes(self) -> bool:
        """Return whether the tools may change without a notification."""
        client = self._connected()
        tools = client.server_capabilities.tools
        announces = tools is not None and tools.list_changed is True
        return announces and self._is_modern(client) and not self._is_listening

    @property
    def failure(self) -> Exception | None:
        """Return the error that ended the session, if any."""
        return self._failure

    @property
    def clues(self) -> str:
        """Return clues to the cause of a failure, as the end of a sentence."""
        return self._watch.clues

    async def open(self, seconds: float) -> None:
        """Start the session.

        Args:
            seconds: The timeout.

        Raises:
            TimeoutError: It did not start in time; everything is cleaned up.
            Exception: Any error of the transport or the handshake.
        """
        self._task = asyncio.create_task(self._hold(), name="mcp-connection")
        try:
            async with asyncio.timeout(seconds):
                await self._settled.wait()
        except BaseException:
            await self.close()
            raise
        if self._client is None:
            await self.close()
            raise self._failure or ConnectionLostError(may_have_run=False)

    async def close(self) -> None:
        """End the session and clean up; closing twice is harmless."""
        if self._task is None or self._task.done():
            return
        self._watch.ended.set()
        if not self._settled.is_set():
            self._scope.cancel()
        _, pending = await asyncio.wait({self._task}, timeout=_CLOSE_TIMEOUT)
        if pending:
            self._scope.cancel()
            await asyncio.wait(pending, timeout=_CLOSE_TIMEOUT)

    async def list_tools(self) -> list[Tool]:
        """Fetch the tools from the server, page by page.

        Raises:
            ConnectionLostError: The connection has ended.
            MCPError: The server answered with an error.
        """
        return await self._asked(self._pages(self._connected()))

    async def ask(self, request: Callable[[Client], Awaitable[ResultT]]) -> ResultT:
        """Send another request than a call, and return its result.

        Raises:
            ConnectionLostError: The connection has ended.
            MCPError: The server answered with an error.
        """
        return await self._asked(request(self._connected()))

    async def call_tool(
        self, name: str, arguments: dict[str, Any], seconds: float, *, renews: bool = False
    ) -> CallToolResult:
        """Call the tool; if the caller is cancelled, notify the server.

        Args:
            name: The server's name for it.
            arguments: Its arguments.
            seconds: The timeout of the answer; no time passes while a person is asked.
            renews: Whether the time begins anew with each progress that the server reports.

        Raises:
            ConnectionLostError: The connection ended first.
            MCPCallError: The server requests something that the client does not support.
            MCPError: The server answered with an error, or too late.
        """
        client = self._connected()
        deadline = Deadline(seconds, renews=renews)
        self._deadlines.add(deadline)
        try:
            async with deadline:
                return await self._asked(self._answered(client, name, arguments, deadline))
        except TimeoutError as error:
            await self._renew_if_hung(client)
            raise MCPError(REQUEST_TIMEOUT, "it gave no answer in time") from error
        finally:
            self._deadlines.discard(deadline)

    async def _answered(
        self, client: Client, name: str, arguments: dict[str, Any], deadline: Deadline
    ) -> CallToolResult:
        """Return the result of a call; first answer what the server asks for."""
        params = CallToolRequestParams(name=name, arguments=arguments)
        caller = copy_context()

        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            deadline.renew()
            of_total = "" if total is None else f"/{total:g}"
            text = f"{progress:g}{of_total} {message or ''}".rstrip()
            caller.run(emit_tool_progress, f"{text}\n", "info")

        for _ in range(_MAX_ROUNDS):
            result = await self._sent(client, CallToolRequest(params=params), progressed)
            if not isinstance(result, InputRequiredResult):
                return result
            answers = await self._given(name, result)
            params = CallToolRequestParams(
                name=name,
                arguments=arguments,
                input_responses=answers or None,
                request_state=result.request_state,
            )
        raise MCPCallError(f"The tool {name!r} asks for one answer after the other: use another.")

    async def _given(self, name: str, wanted: InputRequiredResult) -> InputResponses:
        """Return the answers that a call needs before it goes on."""
        answers: InputResponses = {}
        for key, wish in (wanted.input_requests or {}).items():
            if self._ask_person is None or not isinstance(wish, ElicitRequest):
                raise MCPCallError(
                    f"The tool {name!r} wants an answer before it goes on ({wish.method}), which "
                    "cannot be given here. Call it with all that it needs, or use another tool."
                )
            answer = await self._elicit(None, wish.params)
            if isinstance(answer, ErrorData):
                raise MCPCallError(f"The tool {name!r} wants an answer: {answer.message}.")
            answers[key] = answer
        return answers

    async def _elicit(self, context: Any, params: _ElicitParams) -> ElicitResult | ErrorData:
        """Ask the person; no call's time passes meanwhile."""
        del context
        if self._ask_person is None:
            return ErrorData(code=INVALID_PARAMS, message="nobody can be asked")
        schema, url = None, None
        if isinstance(params, ElicitRequestFormParams):
            schema = _plain(params.requested_schema)
        else:
            url = params.url
        with ExitStack() as stack:
            for deadline in self._deadlines:
                stack.enter_context(deadline.paused())
            try:
                checked = None if schema is None else _validator(schema)
                answer = await self._ask_person(params.message, schema, url)
                if answer.action != "accept" or checked is None:
                    return ElicitResult(action=answer.action)
                checked.check(answer.values or {})
            except (ConfigurationError, ToolArgumentError) as error:
                return ErrorData(code=INVALID_PARAMS, message=error.message)
        return ElicitResult(action="accept", content=answer.values or {})

    async def _renew_if_hung(self, client: Client) -> None:
        """End the connection if the server answers nothing at all; the next call opens another.

        Where other calls run, the server may be at work on one of these.
        """
        if len(self._deadlines) > 1:
            return
        try:
            async with asyncio.timeout(_PROBE_TIMEOUT):
                await client.list_tools()
        except MCPError:
            return
        except TimeoutError:
            await self.close()

    async def _sent(
        self, client: Client, request: CallToolRequest, progressed: ProgressFnT
    ) -> CallToolResult | InputRequiredResult:
        async def send() -> CallToolResult | InputRequiredResult:
            return await client.session.send_request(request, _RESULT, progress_callback=progressed)

        try:
            return await send()
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
        await client.list_tools()  # the headers come of the listed schemas
        return await send()

    async def _pages(self, client: Client) -> list[Tool]:
        found, cursor = list[Tool](), None
        for _ in range(_MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    async def _asked(self, request: Awaitable[ResultT]) -> ResultT:
        """Return the answer; turn the library's errors about an ended connection into ours."""
        answer = Answer()
        token = ANSWER.set(answer)
        try:
            return await request
        except MCPError as error:
            if answer.is_too_large:
                await self.close()
                raise MCPCallError(TOO_LARGE) from error
            if answer.is_forgotten:
                await self.close()
                raise ConnectionLostError(may_have_run=False) from error
            if not self.is_open:
                await self.close()
                is_unsent = isinstance(self._config, HttpMCPConfig) and not answer.is_sent
                raise ConnectionLostError(may_have_run=not is_unsent) from error
            raise
        finally:
            ANSWER.reset(token)

    def _connected(self) -> Client:
        if self._client is None or not self.is_open:
            raise ConnectionLostError(may_have_run=False)
        return self._client

    async def _hold(self) -> None:
        client = Client(
            open_transport(self._config, self._watch),
            message_handler=self._hear,
            client_info=_SELF,
            mode=self._era.mode,
            prior_discover=self._era.discovered,
            cache=None,
            elicitation_callback=None if self._ask_person is None else self._elicit,
        )
        try:
            with self._scope:
                async with client, anyio.create_task_group() as listening:
                    if self._listens and self._is_modern(client):
                        with anyio.move_on_after(_LISTEN_TIMEOUT):
                            await listening.start(self._listen, client)
                    self._client = client
                    self._settled.set()
                    await self._watch.ended.wait()
                    listening.cancel_scope.cancel()
        except (Exception, BaseExceptionGroup) as error:
            self._failure = _cause(error)
        finally:
            self._watch.ended.set()
            self._settled.set()

    async def _hear(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._on_tools_changed()

    async def _listen(self, client: Client, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Subscribe to changes, which the newer protocol requires for notifications."""
        began = False
        try:
            async with client.listen(tools_list_changed=True) as subscription:
                self._is_listening = subscription.honored.tools_list_changed is True
                began = True
                task_status.started()
                async for _ in subscription:
                    self._on_tools_changed()
        except (MCPError, RuntimeError, TimeoutError):
            if not began:
                task_status.started()
        finally:
            self._is_listening = False
        self._on_tools_changed()  # what was not heard may have changed

    def _is_modern(self, client: Client) -> bool:
        return client.protocol_version in MODERN_PROTOCOL_VERSIONS


def _plain(schema: Any) -> dict[str, Any]:
    """Return a schema as JSON data."""
    dumped = getattr(schema, "model_dump", None)
    if dumped is None:
        return dict(schema)
    return dict(dumped(by_alias=True, mode="json", exclude_none=True))


def _validator(schema: dict[str, Any]) -> ArgumentValidator:
    return ArgumentValidator("the server's question", {"type": "object", **schema}, closed=True)


def _cause(error: BaseException) -> Exception:
    """Return the underlying error of an exception group."""
    while isinstance(error, BaseExceptionGroup):
        error = next((e for e in error.exceptions if isinstance(e, Exception)), error.exceptions[0])
    return error if isinstance(error, Exception) else RuntimeError(repr(error))
