"""Emphasis that is used too often: words of command, runs of capitals, marks of exclamation, bold text."""

import re
from collections import Counter
from collections.abc import Iterable

MARKERS = re.compile(r"\b(?:CRITICAL|IMPORTANT|MUST|ALWAYS|NEVER|MANDATORY|REQUIRED|WARNING|ATTENTION)\b")
CAPITALS = re.compile(r"\b[A-Z]{2,}(?:'[A-Z]+)?(?:[ ,]+[A-Z]{2,}(?:'[A-Z]+)?){2,}\b")
"""Three words of capitals in a row; two are often a name."""
SHOUTS = re.compile(r"!{2,}")
BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
MAX_MARKERS = 3
MAX_BOLD = 6
MAX_RUN_CHARS = 40
"""Of a run of capitals in a message."""
FIX = f"keep at most {MAX_MARKERS}: what is all loud is not heard"


def overused(text: str) -> str:
    """The problem of a text with too much emphasis, with the words and how often they stand there; "" for one with little."""
    runs = [match[0] for match in CAPITALS.finditer(text)]
    markers = MARKERS.findall(CAPITALS.sub(" ", text))
    shouts, bold = len(SHOUTS.findall(text)), len(BOLD.findall(text))
    if len(markers) + len(runs) + shouts <= MAX_MARKERS and bold <= MAX_BOLD:
        return ""
    problems = (
        f"{len(markers)} emphasis {'marker' if len(markers) == 1 else 'markers'} ({_counted(markers)})" if markers else "",
        f"{len(runs)} {'run' if len(runs) == 1 else 'runs'} of capitals ({_counted(run[:MAX_RUN_CHARS] for run in runs)})"
        if runs
        else "",
        f"{shouts} times !!" if shouts else "",
        f"{bold} bold texts" if bold > MAX_BOLD else "",
    )
    return ", ".join(filter(None, problems))


def first_line(text: str) -> int:
    """The line, from 1, of the first of them; 0 when there is none."""
    matches = (pattern.search(text) for pattern in (MARKERS, CAPITALS, SHOUTS, BOLD))
    starts = [match.start() for match in matches if match]
    return text.count("\n", 0, min(starts)) + 1 if starts else 0


def _counted(words: Iterable[str]) -> str:
    counts = Counter(words)
    return ", ".join(word if counts[word] == 1 else f"{word} {counts[word]} times" for word in sorted(counts))
