"""The command that serves it."""

from typing import Annotated

import typer

from builder.app.console import settings
from builder.cli.options import Servers, Workspace, target_of
from builder.domain.errors import Misconfigured, Unavailable, installation


def mcp(
    workspace: Workspace = "",
    servers: Servers = "",
    api: Annotated[
        str,
        typer.Option(
            help="URL of the service's HTTP API, which answers tokens of a user; default is that of the service on "
            "CONTEXT_BUILDER_DATA_DIR."
        ),
    ] = "",
    *,
    http: Annotated[
        int,
        typer.Option(help="Serve streamable HTTP on this port of loopback, for bearer tokens; 0 = standard input and output."),
    ] = 0,
) -> None:
    """Serve the Model Context Protocol: tools of a memory for Claude Desktop, Cursor, VS Code and agents."""
    try:
        from builder.app.address import running
        from builder.app.tokens import local_tokens
        from builder.extras.mcp.person import PersonClient
        from builder.extras.mcp.server import Verifier, mcp_server
    except ModuleNotFoundError as error:
        raise Misconfigured(f"the package {error.name} is not installed; {installation('service,mcp')}") from error

    if not http:
        mcp_server(lambda: target_of(servers, workspace).connect()).run("stdio")
        return
    configuration = settings()
    tokens = local_tokens(configuration.http.tokens, configuration.data_dir, configuration.workspace)
    home = workspace or configuration.workspace

    def of_person(token: str) -> PersonClient:
        service = running(configuration)
        url = api or (service.http if service else "")
        if not url:
            folder = configuration.data_dir.expanduser()
            raise Unavailable(f"a token of a user needs the service's HTTP API, and none runs on {folder}; name it with --api")
        return PersonClient(url, token, home)

    server = mcp_server(
        lambda: target_of(servers, workspace).connect(), Verifier(tokens, home), f"http://127.0.0.1:{http}", of_person
    )
    server.run("streamable-http", host="127.0.0.1", port=http, stateless_http=True)
