"""Which sentences of a text are standing instructions: said once, meant for every answer from then on (features F2, D11).

Precision before recall: an instruction that is missed may still be found by its words, one that was never given misleads.
"""

import re
from dataclasses import dataclass
from itertools import islice

from builder.pipeline.cues import BEGINS, HOLDS, JOINED, OPENING, REPORTED, SUBJECT, WITHDRAWS, either

LONGEST = 400
"""Characters of a sentence that is read; people who instruct are brief, and logs are not read at all."""
CLAUSES = 12
"""Clauses of a sentence that are read: a bound for texts made to be slow."""
LAST = 50
"""Characters at the end of a sentence that are looked at for its question mark."""
RUN_ON = 160
"""Characters from which a sentence is shown from its cue on."""

_END = re.compile(r"(?<=[.!?…])[\"'”»)]*\s+|(?<=[。！？])|\n+")
_BEGINS, _HOLDS, _WITHDRAWS = either(BEGINS), either(HOLDS), either(WITHDRAWS)
_OPENING, _JOINED = re.compile(OPENING, re.IGNORECASE), re.compile(JOINED, re.IGNORECASE)
_REPORTED, _SUBJECT = re.compile(REPORTED, re.IGNORECASE), re.compile(SUBJECT, re.IGNORECASE)
_ASKED = re.compile(r"[?？؟]\W*$")
_REQUESTED = re.compile(r"^\W*(?:(?:and|so|please|ok|okay|oh|hey)\W+)*(?:can|could|will|would)\s+you\s+", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“„«‹「][^\"”“»›」]*[\"”“»›」]")


@dataclass(frozen=True, slots=True)
class Instruction:
    """start, end: characters of the text. withdraws: it only takes an earlier one back ("you can use emojis again")."""

    start: int
    end: int
    withdraws: bool


def instructions(text: str) -> tuple[Instruction, ...]:
    """The standing instructions of a text in order; none for questions, reports, quotations and stories."""
    found = []
    for start, end in _sentences(text):
        sentence = text[start:end]
        read = _QUOTED.sub(lambda match: "_" * len(match.group()), sentence[:LONGEST]).replace("’", "'")
        if _ASKED.search(sentence[-LAST:]) and not _REQUESTED.match(sentence):
            continue
        if _WITHDRAWS.search(read):
            found.append(Instruction(start, end, withdraws=True))
        elif (cue := _cue(read)) is not None:
            begin = cue if len(sentence) > RUN_ON else 0
            found.append(Instruction(start + begin, end, withdraws=False))
    return tuple(found)


def _cue(sentence: str) -> int | None:
    """Where the first cue begins that nobody else said."""
    for opening in islice(_OPENING.finditer(sentence), CLAUSES):
        before = sentence[: opening.start()]
        told = _JOINED.match(opening.group()) and _SUBJECT.search(re.split(r"[,;:.]", before)[-1])
        if not told and not _REPORTED.search(before) and _BEGINS.match(sentence, opening.end()):
            return opening.end()
    held = _HOLDS.search(sentence)
    return None if held is None or _REPORTED.search(sentence[: held.start()]) else held.start()


def _sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences, without white space around them."""
    spans, start = [], 0
    for stop, following in [*((match.start(), match.end()) for match in _END.finditer(text)), (len(text), len(text))]:
        held = text[start:stop]
        if held.strip():
            spans.append((start + len(held) - len(held.lstrip()), start + len(held.rstrip())))
        start = following
    return spans
