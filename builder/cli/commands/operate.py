"""Commands of operators: the service, schemas, doctor."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from builder.app.console import AsJson, say, settings, show
from builder.cli.options import Servers
from builder.domain.errors import Misconfigured, Rejected


def up() -> None:
    """Run the service until Ctrl-C: embedded NATS unless servers are configured, store, worker, HTTP."""
    from builder.cli.serve import serve_until_signal

    asyncio.run(serve_until_signal(settings(), makes_token=True))


def worker() -> None:
    """Run a worker on configured NATS servers (CONTEXT_BUILDER_NATS__SERVERS), without an embedded one."""
    from builder.cli.serve import serve_until_signal

    configuration = settings()
    if not configuration.nats.servers:
        raise Misconfigured("a worker needs CONTEXT_BUILDER_NATS__SERVERS; set it, or run `context-builder up`")
    asyncio.run(serve_until_signal(configuration))


def export(
    folder: Annotated[Path, typer.Argument(help="Folder of the files.")] = Path("schemas"),
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when a file is stale.")] = False,
) -> None:
    """Write the JSON Schemas of every event and file format, and the AsyncAPI document."""
    from builder.app.schemas import schema_files

    schemas = schema_files()
    stored = {file.name: file.read_text("utf-8") for file in folder.glob("*.json")} if folder.is_dir() else {}
    stale = sorted(name for name in schemas.keys() | stored.keys() if schemas.get(name) != stored.get(name))
    if check and stale:
        raise Rejected(f"{len(stale)} schemas are stale: {', '.join(stale)}; run `context-builder schemas export {folder}`")
    if check:
        say(f"{len(schemas)} schemas are up to date")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in stale:
        if name in schemas:
            (folder / name).write_text(schemas[name], "utf-8")
        else:
            (folder / name).unlink()
    say(f"{len(stale)} of {len(schemas)} schemas written to {folder}")


def asyncapi() -> None:
    """Print the AsyncAPI 3 document: every channel, message and header."""
    from builder.app.asyncapi import asyncapi_text

    show(None, as_json=False, text=asyncapi_text())


def doctor(servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Check every part, the running service and its broker, and say what to do."""
    from builder.cli.doctor import examine

    findings = asyncio.run(examine(settings(), servers))
    marks = ["warn" if finding["warning"] else "ok" if finding["ok"] else "FAIL" for finding in findings]
    lines = (f"{mark:4}  {finding['part']:12} {finding['said']}\n" for mark, finding in zip(marks, findings, strict=True))
    show(findings, as_json, text="".join(lines))
    if "FAIL" in marks:
        raise typer.Exit(1)
