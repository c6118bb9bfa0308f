"""Commands of authors of profiles and templates."""

import asyncio
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.app.console import AsJson, say, settings, show, table
from builder.cli.options import Servers, Session, Strict, Workspace, lines_of, target_of
from builder.domain.errors import Misconfigured
from builder.domain.lint_finding import LintFinding
from builder.domain.selector import Selector, trigger_text
from builder.wire.subjects import session_token

if TYPE_CHECKING:
    from builder.app.settings import Settings
    from builder.extras.workshop.template_cases import CaseResult

Name = Annotated[str, typer.Argument(help="Name of a profile or a preset.")]


def list_profiles(*, as_json: AsJson = False) -> None:
    """Show every profile and preset: who is triggered by what, and how large the page is."""
    from builder.extras.workshop.profile_catalog import open_catalog

    catalog = open_catalog(settings())
    rows: list[dict[str, Any]] = []
    for entry in catalog.all:
        profile = catalog.profile(entry)
        triggers = list(map(trigger_text, profile.triggers)) if entry.kind == "profile" else []
        row = {"name": entry.name, "kind": entry.kind, "triggers": triggers, "tokens": profile.allowance, "about": entry.about}
        rows.append(row)
    cells = [(row["name"], row["kind"], ", ".join(row["triggers"]) or "-", f"{row['tokens']:,}") for row in rows]
    show(rows, as_json, text=table(("name", "kind", "triggers", "tokens"), cells, frozenset({"tokens"})))


def show_profile(name: Name, *, as_json: AsJson = False) -> None:
    """Show all that a profile says, merged and derived, each value with the file that it comes from."""
    from builder.extras.workshop.profile_catalog import open_catalog
    from builder.extras.workshop.profile_views import as_yaml

    values = open_catalog(settings()).settings(name)
    show({value.name: {"value": value.value, "from": value.origin} for value in values}, as_json, text=as_yaml(values))


def diff(one: Name, other: Name, *, as_json: AsJson = False) -> None:
    """Show where two profiles differ."""
    from builder.extras.workshop.profile_catalog import open_catalog
    from builder.extras.workshop.profile_views import differing

    catalog = open_catalog(settings())
    rows = differing(catalog.settings(one), catalog.settings(other))
    cells = [(name, _text(first), _text(second)) for name, first, second in rows]
    show({name: [first, second] for name, first, second in rows}, as_json, text=table(("setting", one, other), cells))


def consumers(workspace: Workspace = "", servers: Servers = "", *, as_json: AsJson = False) -> None:
    """Show the agents that get contexts, what makes each, who listens to it, and what is wrong with records that make none."""
    from builder.app.subscriptions import list_subscriptions

    target = target_of(servers, workspace)
    answer = asyncio.run(target.request("consumers", {}))
    subscriptions = asyncio.run(list_subscriptions(target.settings, target.servers))
    for each in answer["consumers"]:
        own = [subscription for subscription in subscriptions if subscription.is_of(target.workspace, each["name"])]
        each["subscriptions"] = [asdict(subscription) | {"since": _moment(subscription.since)} for subscription in own]
        each["readers"] = "; ".join(map(str, own)) or ("nobody has subscribed yet" if each["triggers"] else "-")
    cells = [
        (each["name"], each["origin"], ", ".join(map(_trigger, each["triggers"])) or "-", f"{each['budget']:,}", each["readers"])
        for each in answer["consumers"]
    ]
    findings = "".join(f"{LintFinding(**each)}\n" for each in answer["findings"])
    heads = ("name", "made by", "triggers", "tokens", "who listens")
    note = "contexts are built whether or not somebody listens"
    show(answer, as_json, text=table(heads, cells, frozenset({"tokens"})) + findings, note=note)


def lint(
    names: Annotated[
        list[str] | None, typer.Argument(help="Profiles and presets, with the templates that they use; default is all.")
    ] = None,
    *,
    strict: Annotated[bool, typer.Option("--strict", help="Notes count as errors.")] = False,
    as_json: AsJson = False,
) -> None:
    """Report what is wrong with profiles and templates, and what to do. Exit code 1 for errors, 0 when there are only notes."""
    from builder.extras.workshop.profile_catalog import lint_folders

    count, findings = lint_folders(settings(), tuple(names or ()))
    _report(findings, f"nothing is wrong with {count} profiles and presets, nor with their templates", as_json, strict=strict)


def _report(findings: tuple[LintFinding, ...], clean: str, as_json: bool, *, strict: bool = False) -> None:
    errors = [each for each in findings if strict or each.severity == "error"]
    note = f"errors: {len(errors)}, notes: {len(findings) - len(errors)}" if findings else clean
    show([asdict(finding) for finding in findings], as_json, text="".join(f"{each}\n" for each in findings), note=note)
    if errors:
        raise typer.Exit(1)


def _trigger(value: str | dict[str, list[str]]) -> str:
    return value if isinstance(value, str) else trigger_text(Selector(**{name: tuple(each) for name, each in value.items()}))


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def _text(value: Any) -> str:
    return "-" if value is None else str(value)


def run_cases(
    names: Annotated[list[str] | None, typer.Argument(help="Cases, hints or profiles; default is all.")] = None,
    *,
    update: Annotated[bool, typer.Option("--update", help="Write what they show now as what is expected.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare what each case shows now with the text that it should show. Exit code 1 if any differs.

    Cases are the files `cases/*.json` and `.jsonl` of your templates folder, without one the bundled ones.
    """
    from builder.extras.workshop import template_cases as operation

    configuration = settings()
    results = operation.run_cases(configuration, lambda lines, profile: _page(configuration, lines, profile), tuple(names or ()))
    files = operation.update(results) if update else ()
    lines = [line for result in results for line in _lines(result, written=result.expected_file in files)]
    missing = [f"no case tries hints/{name}.md.j2" for name in operation.without_case(configuration)] if not names else []
    rows = [asdict(result) | {"state": result.state, "expected_file": str(result.expected_file)} for result in results]
    show(rows, as_json, text="".join(f"{line}\n" for line in lines))
    for line in (*missing, *operation.states(results, written=len(files))):
        say(line)
    if any(result.state != "ok" and result.expected_file not in files for result in results):
        raise typer.Exit(1)


def new(
    schema: Annotated[str, typer.Argument(help="Schema of the breadcrumbs, e.g. ticket.v1.")],
    from_schema: Annotated[
        Path | None, typer.Option("--from-schema", help="JSON Schema of its context.", exists=True, dir_okay=False)
    ] = None,
    from_record: Annotated[
        Path | None, typer.Option("--from-record", help="A sample record.", exists=True, dir_okay=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder of templates; default is CONTEXT_BUILDER_TEMPLATES_DIR.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Write a first hint for a schema and a case beside it, and show its example. Nothing is written over."""
    from builder.extras.workshop.template_cases import new_template

    configuration = settings()
    folder = output or configuration.templates_dir
    if folder is None:
        raise Misconfigured("no folder of templates is named; write --output DIR, or set CONTEXT_BUILDER_TEMPLATES_DIR")
    template = new_template(configuration, schema, folder.expanduser(), from_schema, from_record)
    for file in (template.hint, template.case, template.expected):
        say(f"wrote {file}")
    say(f"made from {template.origin}; its example reads:")
    values = {name: str(value) for name, value in asdict(template).items()}
    show(values, as_json, text=template.text)


def lint_templates(
    names: Annotated[list[str] | None, typer.Argument(help="Hints; default is all.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Report what is wrong with templates alone. Exit code 1 for errors."""
    from builder.extras.workshop.profile_catalog import template_findings

    _report(template_findings(settings(), tuple(names or ())), "nothing is wrong with the templates", as_json)


def _lines(result: "CaseResult", *, written: bool) -> list[str]:
    state = "written" if written else result.state
    head = f"{result.name:<36} {result.template:<36} {state}".rstrip()
    more = result.problem or (result.difference if result.state == "differs" else "")
    return [head, *([indent(more, "    ")] if more else [])]


def _page(configuration: "Settings", lines: tuple[str, ...], profile: str) -> str:
    """Words alone find, so that the page is the same on every machine."""
    from builder.app.settings import EmbeddingSettings
    from builder.cli.build import build_once

    own = configuration.model_copy(update={"embedding": EmbeddingSettings(engine="none")})
    event: dict[str, Any] = asyncio.run(build_once(own, lines, "cases", "", profile, "", lambda _: None))
    return str(event["content"])


def build(
    file: Annotated[
        Path,
        typer.Argument(
            help="Events or chat messages, one JSON value a line, as `import` takes them; - for standard input.", allow_dash=True
        ),
    ],
    profile: Annotated[str, typer.Option(help="Profile or preset of the page.")] = "default",
    trigger: Annotated[str, typer.Option(help="Id of the breadcrumb to answer; default is the last user message.")] = "",
    workspace: Workspace = "",
    session: Session = "main",
    *,
    strict: Strict = False,
    as_json: AsJson = False,
) -> None:
    """Events in, markdown out: the context of an agent, without NATS and without storing anything."""
    from builder.cli.build import build_once

    configuration = settings()
    lines, token = lines_of(file), session_token(session)
    place = workspace or configuration.workspace
    event = asyncio.run(build_once(configuration, lines, place, token, profile, trigger, say, strict=strict))
    show(event, as_json, text=event["content"])
