"""MCP servers for the document's examples."""
