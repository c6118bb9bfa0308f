"""`bench summaries`: what a summary keeps of the answers, beside as many tokens of evenly spaced messages.

Also whether the covered ids are complete, and what summarising costs on a made session of 10,000 messages.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from builder.app import Components, summarise
from builder.bench.data.datasets import ROOM, Conversation, Dataset
from builder.bench.data.made import DISTINCT, WORKSPACE, message, mixed, texts
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.profile import Profile, Summaries
from builder.recall.summaries.extract import tokens_of
from builder.recall.summaries.lines import shown_lines
from builder.recall.summaries.plan import chain_of, covered_sources, recipe_of, sources_of, waiting_units

KEEP, BATCH = 10, 10
PHASES = 10
"""Evenly spaced messages are taken from so many beginnings: one is a matter of luck."""
MADE = 10_000


async def run(core: Components, dataset: Dataset, profile: Profile, cap: int, step: Callable[[], None]) -> dict[str, Any]:
    """The report. cap: tokens of a summary. step: called after each message of the data set and after the made session."""
    profile = replace(profile, summaries=running(cap))
    conversations = {}
    for conversation in dataset.conversations:
        for crumb in conversation.breadcrumbs:
            await core.builder.remember(crumb)
            step()
        conversations[conversation.session] = await _measure(core, conversation, profile, cap)
    rows = list(conversations.values())
    cost = await _made(core, profile)
    step()
    kept, spaced = (statistics.fmean(row[name] for row in rows) for name in ("answer_words", "spaced_answer_words"))
    return {
        "dataset": dataset.name,
        "cap": cap,
        "answer_words": round(kept, 4),
        "spaced_answer_words": round(spaced, 4),
        "times_as_much": round(kept / spaced, 2) if spaced else 0.0,
        "conversations": conversations,
        "made": cost,
    }


def running(cap: int) -> Summaries:
    """As a running service would do it, up to the hot window of 10 units."""
    return Summaries(max_pending=KEEP, tokens=None, keep=KEEP, batch=BATCH, cap=cap, by="extractive")


async def _measure(core: Components, conversation: Conversation, profile: Profile, cap: int) -> dict[str, Any]:
    end = conversation.breadcrumbs[-1]
    made = await _summarise(core, end, profile)
    summarised = conversation.breadcrumbs[:-KEEP]
    text, tokens = made["text"], made["tokens"]
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
        "summaries": made["summaries"],
        "answer_words": round(statistics.fmean(shares), 4),
        "all_answer_words": round(statistics.fmean(share == 1 for share in shares), 4),
        "spaced_answer_words": round(plain, 4),
        "spaced_all_answer_words": round(
            statistics.fmean(statistics.fmean(share == 1 for share in found) for found in baselines[:PHASES]), 4
        ),
        "spaced_with_dates_answer_words": round(dated, 4),
        "covered_complete": made["complete"],
    }


async def _summarise(core: Components, end: Breadcrumb, profile: Profile) -> dict[str, Any]:
    """Summarise a stored session up to its last breadcrumb; what comes of it."""
    began = perf_counter()
    await summarise(core, (profile,), end)
    seconds = perf_counter() - began
    view = await core.builder.recaller.session_view(
        end.workspace, end.session, Place(end.place.incarnation, end.place.sequence + ROOM)
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
        "complete": covered_sources(view, recipe) == sources_of(view, waiting_units(view, recipe, -1)[:-KEEP]),
        "seconds": seconds,
    }


async def _made(core: Components, profile: Profile) -> dict[str, Any]:
    """A session of 10,000 made-up messages."""
    first = [await core.builder.ingest.facts(message("made", n, text)) for n, text in enumerate(texts(DISTINCT))]
    rows = [
        mixed(core, message("made", n, text), first[n % DISTINCT], first[(7 * n + 1) % DISTINCT])
        for n, text in enumerate(texts(MADE))
    ]
    await core.store.remember_all(tuple(rows))
    end = rows[-1].breadcrumb
    await core.builder.recaller.session_view(WORKSPACE, end.session, end.place)
    made = await _summarise(core, end, profile)
    return {
        "messages": MADE,
        "summaries": made["summaries"],
        "ms_per_message": round(1e3 * made["seconds"] / MADE, 3),
        "covered_complete": made["covered"] == tuple(row.breadcrumb.id for row in rows[:-KEEP]),
    }


def spaced(crumbs: Sequence[Breadcrumb], cap: int, phase: float, count: Callable[[str], int], dated: bool) -> str:
    """Evenly spaced messages of `cap` tokens, the beginning of one more filling what is left. phase: where between two."""
    shown = [_shown(crumb, dated) for crumb in crumbs]
    prices = [count(text) for text in shown]
    chosen: list[int] = []
    for number in range(1, len(crumbs) + 1):
        taken = [int((place + phase) * len(crumbs) / number) for place in range(number)]
        if sum(prices[place] for place in taken) <= cap:
            chosen = taken
        elif number > 2 * len(chosen) + 2:
            break
    left = cap - sum(prices[place] for place in chosen)
    others = [place for place in range(len(crumbs)) if place not in chosen]
    words = shown[others[int(phase * len(others))]].split(" ") if others else []
    while words and count(" ".join(words)) > left:
        words.pop()
    return "".join(shown[place] for place in chosen) + " ".join(words)


def _shown(crumb: Breadcrumb, dated: bool) -> str:
    day = f"[{crumb.created_at.day} {crumb.created_at:%B %Y}]\n" if dated else ""
    return f"{day}{crumb.speaker}: {crumb.text}\n"


def _shares(answers: list[frozenset[str]], held: frozenset[str]) -> list[float]:
    """Of each answer the share of its words that are held."""
    return [len(answer & held) / len(answer) for answer in answers] or [0.0]
