"""The check of the invariants passes, and it can fail: each small wrong change of assembly is found."""

from builder.bench.invariants.check import LONG_SHARE, SESSIONS_OF_JOB, Tally, check_history, run
from builder.bench.invariants.mutants import MUTANTS
from builder.bench.invariants.mutation import pages_until_found
from builder.bench.invariants.reader import FAULTS

PAGES = 10
"""Pages of one history."""


def quiet() -> None:
    """No progress bar."""


async def test_what_twelve_sessions_show_is_what_was_said() -> None:
    tally = await tally_of(range(12), 4, 8, 12)
    assert tally.example is None
    assert {kind: tally.counts[kind] for kind in FAULTS} == dict.fromkeys(FAULTS, 0)
    assert tally.counts["contexts"] == 96
    assert tally.counts["breadcrumbs"] > 300
    assert tally.counts["pressed"] >= 0.4 * tally.counts["contexts"], "many pages are under pressure"
    assert tally.counts["by_tools"] >= tally.counts["contexts"] / 3, "a third of the pages answers tools"
    assert tally.counts["long"] >= LONG_SHARE * tally.counts["histories"] / 2, "some sessions are long"


HISTORIES = {
    "a hole has no sign": 4,
    "the number on top is one too small": 2,
    "a label lacks though another one speaks": 2,
    "an item stands twice": 2,
    "a message is missing": 6,
    "two turns are swapped": 0,
    "a result stands below another call": 4,
    "an older version is shown": 4,
    "an edited message moves to its edit": 4,
    "a repeat is removed": 6,
    "the last result of a call is missing": 0,
    "what was deleted stays": 6,
    "a limit acts that nobody named": 4,
    "a result that has room is one line": 0,
    "the newest message is not bought": 11,
    "a section has more than its share": 61,
    "the results that triggered have no room": 4,
    "the question is the first message": 4,
    "another agent's calls are the running turn": 0,
    "calls of the running turn stand in the conversation": 4,
    "room stays empty": 4,
    "what is missing is not told": 2,
    "a sign stands where nothing is missing": 4,
    "the question is behind its calls in messages": 0,
    "a hidden result takes its call": 24,
    "a cut has no mark": 2,
    "a call without an answer does not say so": 4,
    "blank lines are dropped": 2,
    "indentation is lost": 2,
    "a text opens structure at the root": 0,
    "control text stays": 0,
    "a display name is a label": 6,
    "a date is another clock's": 0,
    "finds repeat the page": 0,
    "finds are not in order": 4,
    "a find has no line on its other calls": 8,
    "a find has no call": 4,
    "what is cut is not listed": 0,
    "what is hidden is named": 0,
    "a reason is not counted": 0,
    "a section does not name what it shows": 0,
    "the page is one token too long": 6,
    "tokens are counted wrong": 0,
    "a profile that rejects gets a page": 0,
}
"""Mutant → a short history of seed 1 and size 12 that shows it soon. `bench invariants --mutants` searches from history 0."""


async def tally_of(histories: range, seed: int, contexts: int, size: int) -> Tally:
    """Counted here, in this process."""
    tally = Tally()
    for history in histories:
        tally.add(await check_history(seed, history, contexts, size))
    return tally


async def test_every_mutant_is_found_in_the_history_that_shows_it() -> None:
    assert HISTORIES.keys() == MUTANTS.keys()
    found = {name: await pages_until_found(name, PAGES, 1, 12, first) for name, first in HISTORIES.items()}
    assert [name for name, number in found.items() if number is None] == [], "search with `bench invariants --mutants --seed 1`"


async def test_a_mutant_that_is_looked_for_in_another_history_is_not_found() -> None:
    assert await pages_until_found("a display name is a label", PAGES, 1, 12, first=0) is None


async def test_the_same_seed_finds_the_same_on_any_number_of_processes() -> None:
    number = SESSIONS_OF_JOB + 1  # two jobs
    figures = run(number, 2 * number, 5, 0, 8, quiet)
    counts = (await tally_of(range(number), 5, 2, 8)).counts
    here = {name: counts[name] for name in ("histories", "contexts", "refusals", *FAULTS)}
    assert {name: figures[name] for name in here} == here
    assert figures["shown_mean"] == round(counts["breadcrumbs"] / counts["contexts"], 1)
