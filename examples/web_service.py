"""A web service in which an agent works, and people approve what it asks.

    POST /tasks        {"task": "..."}                      -> {"id", "said", "questions"}
    GET  /tasks/ID                                          -> the same
    POST /tasks/ID     {"call": "...", "approve": true}     -> the same

Sessions are kept in SQLite, so that an answer may come after a restart; answering twice, or about
a call that does not wait, is refused. The model is recorded; put your own in `make_agent`.

    python examples/web_service.py          serves on http://127.0.0.1:8000
    python examples/web_service.py --try    serves, plays one task with one approval, and ends
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agentscope_like import (
    Agent,
    AgentState,
    Bash,
    ConfirmResult,
    Edit,
    Read,
    ScriptedModel,
    Toolkit,
    UserConfirmResultEvent,
    UserMsg,
    Write,
)
from agentscope_like.agent import AgentInput
from agentscope_like.exception import ResumeError
from agentscope_like.model import Script
from agentscope_like.session import SessionStorage, SQLiteSessionStorage, recorded

NAME = "agent"
SCRIPT = Script.parse("""\
{"say": "I make a list.", "calls": [{"id": "c1", "name": "Bash", "input": {"command": "ls > list.txt"}}]}
{"say": "The list is made."}
""")


class Service:
    """Starts tasks, and takes answers.

    Args:
        directory: Where the agent works.
        storage: Where sessions are kept.
    """

    def __init__(self, directory: Path, storage: SessionStorage) -> None:
        self._directory = directory
        self._storage = storage
        self._locks: dict[str, asyncio.Lock] = {}

    def make_agent(self, state: AgentState) -> Agent:
        """Return an agent that goes on from the state."""
        at = self._directory
        toolkit = Toolkit([Bash(cwd=at), Read(cwd=at), Write(cwd=at), Edit(cwd=at)])
        return Agent(NAME, "You work on files.", ScriptedModel(SCRIPT), toolkit, state=state)

    async def start(self, request: Request) -> Response:
        """Start a task."""
        task = str((await request.json())["task"])
        return await self._reply(AgentState(), UserMsg("user", task))

    async def show(self, request: Request) -> Response:
        """Tell how a task stands."""
        state = await self._storage.load(request.path_params["id"])
        return _problem(404, "no such task") if state is None else JSONResponse(_told(state))

    async def answer(self, request: Request) -> Response:
        """Take a person's answer to one call."""
        said = await request.json()
        session = request.path_params["id"]
        async with self._locks.setdefault(session, asyncio.Lock()):
            state = await self._storage.load(session)
            if state is None:
                return _problem(404, "no such task")
            waiting = {call.id: call for call in state.get_awaiting_tool_calls(NAME)}
            call = waiting.get(str(said["call"]))
            if call is None:
                return _problem(409, "this call does not wait for an answer")
            answer = ConfirmResult(confirmed=said["approve"] is True, tool_call=call)
            event = UserConfirmResultEvent(reply_id=state.reply_id, confirm_results=[answer])
            return await self._reply(state, event)

    async def _reply(self, state: AgentState, said: AgentInput) -> Response:
        stream = self.make_agent(state).reply_stream(said)
        try:
            async for _ in recorded(stream, state, self._storage, directory=str(self._directory)):
                pass
        except ResumeError as error:
            return _problem(409, str(error))
        return JSONResponse(_told(state))


def _problem(status: int, text: str) -> Response:
    return JSONResponse({"error": text}, status_code=status)


def _told(state: AgentState) -> dict[str, Any]:
    message = state.reply_message(NAME)
    questions = [
        {
            "call": call.id,
            "tool": call.name,
            "input": json.loads(call.input),
            "why": "" if call.decision is None else call.decision.message,
        }
        for call in state.get_awaiting_tool_calls(NAME)
    ]
    said = "" if message is None else message.get_text_content() or ""
    return {"id": state.session_id, "said": said, "questions": questions}


def make_app(directory: Path) -> Starlette:
    """Return the application for a directory."""
    storage = SQLiteSessionStorage(directory / ".sessions.db")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await storage.close()

    service = Service(directory, storage)
    handlers: list[tuple[str, Callable[[Request], Awaitable[Response]], str]] = [
        ("/tasks", service.start, "POST"),
        ("/tasks/{id}", service.show, "GET"),
        ("/tasks/{id}", service.answer, "POST"),
    ]
    routes = [Route(path, handler, methods=[method]) for path, handler, method in handlers]
    return Starlette(routes=routes, lifespan=lifespan)


def _post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=30) as response:
        answer: dict[str, Any] = json.load(response)
    return answer


async def play(directory: Path) -> None:
    """Serve on a free port, give a task, approve what it asks, and end."""
    server = uvicorn.Server(uvicorn.Config(make_app(directory), port=0, log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    tasks = f"http://127.0.0.1:{port}/tasks"
    task = await asyncio.to_thread(_post, tasks, {"task": "Make a list of the files."})
    question = task["questions"][0]
    print("asks:", question["input"]["command"], "-", question["why"])
    answer = {"call": question["call"], "approve": True}
    done = await asyncio.to_thread(_post, f"{tasks}/{task['id']}", answer)
    print("says:", done["said"].replace("\n", " "))
    print("made:", (directory / "list.txt").exists())
    server.should_exit = True
    await serving


def main() -> None:
    """Serve the current directory, or play one task in a temporary one."""
    if "--try" in sys.argv:
        with tempfile.TemporaryDirectory() as name:
            asyncio.run(play(Path(name).resolve()))
    else:
        uvicorn.run(make_app(Path.cwd()), port=8000)


if __name__ == "__main__":
    main()
