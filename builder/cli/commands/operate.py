"""Commands of operators and template authors."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer

from builder.cli.options import AsJson, Servers, broker, print_json, say, settings

Sequence = Annotated[int, typer.Argument(help="Stream sequence of the rejected breadcrumb, as `list` shows it.")]


def prepare(*, as_json: AsJson = False) -> None:
    """Export and quantise the default embedding model from its installed package, once. Needs torch; no network."""
    from builder.app import prepare_model

    model = prepare_model(settings())
    if as_json:
        print_json(model)
    else:
        done = "prepared" if model["prepared"] else "was prepared before"
        say(f"{model['model']} {done} in {model['folder']} (mean cosine with the reference {model['mean_cosine']:.4f})")


def list_models(*, as_json: AsJson = False) -> None:
    """Show the models and whether they are ready."""
    from builder.app import models

    found = models(settings())
    if as_json:
        print_json(found)
        return
    for model in found:
        sys.stdout.write(f"{model['name']:24} {model['state']}\n")


def export(
    folder: Annotated[Path, typer.Argument(help="Where the files go.")] = Path("schemas"),
    *,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when a file is stale.")] = False,
) -> None:
    """Write the JSON Schemas of every event and file format."""
    from builder.app.schemas import schema_files
    from builder.domain.errors import Rejected

    wanted = schema_files()
    held = {file.name: file.read_text("utf-8") for file in folder.glob("*.json")} if folder.is_dir() else {}
    stale = sorted(name for name in wanted.keys() | held.keys() if wanted.get(name) != held.get(name))
    if check and stale:
        raise Rejected(f"{len(stale)} schemas are stale: {', '.join(stale)}; run `context-builder schemas export {folder}`")
    if check:
        say(f"{len(wanted)} schemas are up to date")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name in stale:
        if name in wanted:
            (folder / name).write_text(wanted[name], "utf-8")
        else:
            (folder / name).unlink()
    say(f"{len(stale)} of {len(wanted)} schemas written to {folder}")


def list_dead_letters(servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Show what was rejected, oldest first."""
    from builder.cli.dead_letters import letters

    mine = settings()
    found = asyncio.run(letters(mine, broker(mine, servers).servers))
    if as_json:
        print_json([{name: value for name, value in letter.items() if name != "data"} for letter in found])
        return
    for letter in found:
        sys.stdout.write(
            f"{letter['sequence']:>10}  {letter['received_at'][:19]}  {letter['subject']}\n            {letter['reason']}\n"
        )
    if not found:
        say("no dead letters")


def show_dead_letter(sequence: Sequence, servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Show one dead letter with the bytes that were rejected."""
    from builder.cli.dead_letters import letter, readable

    mine = settings()
    found = asyncio.run(letter(mine, broker(mine, servers).servers, sequence))
    if as_json:
        print_json(found)
    else:
        sys.stdout.write(readable(found))


def retry_dead_letter(sequence: Sequence, servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Publish the rejected bytes again, after what was wrong has been mended."""
    from builder.cli.dead_letters import retry

    mine = settings()
    result = asyncio.run(retry(mine, broker(mine, servers).servers, sequence))
    if as_json:
        print_json(result)
    else:
        say(f"published again as {result['sequence']}")


def clear_dead_letters(
    sequences: Annotated[
        list[int] | None, typer.Argument(help="Stream sequences of the breadcrumbs, as `list` shows them.")
    ] = None,
    servers: Servers = "",
    *,
    everything: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take dead letters off the list, once nobody needs them any more."""
    from builder.cli.dead_letters import clear
    from builder.domain.errors import Rejected

    if bool(sequences) == everything:
        raise Rejected("name the sequences of the letters to clear, or give --all")
    mine = settings()
    cleared = asyncio.run(clear(mine, broker(mine, servers).servers, sequences or []))
    if as_json:
        print_json({"cleared": cleared})
    else:
        say(f"{cleared} dead {'letter' if cleared == 1 else 'letters'} cleared")


def reindex(*, as_json: AsJson = False) -> None:
    """Rebuild the store from the stream (stop the service first). Publishes nothing."""
    from rich.console import Console
    from rich.progress import Progress

    from builder.app import rebuild_store

    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("reindex", total=None)
        result = asyncio.run(rebuild_store(settings(), lambda now, end: progress.update(task, completed=now, total=end)))
    if as_json:
        print_json(result)
    else:
        say(f"{result['remembered']} breadcrumbs remembered, {result['rejected']} could not be read")


def doctor(servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Check every part, the running service and its broker included, and say what to do."""
    from builder.cli.doctor import examine

    findings = asyncio.run(examine(settings(), servers))
    if as_json:
        print_json(findings)
    else:
        for finding in findings:
            mark = "warn" if finding["warning"] else "ok" if finding["ok"] else "FAIL"
            sys.stdout.write(f"{mark:4}  {finding['part']:12} {finding['said']}\n")
    if not all(finding["ok"] for finding in findings):
        raise typer.Exit(1)
