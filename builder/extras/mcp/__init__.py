"""The Model Context Protocol: the memory of an agent system for Claude Desktop, Cursor and VS Code."""

from builder.extra import Extra
from builder.extras.mcp.command import mcp

extra = Extra(commands={"mcp": mcp})
