"""Commands of operators and template authors."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from builder.cli.options import AsJson, Servers, progress_bar, say, settings, show, target
from builder.domain.errors import Rejected

Sequence = Annotated[int, typer.Argument(help="Stream sequence of the rejected breadcrumb, as `list` shows it.")]


def prepare(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Folder of another sentence-transformers model, whose name the model gets.", show_default=False),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Export and quantise the default embedding model, or that of a folder, once. Needs torch; no network."""
    from builder.app.components import prepare_model

    model = prepare_model(settings(), folder)
    done = "prepared" if model["prepared"] else "was prepared before"
    note = (
        f"{model['model']} {done} in {model['folder']} (mean cosine with the reference {model['mean_cosine']:.4f}, "
        f"{model['size'] / 1e6:.0f} MB, {model['milliseconds']:.1f} ms a text, the reference {model['milliseconds_before']:.1f})"
    )
    show(model, as_json, note=note)


def list_models(*, as_json: AsJson = False) -> None:
    """Show the models and whether they are ready."""
    from builder.app.components import models

    rows = models(settings())
    show(rows, as_json, text="".join(f"{model['name']:24} {model['state']}\n" for model in rows))


def export(
    folder: Annotated[Path, typer.Argument(help="Folder of the files.")] = Path("schemas"),
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when a file is stale.")] = False,
) -> None:
    """Write the JSON Schemas of every event and file format."""
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


def list_dead_letters(servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Show what was rejected, oldest first."""
    from builder.cli.dead_letters import letters

    items = asyncio.run(letters(target(servers)))
    lines = (
        f"{item['sequence']:>10}  {item['received_at'][:19]}  {item['subject']}\n            {item['reason']}\n" for item in items
    )
    heads = [{name: value for name, value in item.items() if name != "data"} for item in items]
    show(heads, as_json, text="".join(lines), note="" if items else "no dead letters")


def show_dead_letter(sequence: Sequence, servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Show one dead letter with the bytes that were rejected."""
    from builder.cli.dead_letters import letter, readable

    item = asyncio.run(letter(target(servers), sequence))
    show(item, as_json, text=readable(item))


def retry_dead_letter(sequence: Sequence, servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Publish the rejected bytes again, after the cause has been mended."""
    from builder.cli.dead_letters import retry

    result = asyncio.run(retry(target(servers), sequence))
    show(result, as_json, note=f"published again as {result['sequence']}")


def clear_dead_letters(
    sequences: Annotated[
        list[int] | None, typer.Argument(help="Stream sequences of the breadcrumbs, as `list` shows them.")
    ] = None,
    servers: Servers = "",
    *,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove dead letters that are no longer needed."""
    from builder.cli.dead_letters import clear

    if bool(sequences) == everything:
        raise Rejected("name the sequences of the letters to clear, or give --all")
    cleared = asyncio.run(clear(target(servers), sequences or []))
    show({"cleared": cleared}, as_json, note=f"{cleared} dead {'letter' if cleared == 1 else 'letters'} cleared")


def reindex(*, as_json: AsJson = False) -> None:
    """Rebuild the store from the stream (stop the service first). Publishes nothing."""
    from builder.app.operations.maintenance import rebuild_store

    with progress_bar("reindex") as advance:
        result = asyncio.run(rebuild_store(settings(), advance))
    show(result, as_json, note=f"{result['remembered']} breadcrumbs remembered, {result['rejected']} could not be read")


def doctor(servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Check every part, the running service and its broker included, and say what to do."""
    from builder.cli.doctor import examine

    findings = asyncio.run(examine(settings(), servers))
    marks = ["warn" if finding["warning"] else "ok" if finding["ok"] else "FAIL" for finding in findings]
    lines = (f"{mark:4}  {finding['part']:12} {finding['said']}\n" for mark, finding in zip(marks, findings, strict=True))
    show(findings, as_json, text="".join(lines))
    if "FAIL" in marks:
        raise typer.Exit(1)
