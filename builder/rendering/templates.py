"""Load and run hint and page templates in one immutable sandbox (features G10).

Message text is always a value, never template source, and goes through `quote` on its way out.
"""

import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from builder.domain.errors import Misconfigured
from builder.rendering.filters import Rendered, inline, quote, readable, sentence, settled, tag

GENERIC = "generic"
FAILURES = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError)
"""What running a template may raise: Jinja's own errors, and those of what a value is used for."""
SUFFIX = ".md.j2"
_CLOSING = re.compile(r"</\{\{")
"""A page template that writes a section's name between `</` and `>`."""


class TemplateSet:
    """Every hint and page template, compiled at start. revision: hash of all their sources."""

    def __init__(self, hints: Mapping[str, str], pages: Mapping[str, str]) -> None:
        """Compile. hints, pages: name → source. Raises `Misconfigured` with file and line."""
        environment = make_environment()
        self._hints = {name: _compile(environment, "hints", name, source) for name, source in hints.items()}
        self._pages = {name: _compile(environment, "pages", name, source) for name, source in pages.items()}
        self.revision = _revision(hints, pages)
        self._tagged = frozenset(name for name, source in pages.items() if _CLOSING.search(source))
        if GENERIC not in self._hints:
            raise Misconfigured(f"hints/{GENERIC}{SUFFIX} is missing; unknown schemas need it, put it back")

    def hint(self, schema: str, values: Mapping[str, Any]) -> str:
        """One fragment, without white space around it. Raises one of `FAILURES`."""
        return settled(self._hints[self._name(schema)].render(values)).strip()

    def file(self, schema: str) -> str:
        """The file whose template renders this schema."""
        return f"hints/{self._name(schema)}{SUFFIX}"

    def is_tagged(self, page: str) -> bool:
        """Whether sections of this page stand in tags, so that message text must not open or close any."""
        return page in self._tagged

    def page(self, name: str, sections: tuple[Any, ...]) -> str:
        """The page: no blank lines at its end but one line end. Raises `Misconfigured` for an unknown or failing page."""
        template = self._pages.get(name)
        if template is None:
            raise Misconfigured(f"page {name!r} does not exist; known pages are {', '.join(sorted(self._pages))}")
        marked = [_marked(section) for section in sections]
        try:
            text = settled(template.render({"sections": marked})).strip("\n")
        except FAILURES as error:
            raise Misconfigured(f"pages/{name}{SUFFIX} failed: {error}; mend the template") from error
        return text + "\n" if text else ""

    def _name(self, schema: str) -> str:
        return schema if schema in self._hints else GENERIC


def make_environment() -> ImmutableSandboxedEnvironment:
    """What templates are compiled in: our filters, nothing global."""
    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, finalize=quote, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters |= {"inline": inline, "readable": readable, "sentence": sentence, "tag": tag}
    environment.globals = {}
    return environment


def read_folders(folders: tuple[Path, ...]) -> tuple[dict[str, str], dict[str, str]]:
    """Hint and page sources by name; a later folder's file wins over an earlier one's of the same name."""
    found: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for folder in folders:
        for kind, sources in zip(("hints", "pages"), found, strict=True):
            for file in sorted((folder / kind).glob(f"*{SUFFIX}")):
                sources[file.name.removesuffix(SUFFIX)] = file.read_text("utf-8")
    return found


def _marked(section: Any) -> dict[str, Any]:
    """Fragments have been quoted when they were rendered."""
    groups = [{"date": group.date, "fragments": [Rendered(text) for text in group.fragments]} for group in section.groups]
    return {"name": section.name, "title": section.title, "note": section.note, "groups": groups}


def _compile(environment: ImmutableSandboxedEnvironment, kind: str, name: str, source: str) -> Template:
    try:
        return environment.from_string(source)
    except TemplateError as error:
        line = getattr(error, "lineno", "?")
        raise Misconfigured(f"{kind}/{name}{SUFFIX} line {line}: {error}; mend the template") from error


def _revision(*sources: Mapping[str, str]) -> str:
    digest = blake2b(digest_size=4)
    for kind in sources:
        for name in sorted(kind):
            digest.update(f"{name}\0{kind[name]}\0".encode())
    return digest.hexdigest()
