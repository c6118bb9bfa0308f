"""`bench summaries`: share of the answers in a summary, beside as many tokens of evenly spaced messages.

Also whether the covered ids are complete, and the time of summarising a synthetic session of 10,000 messages.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from builder.app.components import Components
from builder.app.operations.summaries import summarise
from builder.bench.data.datasets import SUMMARY_ROOM, Conversation, Dataset, remember
from builder.bench.data.synthetic import DISTINCT_MESSAGES, WORKSPACE, message, mixed, texts
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.profile import Profile, Summaries
from builder.recall.summaries.lines import shown_lines, tokens_of
from builder.recall.summaries.plan import chain_of, covered_sources, recipe_of, sources_of, waiting_units

KEEP_UNITS, BATCH_UNITS = 10, 10
PHASES = 10
"""Evenly spaced messages are taken from so many beginnings: one is a matter of luck."""
SYNTHETIC_MESSAGES = 10_000


async def run(core: Components, dataset: Dataset, profile: Profile, cap: int, step: Callable[[], None]) -> dict[str, Any]:
    """The report. cap: tokens of a summary. step: called after each message of the data set and after the synthetic session."""
    profile = replace(profile, summaries=running(cap))
    conversations = {}
    for conversation in dataset.conversations:
        await remember(core.builder, conversation, step)
        conversations[conversation.session] = await _measure(core, conversation, profile, cap)
    rows = list(conversations.values())
    cost = await _synthetic(core, profile)
    step()
    own, spaced = (statistics.fmean(row[name] for row in rows) for name in ("answer_words", "spaced_answer_words"))
    return {
        "dataset": dataset.name,
        "cap": cap,
        "answer_words": round(own, 4),
        "spaced_answer_words": round(spaced, 4),
        "times_as_much": round(own / spaced, 2) if spaced else 0.0,
        "conversations": conversations,
        "made": cost,
    }


def running(cap: int) -> Summaries:
    """As a running service does it, up to a window of 10 units."""
    return Summaries(max_pending=KEEP_UNITS, tokens=None, keep=KEEP_UNITS, batch=BATCH_UNITS, cap=cap, by="extractive")


async def _measure(core: Components, conversation: Conversation, profile: Profile, cap: int) -> dict[str, Any]:
    end = conversation.breadcrumbs[-1]
    result = await _summarise(core, end, profile)
    summarised = conversation.breadcrumbs[:-KEEP_UNITS]
    text, tokens = result["text"], result["tokens"]
    terms = core.helpers.terms
    answers = [frozenset(terms(question.answer).split()) for question in conversation.questions if question.answer]
    answers = [answer for answer in answers if answer]
    shares = _shares(answers, frozenset(terms(text).split()))
    baselines = [
        _shares(answers, frozenset(terms(spaced(summarised, cap, (phase + 0.5) / PHASES, core.helpers.count, dated)).split()))
        for dated in (False, True)
        for phase in range(PHASES)
    ]
    plain, dated = (statistics.fmean(map(statistics.fmean, half)) for half in (baselines[:PHASES], baselines[PHASES:]))
    return {
        "questions": len(answers),
        "tokens": tokens,
        "summaries": result["summaries"],
        "answer_words": round(statistics.fmean(shares), 4),
        "all_answer_words": round(statistics.fmean(share == 1 for share in shares), 4),
        "spaced_answer_words": round(plain, 4),
        "spaced_all_answer_words": round(
            statistics.fmean(statistics.fmean(share == 1 for share in row) for row in baselines[:PHASES]), 4
        ),
        "spaced_with_dates_answer_words": round(dated, 4),
        "covered_complete": result["complete"],
    }


async def _summarise(core: Components, end: Breadcrumb, profile: Profile) -> dict[str, Any]:
    """Summarise a stored session up to its last breadcrumb; what comes of it."""
    start = perf_counter()
    await summarise(core, (profile,), end)
    seconds = perf_counter() - start
    view = await core.builder.recaller.session_view(
        end.workspace, end.session, Place(end.place.incarnation, end.place.sequence + SUMMARY_ROOM)
    )
    recipe = recipe_of(profile)
    assert recipe is not None  # noqa: S101 - `running` sets summaries
    rows = view.history.chains.rows(view.session, recipe.name, view.prefix.latest)
    chain = chain_of(view, recipe)
    lines = shown_lines(view, chain.verbatim, chain.free)
    return {
        "text": "\n".join((*(line.day for line in lines), *(line.text for line in lines))),
        "tokens": tokens_of(lines, core.helpers.count),
        "summaries": len(rows),
        "covered": tuple(name for name, _ in covered_sources(view, recipe)),
        "complete": covered_sources(view, recipe) == sources_of(view, waiting_units(view, recipe, -1)[:-KEEP_UNITS]),
        "seconds": seconds,
    }


async def _synthetic(core: Components, profile: Profile) -> dict[str, Any]:
    """A session of 10,000 synthetic messages."""
    first = [await core.builder.ingest.facts(message("made", n, text)) for n, text in enumerate(texts(DISTINCT_MESSAGES))]
    rows = [
        mixed(core, message("made", n, text), first[n % DISTINCT_MESSAGES], first[(7 * n + 1) % DISTINCT_MESSAGES])
        for n, text in enumerate(texts(SYNTHETIC_MESSAGES))
    ]
    await core.store.remember_all(tuple(rows))
    end = rows[-1].breadcrumb
    await core.builder.recaller.session_view(
        WORKSPACE, end.session, end.place
    )  # read once: what reading costs is another measure
    result = await _summarise(core, end, profile)
    return {
        "messages": SYNTHETIC_MESSAGES,
        "summaries": result["summaries"],
        "ms_per_message": round(1e3 * result["seconds"] / SYNTHETIC_MESSAGES, 3),
        "covered_complete": result["covered"] == tuple(row.breadcrumb.id for row in rows[:-KEEP_UNITS]),
    }


def spaced(crumbs: Sequence[Breadcrumb], cap: int, phase: float, count: Callable[[str], int], dated: bool) -> str:
    """Evenly spaced messages of `cap` tokens, the beginning of one more filling what is left. phase: where between two."""
    lines = [_line(crumb, dated) for crumb in crumbs]
    prices = [count(text) for text in lines]
    chosen: list[int] = []
    for number in range(1, len(crumbs) + 1):
        places = [int((place + phase) * len(crumbs) / number) for place in range(number)]
        if sum(prices[place] for place in places) <= cap:
            chosen = places
        elif number > 2 * len(chosen) + 2:
            break
    room = cap - sum(prices[place] for place in chosen)
    others = [place for place in range(len(crumbs)) if place not in chosen]
    words = lines[others[int(phase * len(others))]].split(" ") if others else []
    while words and count(" ".join(words)) > room:
        words.pop()
    return "".join(lines[place] for place in chosen) + " ".join(words)


def _line(crumb: Breadcrumb, dated: bool) -> str:
    day = f"[{crumb.created_at.day} {crumb.created_at:%B %Y}]\n" if dated else ""
    return f"{day}{crumb.speaker}: {crumb.text}\n"


def _shares(answers: list[frozenset[str]], terms: frozenset[str]) -> list[float]:
    """Of each answer the share of its words among the terms."""
    return [len(answer & terms) / len(answer) for answer in answers] or [0.0]
