"""Random profiles for `bench invariants`: any preset with every setting of its page drawn at random."""

from dataclasses import replace
from random import Random
from zoneinfo import ZoneInfo

from builder.bench.invariants.random_texts import AGENT_IDS
from builder.bench.scratch import ENCODINGS, bundled_profiles
from builder.domain.breadcrumb import TOOL_ERROR, TOOL_RESPONSE
from builder.domain.page_settings import Window
from builder.domain.profile import Profile
from builder.domain.retrieval import Retrieval
from builder.domain.selector import Pinned, Selector, trigger_on
from builder.domain.tool_output import Cut, ToolOutput
from builder.extras.chat_formats.formats import FORMATS

USER_MESSAGE = "user.message.v1"
MAX_LIMIT = 40
"""Largest value of every limit."""
PROMPT = "You help people who fire kilns.\n\n## Rules\n- Be brief."
PLAIN_SHARE = 0.4
"""Of the profiles that name no limit of the conversation."""
HALVES_SHARE = 0.3
"""Of the profiles that have two sections instead of one conversation."""
ZONES = ("UTC", "Asia/Kathmandu", "America/Los_Angeles")


def draw_profile(rng: Random, need: int) -> Profile:
    """need: approximate tokens of the whole conversation."""
    plain = rng.random() < PLAIN_SHARE
    base = (
        next(profile for profile in bundled_profiles() if profile.consumer == "default")
        if plain
        else rng.choice(bundled_profiles())
    )
    base = _in_halves(base) if rng.random() < HALVES_SHARE else base
    stands = any(rule.source == "pinned" for rule in base.sections)
    pinned = Pinned(selector=Selector(all_tags=("pinned",)), keep=rng.choice(("latest", "all")), section="")
    return replace(
        base,
        triggers=(trigger_on(USER_MESSAGE), trigger_on(TOOL_RESPONSE), trigger_on(TOOL_ERROR)),
        agent=rng.choice((base.agent, AGENT_IDS[0], AGENT_IDS[0])),
        fill=rng.random() < 5 / 6,
        worth=rng.choice((base.worth, base.worth, None, rng.randint(1_000, 100_000))),
        window=base.window if plain else _window(base.window, rng),
        tool_output=base.tool_output if plain else _tool_output(base.tool_output, rng),
        retrieval=_retrieval(base.retrieval, rng),
        encoding=rng.choice(ENCODINGS),
        page=rng.choice(("default", "default", "xml")),
        budget=_budget(rng, need),
        reserve=0,
        margin=rng.choice((0.0, 0.0, 0.1)),
        on_overflow=rng.choice(("trim", "trim", "trim", "reject")),
        chat_format=rng.choice((None, *FORMATS.values())),
        time_zone=ZoneInfo(rng.choice(ZONES)),
        system_prompt=rng.choice(("", PROMPT)),
        audience=Selector(any_tags=("to:mira",)) if rng.random() < 1 / 8 else None,
        scope_to_task=rng.random() < 1 / 12,
        pinned=(*base.pinned, pinned) if stands and rng.random() < 1 / 3 else base.pinned,
        sections=tuple(
            replace(rule, dates=rng.choice((rule.dates, "day", "none", "age", "time")) if rule.dates != "none" else "none")
            for rule in base.sections
        ),
    )


HALVES = {
    "conversation": ("recent", "Recent Conversation", "window"),
    "elsewhere": ("relevant", "Relevant Earlier Messages", "retrieval"),
}
"""Source of a section → name, title and source of the one that a profile with two has instead."""


def _in_halves(base: Profile) -> Profile:
    """With a section for the newest conversation and one for what is found, where the profile has one conversation."""
    names = [HALVES.get(rule.source, (rule.name, rule.title, rule.source)) for rule in base.sections]
    sections = (
        replace(rule, name=name, title=title, source=source)
        for rule, (name, title, source) in zip(base.sections, names, strict=True)
    )
    return replace(base, sections=tuple(sections))


def _budget(rng: Random, need: int) -> int:
    """Seven in twelve are far too small, two about as large as the conversation needs, the others anything a profile allows."""
    match rng.randint(0, 11):
        case 0 | 1 | 2 | 3 | 4 | 5 | 6:
            return 100 + int(need * rng.uniform(0.1, 0.6))
        case 7 | 8:
            return 60 + int(need * rng.uniform(0.8, 1.3))
        case 9:
            return rng.randint(1, 10 * MAX_LIMIT)
        case 10:
            return rng.randint(10 * MAX_LIMIT, 100 * MAX_LIMIT)
        case _:
            return 4000


def _window(base: Window, rng: Random) -> Window:
    """Half of them have no limit."""
    units = rng.choice((base.max_units, None, rng.randint(1, MAX_LIMIT)))
    return replace(
        base,
        max_units=units,
        trim_to=rng.randint(1, units) if units else base.trim_to,
        max_tool_turns=rng.choice((base.max_tool_turns, None, None, 0, rng.randint(1, 4), rng.randint(1, MAX_LIMIT))),
    )


def _tool_output(base: ToolOutput, rng: Random) -> ToolOutput:
    cuts = Cut(results=rng.randint(1, 5), characters=rng.choice((None, rng.randint(1, MAX_LIMIT))))
    return replace(
        base,
        cut=rng.choice((base.cut, base.cut, cuts)),
        placeholder_after=rng.choice((None, None, rng.randint(1, 4), rng.randint(1, MAX_LIMIT))),
        fold_at=rng.choice((None, 0.05, 0.3, 0.7)),
        fold_keep=rng.randint(0, 6),
        newest_only=rng.random() < 1 / 3,
        old_tools=rng.choice(((), ("search", "bash"))),
        old_characters=rng.choice((rng.randint(1, MAX_LIMIT), 1500)),
    )


def _retrieval(base: Retrieval, rng: Random) -> Retrieval:
    return replace(
        base,
        scope=rng.choice((base.scope, base.scope, "workspace", ("s43",))),
        min_probability=rng.choice((None, base.min_probability, rng.random() ** 4)),
        similarity_threshold=rng.choice((base.similarity_threshold, 0.0, 0.2)),
        per_schema_limit=rng.choice((base.per_schema_limit, {"user.message.v1": 2})),
        neighbours=rng.choice((0, 0, rng.randint(1, 3))),
        max_results=rng.choice((base.max_results, rng.randint(1, MAX_LIMIT))),
    )
