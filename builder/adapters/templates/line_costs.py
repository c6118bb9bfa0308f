"""What each line of a hint costs: the tokens of the text that it wrote for the examples of its schema."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from builder.adapters.templates.folder import FAILURES, SUFFIX, TemplateSet
from builder.adapters.templates.fragments import MAX_CHARS
from builder.adapters.templates.sandbox.environment import compiled
from builder.adapters.templates.sandbox.meter import Limits, metered
from builder.adapters.templates.trial import example
from builder.adapters.templates.values import values_of
from builder.assemble.items.forms import WHOLE
from builder.assemble.items.list_items import MARK
from builder.domain.phrases import Phrases
from builder.remember.schemas.examples import full
from builder.remember.schemas.registry import BODIES


@dataclass(frozen=True, slots=True, kw_only=True)
class LineCost:
    """One line of a template."""

    file: str
    line: int
    tokens: float
    """Of one example, on average."""
    share: float
    """Of the tokens of the whole template."""
    text: str
    """The line as it is written."""


def line_costs(
    templates: TemplateSet, name: str, count: Callable[[str], int], bodies: tuple[dict[str, Any], ...] = ()
) -> tuple[LineCost, ...]:
    """Of a hint, the dearest line first; of one that fails on its examples none.

    count: text → tokens. bodies: examples beside those of a known schema.
    """
    source = templates.sources["hints"][name]
    bodies = bodies if bodies and name not in BODIES else full(name) + bodies
    tokens: Counter[int] = Counter()
    try:
        for body in bodies:
            for line, text in _written(source, name, body, templates.phrases()):
                tokens[line] += count(text)
    except FAILURES:
        return ()
    lines, total = source.split("\n"), sum(tokens.values())
    costs = (
        LineCost(
            file=f"hints/{name}{SUFFIX}",
            line=line,
            tokens=round(number / len(bodies), 1),
            share=round(number / total, 3),
            text=lines[line - 1].strip(),
        )
        for line, number in tokens.items()
        if number
    )
    return tuple(sorted(costs, key=lambda cost: (-cost.tokens, cost.line)))


def _written(source: str, name: str, body: dict[str, Any], phrases: Phrases) -> Iterator[tuple[int, str]]:
    """Line and text of each piece that the template writes. Raises the errors of its rendering."""
    template, breadcrumb = compiled(source), example(name, body)
    values = values_of(breadcrumb, body, WHOLE, breadcrumb.speaker, MAX_CHARS, phrases)
    with metered(Limits(), len(breadcrumb.body) + len(breadcrumb.text)):
        pieces: Any = template.root_render_func(template.new_context(values))
        line, text = 1, ""
        for piece in pieces:
            now = template.get_corresponding_lineno(pieces.gi_frame.f_lineno)
            if now != line:
                yield line, text
                line, text = now, ""
            text += str(piece).replace(MARK, "")
        yield line, text
