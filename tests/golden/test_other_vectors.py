"""What a page keeps when its vectors are others: the float32 reference's in place of the int8 model's.

The two differ by more (a mean cosine of 0.994) than two processors do. What is found beside the evidence, and how much of it has
room, may differ. A folder's vectors.fp32 is made as its vectors.int8 is.
"""

import asyncio
import re
from contextlib import closing

import pytest

from builder.adapters.tokens import load_counter
from builder.domain.context import Context
from tests.golden.stored_vectors import StoredVectors
from tests.golden.test_golden import build, events, folder_of, golden, profile
from tests.stores import durable_store

EVIDENCE: dict[str, tuple[str, ...]] = {
    "billing": ("I see that charge of 49 euros on your account: it is for the yearly plan.",),
    "chat_messages": ("My studio in Lisbon has a kiln that reaches cone 6 at most.", "Noted: cone 6 at most."),
    "days_and_offsets": ("The cone drooped after 994 minutes. Entry 43.",),
    "follow_up": ("Priya fires porcelain in it at 1,280 degrees.",),
    "german_page-trimmed": (
        "Tomas, mein Bruder, fährt den Lastwagen; er hat den Führerschein dafür.",
        "der blaue Ofen braucht einen Anschluss mit 32 Ampere.",
    ),
    "long_texts": ("The old gas kiln leaks at the door. The mason quoted 1,850 euros for a new door frame",),
    "loop_of_twenty_rounds": ("allée 11 | rang 10 | lot H-204 | verre soufflé | 33 cartons",),
    "memory_of_a_person": ("my son Jonas can't have hazelnuts, he's allergic.",),
    "one_message_too_many": ("la llave del cobertizo está debajo de la maceta azul.",),
    "several_questions": ('free: 7\n  price: "12.50"', "Result: Wind 4, no rain."),
    "standing_instructions": ("Understood: only reserved loaves are promised.",),
    "three_huge_results": ("schilderen: eerst schilderen: de primer laat los over 40 meter",),
}
"""What answers the question, by session: some with rules, some with results that trigger, most with more than has room."""
SESSIONS = tuple(EVIDENCE)
FOUND_BY_VECTORS = ("billing",)
"""Sessions whose evidence words alone do not find."""
SEARCHED = frozenset({"window", "retrieval", "conversation", "elsewhere", "memory"})
"""What has the room that finds leave, and finds."""


@pytest.mark.parametrize("case", SESSIONS)
def test_all_but_finds_is_the_same_with_the_vectors_of_the_reference(case: str) -> None:
    ours, theirs = golden(case), golden(case, "fp32")
    assert theirs.model != ours.model
    assert theirs.tokens == load_counter(theirs.encoding)(theirs.markdown) <= theirs.budget
    assert [section.name for section in theirs.sections] == [section.name for section in ours.sections]
    assert unsearched(case, theirs) == unsearched(case, ours)
    places = {crumb.id: crumb.place for crumb in events(case)}
    searched = {section.name for section in profile(case).sections if section.source in SEARCHED}
    for section in theirs.sections:
        shown = [places[each] for each in section.ids if section.name in searched]
        assert shown == sorted(shown), section.name
    assert missing(case, theirs) == []


@pytest.mark.parametrize("case", FOUND_BY_VECTORS)
def test_the_vectors_of_other_texts_lose_the_evidence(case: str) -> None:
    """So the test above sees vectors that are wrong."""
    embedder = StoredVectors(folder_of(case), "fp32").exchanged()
    with closing(durable_store()) as store:
        assert missing(case, asyncio.run(build(case, store, embedder))) != []


def unsearched(case: str, context: Context) -> dict[str, str]:
    """Title → text: the question, results that trigger, rules, tools, what the profile says."""
    _, *titles_and_texts = re.split(r"^## (.+)\n", context.markdown, flags=re.MULTILINE)
    searched = {section.title for section in profile(case).sections if section.source in SEARCHED}
    found = dict(zip(titles_and_texts[::2], titles_and_texts[1::2], strict=True))
    return {title: text for title, text in found.items() if title not in searched}


def missing(case: str, context: Context) -> list[str]:
    """Sentences of evidence that are not on the page."""
    return [sentence for sentence in EVIDENCE[case] if sentence not in context.markdown]
