"""The commands `schemas export` and `schemas asyncapi`."""

from pathlib import Path
from typing import Annotated

import typer

from builder.app.console import say, show
from builder.domain.errors import Rejected


def export(
    folder: Annotated[Path, typer.Argument(help="Folder of the files.")] = Path("schemas"),
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when a file is stale.")] = False,
) -> None:
    """Write the JSON Schemas of every event and file format, and the AsyncAPI document."""
    from builder.extras.contracts.schemas import schema_files

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
    from builder.extras.contracts.asyncapi import asyncapi_text

    show(None, as_json=False, text=asyncapi_text())
