"""Commands about the store, the streams and the models: rebuild, copy, save, switch."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from builder.app.console import AsJson, progress_bar, say, settings, show
from builder.cli.options import Servers, target_of


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


def switch(
    store: Annotated[str, typer.Argument(metavar="STORE", help="URL of a new store, as sqlite:PATH.")],
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Make a store for another model beside the running service: set CONTEXT_BUILDER_EMBEDDING__… of the new model."""
    from builder.extras.operations.maintenance import switch_model

    target = target_of(servers)
    with progress_bar("models switch") as advance:
        result = asyncio.run(switch_model(target.settings, target.servers, store, advance))
    note = f"{result['remembered']} breadcrumbs remembered, {result['rejected']} could not be read; restart the workers with "
    show(result, as_json, note=f"{note}the new store as CONTEXT_BUILDER_STORE__URL and with this command's settings")


def reindex(*, as_json: AsJson = False) -> None:
    """Rebuild the store from the stream (stop the service first). Publishes nothing."""
    from builder.extras.operations.maintenance import rebuild_store

    with progress_bar("reindex") as advance:
        result = asyncio.run(rebuild_store(settings(), advance))
    show(result, as_json, note=f"{result['remembered']} breadcrumbs remembered, {result['rejected']} could not be read")


def migrate(*, as_json: AsJson = False) -> None:
    """Bring the store's schema to this release. Safe beside running workers: migrations only add."""
    from builder.extras.operations.maintenance import migrate as run

    name = asyncio.run(run(settings()))
    show({"store": name}, as_json, note=f"the schema of {name} is that of this release")


def migrate_store(
    source: Annotated[str, typer.Argument(metavar="FROM", help="URL of the store, as sqlite:PATH.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="URL of an empty store, or of one that an earlier run began.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Copy a store into another database (stop the service first), and compare all rows."""
    from builder.extras.operations.maintenance import migrate_store as run

    with progress_bar("migrate-store") as advance:
        counts = asyncio.run(run(source, target, advance))
    rows = f"{counts['breadcrumbs']} breadcrumbs, {sum(counts.values())} rows"
    show(counts, as_json, note=f"{rows} are in both stores; set CONTEXT_BUILDER_STORE__URL, then start the service")


Folder = Annotated[Path, typer.Argument(help="Folder of the backup.")]


def backup(folder: Folder, servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Write the streams to a folder, beside the running service. Run it again after an interruption."""
    from builder.extras.operations.backup import back_up

    with progress_bar("backup") as advance:
        result = asyncio.run(back_up(settings(), servers, folder, advance))
    if result["unsettled"]:
        say(f"{result['unsettled']} messages wait for a worker: after a restore they are answered, even if they were meanwhile")
    show(result, as_json, text=_streams_text(result))


def restore(folder: Folder, servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Make the streams of a backup on an empty broker (stop every worker first). Run it again after an interruption."""
    from builder.extras.operations.restore import restore as put_back

    with progress_bar("restore") as advance:
        result = asyncio.run(put_back(settings(), servers, folder, advance))
    note = "run `context-builder reindex` before a worker with an older store"
    if not result["restored"]:
        note = f"nothing was changed: this backup was restored on this broker before; {note}"
    show(result, as_json, text=_streams_text(result), note=note)


def _streams_text(result: dict[str, Any]) -> str:
    rows = result["streams"]
    return "".join(f"{row['stream']:12} {row['messages']:>12,} messages, the last is {row['last']:,}\n" for row in rows)
