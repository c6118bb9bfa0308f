"""Catalogue files of phrases → phrases by name."""

from collections.abc import Mapping
from string import Formatter

import yaml

from builder.domain.errors import Misconfigured
from builder.domain.phrases import MONTHS
from builder.wire.files import parse_yaml


def parse_phrases(source: str, bundled: Mapping[str, str]) -> dict[str, str]:
    """Read a catalogue. bundled: the catalogue whose entries it may replace; empty for the bundled one itself.

    Raises `Misconfigured` for an entry that is no text, for an unknown name, for a field that the bundled entry does not have,
    and for other than twelve months.
    """
    try:
        entries = parse_yaml(source) or {}
        phrases = {str(name): entries[name] for name in entries}
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise Misconfigured(f"phrases/en.yaml is not readable: {error}; it maps a name to a text") from error
    for name, text in phrases.items():
        is_unknown = bundled and name not in bundled
        if is_unknown or not isinstance(text, str):
            problem = "not the name of a phrase" if is_unknown else "no text"
            raise Misconfigured(f"phrases/en.yaml: {name!r} is {problem}; mend it")
        allowed = _fields(name, bundled.get(name, text))
        if not _fields(name, text) <= allowed:
            raise Misconfigured(f"phrases/en.yaml: {name!r} may have the fields {sorted(allowed)} only; mend it")
    if "months" in phrases and len(names := phrases["months"].split()) != MONTHS:
        raise Misconfigured(f"phrases/en.yaml: 'months' has {len(names)} words, not {MONTHS}; begin with January")
    return phrases


def _fields(name: str, text: str) -> set[str]:
    try:
        return {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    except ValueError as error:
        raise Misconfigured(f"phrases/en.yaml: {name!r} has a brace without its other half; mend it") from error
