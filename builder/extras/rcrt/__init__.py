"""RCRT: the bridge to a deployment, and its records: consumers that they define, and their hints (`llm_hints`)."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from builder.extra import Commands, ConsumerMaker, Extra

if TYPE_CHECKING:
    from builder.adapters.profiles.profiles import Library
    from builder.adapters.templates.hint_languages import HintLanguage
    from builder.adapters.templates.sandbox.runtime import Limits
    from builder.domain.lint_finding import LintFinding


def _commands() -> Commands:
    from builder.extras.rcrt.command import rcrt

    return {"rcrt": rcrt}


def _groups() -> Mapping[str, tuple[str, Commands]]:
    from builder.extras.rcrt.command import convert

    return {"hints": ("Hints that records bring (llm_hints).", {"convert": convert})}


def _hints(limits: "Limits") -> "HintLanguage":
    from builder.extras.rcrt.llm_hints.rendering import LlmHintRenderer

    return LlmHintRenderer(limits)


def _consumers(library: "Library", names: frozenset[str], report: "Callable[[LintFinding], None]") -> ConsumerMaker:
    from builder.extras.rcrt.record_consumers import RecordProfiles

    return RecordProfiles(library, names, report)


extra = Extra(hint_languages={"llm_hints": _hints}, consumer_makers={"records": _consumers}, commands=_commands, groups=_groups)
