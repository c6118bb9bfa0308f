"""Commands that explain a context."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from builder.cli.options import AsJson, Servers, Workspace, show, target, text_of
from builder.wire.session_names import optional_token

Trigger = Annotated[
    str, typer.Argument(help="Id of the message that asked for the context; without it the session's last context is meant.")
]
Consumer = Annotated[str, typer.Option("--consumer", "-c", help="Agent whose context is meant; needed where several got one.")]
Session = Annotated[str, typer.Option("--session", "-s", help="The session, without an id or where several have one of this id.")]
AsOf = Annotated[
    int, typer.Option(min=0, help="Mean the context refreshed as of this stream sequence, its `as_of`; 0 = as it was published.")
]
ALL = 0
"""--most without a limit."""


def explain(
    trigger: Trigger = "",
    consumer: Consumer = "",
    session: Session = "",
    as_of: AsOf = 0,
    most: Annotated[int, typer.Option(min=0, help="How many breadcrumbs that are not on the page are listed; 0 = all.")] = 20,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Show where each line of a context comes from and why, what was left out and why, and what the budget went to."""
    from builder.cli.receipt_tables import receipt_text
    from builder.cli.requests import look_up

    request = _request(trigger, consumer, session, as_of) | {"most": None if most == ALL else most}
    answer = asyncio.run(look_up(target(servers, workspace), "explain", request))
    show(answer, as_json, text=receipt_text(answer), note=_note(answer))


def why(
    breadcrumb: Annotated[str, typer.Argument(help="Id of the breadcrumb that is on the page, or is not.")],
    trigger: Annotated[str, typer.Option("--trigger", "-t", help="Id of the message that asked for the context.")] = "",
    consumer: Consumer = "",
    session: Session = "",
    as_of: AsOf = 0,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Say in a sentence why a breadcrumb is on the page of a context, or why it is not."""
    from builder.cli.requests import look_up

    request = _request(trigger, consumer, session, as_of) | {"id": breadcrumb}
    answer = asyncio.run(look_up(target(servers, workspace), "why", request))
    show(answer, as_json, text=answer["sentence"] + "\n", note=_note(answer))


def replay(
    trigger: Trigger = "",
    consumer: Consumer = "",
    session: Session = "",
    as_of: AsOf = 0,
    profile: Annotated[str, typer.Option(help="Make the page with this profile or preset, or with this YAML file.")] = "",
    templates: Annotated[
        Path | None, typer.Option(help="Make the page with this folder of templates.", exists=True, file_okay=False)
    ] = None,
    workspace: Workspace = "",
    servers: Servers = "",
    *,
    as_json: AsJson = False,
) -> None:
    """Build a context again from what is remembered and compare it with the published one; or see it made otherwise."""
    from builder.cli.receipt_tables import comparison_text
    from builder.cli.requests import look_up

    request = _request(trigger, consumer, session, as_of) | _files(profile, templates)
    answer = asyncio.run(look_up(target(servers, workspace), "replay", request))
    is_other = bool(profile or templates)
    show(answer, as_json, text=comparison_text(answer, is_other=is_other), note=_note(answer))
    if not is_other and answer["is_same"] is False:
        raise typer.Exit(1)


def _request(trigger: str, consumer: str, session: str, as_of: int) -> dict[str, Any]:
    return {"trigger": trigger, "consumer": consumer, "session": optional_token(session), "as_of": as_of}


def _files(profile: str, templates: Path | None) -> dict[str, Any]:
    """The profile and the files of a request."""
    from builder.app.config import read_templates

    files = read_templates(templates) if templates else {}
    name = profile
    if profile.endswith((".yaml", ".yml")):
        file = Path(profile)
        name, files = file.stem, {**files, f"profiles/{file.stem}.yaml": text_of(file)}
    return {"profile": name, "files": files, "over_bundled": templates is not None}


def _note(answer: dict[str, Any]) -> str:
    return "\n".join(answer["notes"])
