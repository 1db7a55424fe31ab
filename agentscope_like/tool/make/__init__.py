"""Creates tools from functions, their signatures and their declarations."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.make.discovery import DeclaredTools, tool, tool_of
    from agentscope_like.tool.make.function_tool import FunctionTool
    from agentscope_like.tool.make.prompt_template import compiled_template

__all__ = [
    "DeclaredTools",
    "FunctionTool",
    "compiled_template",
    "tool",
    "tool_of",
]

__getattr__ = on_first_use(
    __name__,
    {
        "DeclaredTools": "discovery",
        "FunctionTool": "function_tool",
        "compiled_template": "prompt_template",
        "tool": "discovery",
        "tool_of": "discovery",
    },
)
