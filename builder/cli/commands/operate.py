"""Commands of operators: the service, schemas, doctor."""

import asyncio

import typer

from builder.app.console import AsJson, settings, show
from builder.cli.options import Servers
from builder.domain.errors import Misconfigured


def up() -> None:
    """Run the service until Ctrl-C: embedded NATS unless servers are configured, store, worker, HTTP."""
    from builder.cli.serve import serve_until_signal

    asyncio.run(serve_until_signal(settings(), makes_token=True))


def worker() -> None:
    """Run a worker on configured NATS servers (CONTEXT_BUILDER_NATS__SERVERS), without an embedded one."""
    from builder.app.address import configured_servers
    from builder.cli.serve import serve_until_signal

    configuration = settings()
    if not configured_servers(configuration):
        raise Misconfigured("a worker needs CONTEXT_BUILDER_NATS__SERVERS; set it, or run `context-builder up`")
    asyncio.run(serve_until_signal(configuration))


def doctor(servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Check every part, the running service and its broker, and say what to do."""
    from builder.cli.doctor import examine

    findings = asyncio.run(examine(settings(), servers))
    marks = ["warn" if finding["warning"] else "ok" if finding["ok"] else "FAIL" for finding in findings]
    lines = (f"{mark:4}  {finding['part']:12} {finding['said']}\n" for mark, finding in zip(marks, findings, strict=True))
    show(findings, as_json, text="".join(lines))
    if "FAIL" in marks:
        raise typer.Exit(1)
