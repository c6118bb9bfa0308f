"""The sentences that a person wrote in a text, without what the person pasted: code, logs, quoted lines, mails of others."""

import re
from collections.abc import Iterator

from builder.language.instructions.patterns import languages
from builder.language.lists import derived, either, words
from builder.language.sentences import sentences

MAX_QUOTED_CHARS = 160
"""More characters behind a colon are pasted text."""
MAX_SENTENCE_CHARS = 400
"""Longer sentences are not written by hand."""
MAX_SALUTATION_WORDS = 2
"""Words of a line that is only a salutation."""

_FENCE = re.compile(r"^\s*(?:```|~~~)")
_QUOTED_LINE = re.compile(
    r"^\s*(?:>|#|//|\||<|/?\*\*?/?\s*$|\$ |\{|\}|\[|@|--\s)|^\s{8,}\S|^\s*[\w.]+\(|[;{}]\s*$|^\d{1,4}[-/:.]\d\d[-/:.]\d\d"
)
_ITEM = re.compile(r"^\s*(?:[-*•–+]|\(?\d{1,2}[.)]|[a-z]\))\s+")
_COLON = re.compile(r"[:：]\s")
_CODE = re.compile(r"[:：]\s*(?=[\"“„«{\[<`]|```)|\s(?=```)")
_SPACE = re.compile(r"\s")


def own_sentences(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Spans without white space around them, in order, of the characters from start to end. A line's end ends a sentence."""
    position, fenced, pasted = start, False, False
    for line in text[start:end].splitlines(keepends=True):
        begin, position = position, position + len(line)
        if _FENCE.match(line):
            fenced = not fenced
        elif _mail_header().match(line):
            return
        elif not (fenced or _QUOTED_LINE.match(line) or (pasted and not _ITEM.match(line))) and line.strip():
            opening = _presentation().search(line)
            if opening and not _announces(opening[0], "rules"):
                yield from _of_line(text, begin, begin + opening.end())
                return
            yield from _of_line(text, begin, begin + len(line.rstrip()))
            if line.rstrip().endswith((":", "：")) and position < len(text):
                if _announces(line, "pasted") and not _announces(line, "rules"):
                    return
                pasted = not _announces(line, "rules") and len(line.split()) > MAX_SALUTATION_WORDS


@derived
def _mail_header() -> re.Pattern[str]:
    """The line with which another person's mail begins."""
    return re.compile(rf"^\s*(?:{either(words('mail_headers'))}\s*[:：]|-{{3,}}|_{{5,}}|on .{{5,80}} wrote:)", re.IGNORECASE)


@derived
def _presentation() -> re.Pattern[str]:
    """What announces another person's text, up to the colon in front of it."""
    return re.compile(
        rf"(?:{'|'.join(language.presents.pattern for language in languages())})[^.:!?：。]{{0,60}}[:：]", re.IGNORECASE
    )


def _announces(line: str, what: str) -> bool:
    return any(getattr(language, what).search(line[-200:]) for language in languages())


def _of_line(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    item = _ITEM.match(text[start:end])
    start += item.end() if item else 0
    for begin, until in sentences(text[start:end]):
        stop, is_cut = _without_pasted(text, start + begin, start + until, end)
        yield start + begin, stop
        if is_cut:
            return


def _without_pasted(text: str, start: int, end: int, line_end: int) -> tuple[int, bool]:
    """Where the sentence ends, and whether the rest of its line is pasted: code or a quotation behind a colon, or much else."""
    if code := _CODE.search(text, start, min(end, start + MAX_SENTENCE_CHARS)):
        return code.start() + (text[code.start()] in ":："), _is_long(line_end - code.end())
    colon = _COLON.search(text, start, min(end, start + MAX_SENTENCE_CHARS))
    if colon and _is_long(line_end - colon.end()):
        return colon.start() + 1, True
    if end - start <= MAX_SENTENCE_CHARS:
        return end, False
    spaces = [space.start() for space in _SPACE.finditer(text, start, start + MAX_SENTENCE_CHARS)]
    return (spaces[-1] if spaces else start + MAX_SENTENCE_CHARS), True


def _is_long(characters: int) -> bool:
    return characters > MAX_QUOTED_CHARS
