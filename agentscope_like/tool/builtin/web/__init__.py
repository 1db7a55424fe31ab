"""Fetches pages from the web, under rules by domain."""

from agentscope_like.tool.builtin.web.public_addresses import Resolver
from agentscope_like.tool.builtin.web.web_fetch import WebFetch

__all__ = ["Resolver", "WebFetch"]
