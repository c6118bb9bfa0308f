"""The Model Context Protocol: the memory of an agent system for Claude Desktop, Cursor and VS Code."""

from builder.extra import Commands, Extra


def _commands() -> Commands:
    from builder.extras.mcp.command import mcp

    return {"mcp": mcp}


extra = Extra(commands=_commands)
