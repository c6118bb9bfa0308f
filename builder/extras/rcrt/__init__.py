"""The bridge to a deployment of RCRT, and the Handlebars templates of its records, written in Jinja2."""

from collections.abc import Mapping

from builder.extra import Commands, Extra


def _commands() -> Commands:
    from builder.extras.rcrt.command import rcrt

    return {"rcrt": rcrt}


def _groups() -> Mapping[str, tuple[str, Commands]]:
    from builder.extras.rcrt.command import convert

    return {"hints": ("Hints that records bring (llm_hints).", {"convert": convert})}


extra = Extra(commands=_commands, groups=_groups)
