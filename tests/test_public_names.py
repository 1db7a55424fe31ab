"""What the package exports, and what importing it costs."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import agentscope_like

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(agentscope_like.__path__, "agentscope_like.")
    if not info.name.endswith("__main__")
)


def test_every_module_says_what_it_exports() -> None:
    """Each module has an `__all__` of names that exist, sorted, and nothing public is left out."""
    for name in MODULES:
        module = importlib.import_module(name)
        exported = module.__all__
        assert len(set(exported)) == len(exported)
        assert [e for e in exported if not hasattr(module, e)] == []
        is_package = hasattr(module, "__path__")
        defined = [
            key
            for key, value in vars(module).items()
            if not key.startswith("_")
            and (inspect.isclass(value) or inspect.isfunction(value))
            and value.__module__ == name
            and not is_package
        ]
        hidden = set(defined) - set(exported)
        assert not {key for key in hidden if inspect.isclass(getattr(module, key))}


def test_deciding_loads_no_heavy_library() -> None:
    """`import agentscope_like.permission` loads no client, no terminal and no schema library."""
    heavy = ["openai", "mcp", "typer", "rich", "prompt_toolkit", "jsonschema_rs", "bashlex", "yaml"]
    code = (
        "import sys, agentscope_like.permission; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("agentscope_like.tool", "ToolBase ToolChunk ToolResponse Toolkit FunctionTool ParamsBase"),
        ("agentscope_like.tool", "Bash Read Write Edit Glob Grep ToolMiddlewareBase ToolChoice"),
        ("agentscope_like.tool", "TaskCreate TaskGet TaskList TaskUpdate ToolGroup ResetTools"),
        ("agentscope_like.skill", "LocalSkillLoader Skill SkillLoaderBase"),
        ("agentscope_like.skill", "SkillManager SkillProxy SkillSchema SandboxSkillManager"),
        ("agentscope_like.tool", "MCPTool"),
        ("agentscope_like.tool", "tool ToolManager ToolProxy ToolSpec ToolExpandTools"),
        ("agentscope_like.tool", "SseServerParameters StreamableHttpServerParameters"),
        ("agentscope_like.typed", "Action Observation Schema ToolExecutor ToolDefinition Effects"),
        ("agentscope_like.typed", "ToolAnnotations ErrorObservation observation_of"),
        ("agentscope_like.mcp", "MCPClient StdioMCPConfig HttpMCPConfig"),
        ("agentscope_like.permission", "PermissionContext PermissionDecision PermissionEngine"),
        ("agentscope_like.permission", "PermissionRule PermissionMode PermissionBehavior"),
        ("agentscope_like.permission", "AdditionalWorkingDirectory"),
        ("agentscope_like.message", "TextBlock ToolCallBlock ToolResultBlock Msg UserMsg"),
        ("agentscope_like.event", "RequireUserConfirmEvent UserConfirmResultEvent ConfirmResult"),
        ("agentscope_like.state", "AgentState Task TaskContext ToolContext ReplyContext"),
        ("agentscope_like.agent", "Agent ReActConfig ModelConfig"),
        ("agentscope_like.model", "ChatModelBase ChatResponse ChatUsage OpenAIChatModel"),
        ("agentscope_like.model", "SageAsyncOpenAI sanitize_model_request_kwargs"),
        ("agentscope_like.sandbox", "ISandboxHandle SandboxHandle SandboxConfig VolumeMount"),
        ("agentscope_like.sandbox", "SandboxType SandboxProviderFactory CommandResult"),
        ("agentscope_like.exception", "AgentOrientedException DeveloperOrientedException"),
    ],
)
def test_the_contract_s_names_are_importable(module: str, names: str) -> None:
    """The names that programs import stand where the documents show them."""
    loaded = importlib.import_module(module)
    assert [name for name in names.split() if not hasattr(loaded, name)] == []


def test_what_a_first_program_needs_is_importable_from_the_top() -> None:
    """`from agentscope_like import NAME` gives the package's own NAME, for each one exported."""
    for name in agentscope_like.__all__:
        value = getattr(agentscope_like, name)
        if name != "__version__":
            home = importlib.import_module(".".join(value.__module__.split(".")[:2]))
            assert getattr(home, name) is value
    with pytest.raises(AttributeError, match="Toolkitt"):
        agentscope_like.Toolkitt  # noqa: B018


def test_the_top_level_names_load_on_first_use() -> None:
    """`import agentscope_like` loads none of its packages."""
    code = (
        "import sys, agentscope_like; "
        "print(sorted(name for name in sys.modules if name.startswith('agentscope_like.')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "['agentscope_like.lazy', 'agentscope_like.version']"
