"""The command that serves it."""

from typing import Annotated

import typer

from builder.app.console import settings
from builder.cli.options import Servers, Workspace, target_of
from builder.domain.errors import Misconfigured, installation


def mcp(
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    http: Annotated[
        int,
        typer.Option(help="Serve streamable HTTP on this port of loopback, for bearer tokens; 0 = standard input and output."),
    ] = 0,
) -> None:
    """Serve the Model Context Protocol: tools of a memory for Claude Desktop, Cursor, VS Code and agents."""
    try:
        from builder.app.http.tokens import local_tokens
        from builder.extras.mcp.server import Verifier, mcp_server
    except ModuleNotFoundError as error:
        raise Misconfigured(f"the package {error.name} is not installed; {installation('service,mcp')}") from error

    if not http:
        mcp_server(lambda: target_of(servers, workspace).connect()).run("stdio")
        return
    configuration = settings()
    tokens = local_tokens(configuration.http.tokens, configuration.data_dir, configuration.workspace)
    server = mcp_server(
        lambda: target_of(servers, workspace).connect(),
        Verifier(tokens, workspace or configuration.workspace),
        f"http://127.0.0.1:{http}",
    )
    server.run("streamable-http", host="127.0.0.1", port=http, stateless_http=True)
