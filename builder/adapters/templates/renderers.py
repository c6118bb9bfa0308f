"""The bundled hints on their examples, in the sandbox and by Jinja alone: what the sandbox's cost is measured with."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from jinja2 import Template

from builder.adapters.templates.folder import GENERIC, TemplateSet
from builder.adapters.templates.fragments import MAX_CHARS
from builder.adapters.templates.sandbox.environment import bare
from builder.adapters.templates.trial import example
from builder.adapters.templates.values import values_of
from builder.assemble.items.forms import WHOLE
from builder.assemble.items.list_items import items
from builder.remember.schemas.examples import full


@dataclass(frozen=True, slots=True, kw_only=True)
class HintRenderers:
    """One hint on one example, rendered in two ways; both give the same text."""

    hint: str
    sandboxed: Callable[[], str]
    bare: Callable[[], str]


def hint_renderers(templates: TemplateSet) -> Iterator[HintRenderers]:
    """Of every hint and every example of its schema."""
    for name, source in sorted(templates.sources["hints"].items()):
        template = bare(source)
        for body in full(name):
            crumb = example(name if name != GENERIC else "example.v1", body)
            values = values_of(crumb, body, WHOLE, crumb.speaker, MAX_CHARS, templates.phrases())
            chars = len(crumb.body) + len(crumb.text)
            sandboxed = partial(templates.hint, name, values, chars)
            yield HintRenderers(hint=name, sandboxed=sandboxed, bare=partial(_by_jinja, template, values))


def _by_jinja(template: Template, values: dict[str, Any]) -> str:
    return items("".join(template.root_render_func(template.new_context(dict(values)))))
