"""What authors of profiles and templates do: look, compare, check, try, and build a page of a file."""

from collections.abc import Iterable, Mapping
from typing import Any

from builder.domain.lint_finding import LintFinding
from builder.extra import Commands, Extra


def _commands() -> Commands:
    from builder.extras.workshop import commands

    return {"build": commands.build, "consumers": commands.consumers}


def _groups() -> Mapping[str, tuple[str, Commands]]:
    from builder.extras.workshop import commands

    profiles: Commands = {
        "list": commands.list_profiles,
        "show": commands.show_profile,
        "diff": commands.diff,
        "lint": commands.lint,
    }
    templates: Commands = {"test": commands.run_cases, "new": commands.new, "lint": commands.lint_templates}
    return {
        "profiles": ("Profiles and presets: which settings apply, and what is wrong.", profiles),
        "templates": ("Templates: test cases, a first hint for a schema, and what is wrong.", templates),
    }


def _lint(settings: Any, names: tuple[str, ...]) -> Iterable[LintFinding]:
    from builder.extras.workshop.profile_catalog import open_catalog

    return open_catalog(settings).findings(names)


extra = Extra(commands=_commands, groups=_groups, lints={"profiles and templates": _lint})
