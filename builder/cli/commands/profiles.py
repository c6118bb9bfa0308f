"""Commands of profile authors."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from builder.cli.options import AsJson, print_json, say, settings

if TYPE_CHECKING:
    from rich.table import Table

    from builder.app.operations.lint import Entry
    from builder.domain.profile import Profile

Name = Annotated[str, typer.Argument(help="Name of a profile or a preset.")]


def list_profiles(*, as_json: AsJson = False) -> None:
    """Show every profile and preset: who is triggered by what, and how large the page is."""
    from builder.app import open_catalog

    shelf = open_catalog(settings())
    found = [(held, shelf.profile(held)) for held in shelf.all]
    if as_json:
        print_json(
            [
                {"name": held.name, "kind": held.kind, "triggers": _triggers(held, profile)}
                | {"tokens": profile.allowance, "about": held.about}
                for held, profile in found
            ]
        )
        return
    rows = [
        (held.name, held.kind, ", ".join(_triggers(held, profile)) or "-", f"{profile.allowance:,}") for held, profile in found
    ]
    _print(_table(("name", "kind", "triggers", "tokens"), rows))


def show(name: Name, *, as_json: AsJson = False) -> None:
    """Show all that a profile says, merged and derived, each value with the file that it comes from."""
    from builder.app import open_catalog
    from builder.app.operations.profile_views import as_yaml

    found = open_catalog(settings()).settings(name)
    if as_json:
        print_json({setting.name: {"value": setting.value, "from": setting.origin} for setting in found})
    else:
        sys.stdout.write(as_yaml(found))


def diff(one: Name, other: Name, *, as_json: AsJson = False) -> None:
    """Show where two profiles differ."""
    from builder.app import open_catalog
    from builder.app.operations.profile_views import differing

    shelf = open_catalog(settings())
    found = differing(shelf.settings(one), shelf.settings(other))
    if as_json:
        print_json({name: [left, right] for name, left, right in found})
    else:
        _print(_table(("setting", one, other), [(name, _value(left), _value(right)) for name, left, right in found]))


def lint(
    names: Annotated[list[str] | None, typer.Argument(help="Profiles and presets; default is all, and all templates.")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Say what is wrong with profiles and templates, and what to do. Exit code 1 when anything is."""
    from builder.app import open_catalog

    shelf = open_catalog(settings())
    found = shelf.findings(tuple(names or ()))
    if as_json:
        print_json([asdict(finding) for finding in found])
    for finding in () if as_json else found:
        place = f" {finding.place}" if finding.place else ""
        sys.stdout.write(f"{finding.file}{place}: {finding.problem}; {finding.fix}\n")
    if found:
        raise typer.Exit(1)
    if not as_json:
        say(f"nothing is wrong with {len(names) if names else len(shelf.all)} profiles and presets")


def _triggers(held: "Entry", profile: "Profile") -> list[str]:
    """A preset by itself is nobody's."""
    return list(profile.triggers) if held.kind == "profile" else []


def _value(value: Any) -> str:
    return "-" if value is None else str(value)


def _table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _print(table: "Table") -> None:
    from rich.console import Console

    Console().print(table)
