"""Offers the tools of MCP servers; loads the MCP library when a client first connects."""

from agentscope_like.mcp.client import MCPClient
from agentscope_like.mcp.config import HttpMCPConfig, StdioMCPConfig
from agentscope_like.mcp.configured import ConfiguredServer, MCPServers, read_servers
from agentscope_like.mcp.elicitation import Elicitation, ElicitationAnswer, ElicitationHandler
from agentscope_like.mcp.errors import MCPCallError, MCPConnectionError
from agentscope_like.mcp.parameters import SseServerParameters, StreamableHttpServerParameters
from agentscope_like.mcp.pins import PinFile, ToolChange

__all__ = [
    "ConfiguredServer",
    "Elicitation",
    "ElicitationAnswer",
    "ElicitationHandler",
    "HttpMCPConfig",
    "MCPCallError",
    "MCPClient",
    "MCPConnectionError",
    "MCPServers",
    "PinFile",
    "SseServerParameters",
    "StdioMCPConfig",
    "StreamableHttpServerParameters",
    "ToolChange",
    "read_servers",
]
