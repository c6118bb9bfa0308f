"""Problems of a valid profile: order, content and names of its settings."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from builder.adapters.profiles.profiles import UNKNOWN_MODEL, ModelFacts, facts_of
from builder.assemble.items.section_sources import SOURCES
from builder.domain.breadcrumb import AGENT_RESPONSE, SUMMARY, TOOL_ERROR, TOOL_REQUEST, TOOL_RESPONSE, USER_MESSAGE
from builder.domain.lint_finding import Severity, nearest
from builder.domain.profile import Profile, SectionRule
from builder.domain.selector import SCHEMA_DEFINITION
from builder.domain.selector import schemas_of as schemas_of_triggers
from builder.remember.decode import BODIES

MIN_LIKENESS = 0.85
RANKS = {"static": 0, "slow": 1, "turn": 2}
DIALOGUE = frozenset({USER_MESSAGE, AGENT_RESPONSE, TOOL_REQUEST, TOOL_RESPONSE, TOOL_ERROR})
"""Every page may show them."""
NEVER_TRIGGERS = frozenset({SUMMARY})
"""Published with the replay header."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFacts:
    """Facts that a profile is checked against."""

    moving: Mapping[str, tuple[tuple[str, int], ...]]
    """Hint → its clocks, ids and counters, with lines."""
    models: Mapping[str, ModelFacts]
    overused: Callable[[str], str]
    """Text → problem; "" = none."""
    count: Callable[[str], Callable[[str], int]]
    """Encoding → text → tokens."""


class Finding(NamedTuple):
    """One problem of a profile."""

    setting: str
    """Dotted; a section by its name."""
    problem: str
    fix: str
    severity: Severity = "error"
    is_of_author: bool = False
    """Reported only for a file of the author."""


def lint_profile(profile: Profile, model: str | None, facts: LintFacts, as_preset: bool = False) -> Iterator[Finding]:
    """model: as in the file. as_preset: extending profiles fill its sections."""
    yield from _order(profile)
    yield from _stable(profile, facts)
    yield from _shares(profile)
    yield from _sections(profile)
    yield from () if as_preset else _empty(profile)
    yield from _names(profile, facts)
    yield from _model(profile, model, facts)
    yield from _own_words(profile, facts)
    yield from _hints(profile, facts)


def _order(profile: Profile) -> Iterator[Finding]:
    last: SectionRule | None = None
    for rule in (rule for rule in profile.sections if rule.source != "reminder"):
        if last is None or RANKS[rule.section_class] >= RANKS[last.section_class]:
            last = rule
            continue
        problem = f"class {rule.section_class} comes after {last.name!r}, whose class is {last.section_class}"
        yield Finding(_at(rule), problem, f"move it before {last.name!r}, or give it class: {last.section_class}", "note")


def _stable(profile: Profile, facts: LintFacts) -> Iterator[Finding]:
    stable = [rule for rule in profile.sections if rule.section_class != "turn"]
    for rule in stable:
        if SOURCES[rule.source].changes_every_turn:
            yield Finding(
                _at(rule),
                f"class {rule.section_class}, but source {rule.source} changes on every turn",
                "give it class: turn",
                "note",
            )
        if rule.dates == "age":
            yield Finding(
                _at(rule), "dates: age is a clock in a section that should stay the same", "use dates: true, the day", "note"
            )
        for schema in _schemas_in(profile, rule):
            hint = profile.hints.get(schema, schema)
            for name, line in facts.moving.get(hint, ()):
                line_of_hint = f"hints/{hint}.md.j2 line {line}"
                problem = f"{line_of_hint} shows {name}, a clock, id or counter, in a section of class {rule.section_class}"
                yield Finding(_at(rule), problem, f"take {name} out of the hint, or give the section class: turn", "note")
    for reminder in profile.reminders:
        if (reminder.every > 1 or reminder.when) and reminder.section in {rule.name for rule in stable}:
            problem = "a reminder comes and goes in a section that should stay the same"
            yield Finding(
                f"sections.{reminder.section}", problem, "give the section class: turn, or show the reminder always", "note"
            )


def _shares(profile: Profile) -> Iterator[Finding]:
    total = sum(rule.min_share for rule in profile.sections)
    if round(total, 6) > 1:
        yield Finding("sections", f"the values of min_share add up to {total:.2f}", "lower some until they add up to 1 at most")


def _sections(profile: Profile) -> Iterator[Finding]:
    sources = {rule.source: rule for rule in profile.sections}
    yield from _finds(profile, sources)
    yield from _summaries(profile, sources)
    if profile.pinned and "pinned" not in sources:
        yield Finding("pinned", "pinned breadcrumbs have no section", "add a section with source: pinned, or write pinned: []")
    if profile.system_prompt and "system" not in sources:
        yield Finding("system_prompt", "it has no section", "add a section with source: system")
    if not {"window", "conversation"} & sources.keys():
        yield Finding(
            "sections", "no section has source conversation or window: what was just said is never shown", "add one", "note"
        )


def _finds(profile: Profile, sources: Mapping[str, SectionRule]) -> Iterator[Finding]:
    searches = bool(profile.retrieval.schemas)
    of_finds = [sources[name] for name in ("retrieval", "elsewhere") if name in sources]
    if searches and not of_finds and "conversation" not in sources:
        yield Finding(
            "retrieval.schemas", "what is found has no section", "add a section with source: retrieval, or write schemas: []"
        )
    if not searches and of_finds:
        fix = "name retrieval.schemas, or take the section out"
        yield Finding(_at(of_finds[0]), "nothing is searched for it", fix, "note")


def _summaries(profile: Profile, sources: Mapping[str, SectionRule]) -> Iterator[Finding]:
    if profile.summaries and "summary" not in sources:
        yield Finding(
            "summaries", "summaries are made and shown nowhere", "add a section with source: summary, or write summaries: null"
        )
    if not profile.summaries and "summary" in sources:
        yield Finding(
            _at(sources["summary"]), "no summaries are made for it", "write summaries: {}, or take the section out", "note"
        )


def _empty(profile: Profile) -> Iterator[Finding]:
    reminder_sections = {reminder.section for reminder in profile.reminders}
    for rule in profile.sections:
        if rule.source == "pinned" and not _pinned_in(profile, rule):
            yield Finding(
                _at(rule), "nothing is in it", f"add to pinned what has section: {rule.name}, or take the section out", "note"
            )
        if rule.source == "reminder" and rule.name not in reminder_sections:
            fix = f"add one to reminders with section: {rule.name}, or take it out"
            yield Finding(_at(rule), "no reminder is in it", fix, "note", is_of_author=True)


def _names(profile: Profile, facts: LintFacts) -> Iterator[Finding]:
    schemas = BODIES.keys() | facts.moving.keys() | profile.hints.keys() | {SCHEMA_DEFINITION}
    settings: Mapping[str, Iterable[str]] = {
        "triggers": schemas_of_triggers(profile.triggers),
        "retrieval.schemas": profile.retrieval.schemas,
        "retrieval.per_schema_limit": profile.retrieval.per_schema_limit,
        "pinned": [name for pinned in profile.pinned for name in pinned.selector.schemas],
        "audience.schemas": profile.audience.schemas if profile.audience else (),
    }
    for setting, names in settings.items():
        for name in names:
            if name not in schemas:
                yield from _unknown(setting, name, schemas)
    yield from _triggers(profile)


def _unknown(setting: str, name: str, schemas: Collection[str]) -> Iterator[Finding]:
    """Of a schema that is none of the known ones."""
    if like := f"{name}.v1" if f"{name}.v1" in schemas else nearest(name, schemas, MIN_LIKENESS):
        yield Finding(setting, f"no schema is called {name!r}", f"write {like}")
    elif setting == "triggers":
        yield Finding(setting, f"no sender of {name!r} is known", f"mend the name, or add hints/{name}.md.j2 for it", "note")
    elif setting in {"retrieval.schemas", "pinned"}:
        problem = f"hints/{name}.md.j2 does not exist, so the generic hint shows {name!r}"
        yield Finding(setting, problem, "add the hint, or mend the name", "note")


def _triggers(profile: Profile) -> Iterator[Finding]:
    for name in schemas_of_triggers(profile.triggers):
        if profile.audience and profile.audience.schemas and name not in profile.audience.schemas:
            problem = f"audience.schemas leaves {name!r} out, so it never triggers"
            yield Finding("triggers", problem, "add it to audience.schemas, or take it out of triggers")
    for name in NEVER_TRIGGERS & {*schemas_of_triggers(profile.triggers)}:
        yield Finding("triggers", f"{name} never triggers", "take it out")


def _model(profile: Profile, model: str | None, facts: LintFacts) -> Iterator[Finding]:
    if model is not None and facts_of(model, facts.models) is UNKNOWN_MODEL:
        problem = f"{model!r} is not in models.yaml: a window of {UNKNOWN_MODEL.window:,} tokens is guessed"
        yield Finding("model", problem, f"add it there; the budget is {profile.budget:,} tokens now", "note")


def _own_words(profile: Profile, facts: LintFacts) -> Iterator[Finding]:
    always = [reminder.text for reminder in profile.reminders if reminder.every == 1 and not reminder.when]
    words = (profile.system_prompt, *always)
    # No token has less than a byte: tables of tokens are read for long texts only.
    is_long = sum(len(text.encode("utf-8", "replace")) for text in words) > profile.allowance
    tokens = sum(map(facts.count(profile.encoding), words)) if is_long else 0
    if tokens > profile.allowance:
        problem = f"system prompt and reminders have {tokens:,} tokens, the page {profile.allowance:,}"
        yield Finding("budget", problem, "raise the budget, or shorten them")
    texts = [("system_prompt", profile.system_prompt)]
    texts += [(f"reminders.{number}", reminder.text) for number, reminder in enumerate(profile.reminders)]
    for setting, text in texts:
        if problem := facts.overused(text):
            yield Finding(setting, problem, "keep the most important few: what is all loud is not heard", "note")


def _hints(profile: Profile, facts: LintFacts) -> Iterator[Finding]:
    hints, trusted = facts.moving.keys(), profile.trusted_hints
    schemas = BODIES.keys() | hints | {SCHEMA_DEFINITION}
    named_schemas = {"hints": tuple(profile.hints), "trusted_hints.schemas": trusted.schemas if trusted else ()}
    for setting, schema in ((setting, schema) for setting, names in named_schemas.items() for schema in names):
        if schema not in schemas and (near := nearest(schema, schemas, MIN_LIKENESS)):
            yield Finding(setting, f"no schema is called {schema!r}", f"write {near}")
    if trusted and trusted.sessions == "any" and not trusted.schemas:
        problem = "whoever may publish anything in a session decides how it is shown"
        yield Finding("trusted_hints", problem, "name the schemas whose senders you trust, or write sessions: none", "note")


def _at(rule: SectionRule) -> str:
    return f"sections.{rule.name}"


def _pinned_in(profile: Profile, rule: SectionRule) -> tuple[tuple[str, ...], ...]:
    first = next(section.name for section in profile.sections if section.source == "pinned")
    return tuple(pinned.selector.schemas for pinned in profile.pinned if (pinned.section or first) == rule.name)


def _schemas_in(profile: Profile, rule: SectionRule) -> tuple[str, ...]:
    if rule.source == "pinned":
        return tuple(schema for schemas in _pinned_in(profile, rule) for schema in schemas)
    return SOURCES[rule.source].schemas


def schemas_of(profile: Profile) -> frozenset[str] | None:
    """None = any, because of tags or ids."""
    schemas = {*profile.retrieval.schemas, *schemas_of_triggers(profile.triggers), *DIALOGUE}
    for selector in (*(pinned.selector for pinned in profile.pinned), *profile.triggers):
        if not selector.schemas:
            return None
        schemas.update(selector.schemas)
    for rule in profile.sections:
        schemas.update(SOURCES[rule.source].schemas)
    return frozenset(schemas)
