"""The values of a hint, made from a breadcrumb."""

from builder.adapters.templates.cuts.results import safe_id
from builder.adapters.templates.cuts.shorten import trimmed
from builder.adapters.templates.sandbox.runtime import marked
from builder.assemble.items.forms import RenderForm, Spans
from builder.assemble.items.list_items import block, items, quote
from builder.domain.breadcrumb import NO_SESSION, Breadcrumb
from builder.domain.context import Fragment
from builder.domain.json_values import JsonObject
from builder.domain.phrases import Phrases
from builder.remember.decode import without_hints

PLAIN_CHARS = 1_000
LEFT_OUT = " […] "
VALUES = frozenset({"speaker", "text", "partial", "answer", "body", "schema", "id", "tags", "said", "repeats", "words", "shared"})


def values_of(
    breadcrumb: Breadcrumb, body: JsonObject, form: RenderForm, label: str, max_chars: int, phrases: Phrases
) -> JsonObject:
    """By the names of VALUES. label: the speaker. max_chars: of the text."""

    def left_out(number: int) -> str:
        return phrases("characters_left_out_of", number=number, id=safe_id(breadcrumb))

    return {
        "speaker": label,
        "text": trimmed(_excerpt(breadcrumb.text, form.spans, is_bare=form.is_bare), max_chars, left_out),
        "partial": bool(form.spans),
        "answer": form.answer,
        "body": marked(without_hints(body)),
        "schema": breadcrumb.schema,
        "shared": breadcrumb.session == NO_SESSION,
        "id": breadcrumb.id,
        "tags": breadcrumb.tags,
        "said": form.times,
        "repeats": phrases("repeats", number=form.times) if form.times > 1 else "",
        "words": phrases.entries,
    }


def plain_item(values: JsonObject, phrases: Phrases) -> str:
    """Without any template, for when all fail."""
    return items(f"- {quote(values['speaker'])}: {quote(block(values['text']) or phrases('nothing_to_show'))}")


def size_in_memory(fragment: Fragment, most: int) -> int:
    """1, plus 1 per PLAIN_CHARS of fragment and breadcrumb, at most `most`."""
    crumb = fragment.breadcrumb
    return min(1 + (len(fragment.text) + len(crumb.body) + len(crumb.text)) // PLAIN_CHARS, most)


def _excerpt(text: str, spans: Spans, *, is_bare: bool) -> str:
    if not spans:
        return text
    if is_bare:
        return _sentences(text, spans)
    pieces: list[str] = []
    end = 0
    for start, stop in spans:
        skipped = text[end:start]
        mark = f"{LEFT_OUT.rstrip()}\n" if end and skipped.rstrip(" ").endswith("\n") else LEFT_OUT
        pieces += [mark if skipped.strip() else skipped, text[max(start, end) : stop]]
        end = max(end, stop)
    pieces.append(LEFT_OUT if text[end:].strip() else "")
    return "".join(pieces).strip()


def _sentences(text: str, spans: Spans) -> str:
    """Those of other lines stay on lines of their own."""
    sentences, end = "", spans[0][0]
    for start, stop in spans:
        sentences += ("\n" if "\n" in text[end:start] else " ") + text[start:stop].strip()
        end = stop
    return sentences.strip()
