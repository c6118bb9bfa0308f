"""Values for tests, made by plain functions: say what matters, the rest is ordinary."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any

import numpy as np

from builder.adapters.profiles.profiles import parse_profile
from builder.adapters.stemmer import load_terms
from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.tokens import load_counter
from builder.app.config import bundled_folder, load_library, read_layers
from builder.assemble.assemble import AssembledPage, begin, complete, context_of
from builder.assemble.draft import question_of
from builder.assemble.items.rendering import Rendering
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.phrases import Phrases
from builder.domain.profile import Profile
from builder.domain.selector import Pinned, Selector, trigger_on
from builder.domain.stored import Passage, StoredBreadcrumb
from builder.extras.rcrt.llm_hints.rendering import LlmHintRenderer
from builder.language.instructions import instructions
from builder.language.traits import traits
from builder.language.wording import fingerprint
from builder.recall.index.conversation import Turn, closed_turn
from builder.recall.index.history import History
from builder.recall.index.view import View, as_of
from builder.recall.questions import Questions
from builder.recall.recall import ConsumerRecall, visible_to
from builder.recall.scopes import scope_of
from builder.recall.search.chance import Calibration
from builder.recall.search.query import Query, content_words, identifier_terms, strip_names
from builder.recall.search.query import query_text as query_text_of
from builder.recall.search.ranking import Ranker, Weights
from builder.remember.decode import BODIES
from builder.remember.memory import passages
from tests.bodies import body_of
from tests.chat_copies import FORMAT_OF
from tests.lately import lately

MODEL, NO_QUESTIONS = "hashing/test/000000", Questions()
WIDTH, INCARNATION, FAR = 64, 1_700_000_000_000_000, Place(2**62, 0)
MORNING = datetime(2024, 5, 8, 9, 0, tzinfo=UTC)
WEIGHTS = {"context_words": 1.0, "similarity": 0.8, "episode_words": 0.4, "speaker": 2.0, "log_tokens": 0.5, "asks": -0.7}
ANSWER, AS_IT_IS = {"constant": 10.0}, Calibration(slope=1.0, first=0.0, constant=0.0)
BY_HAND = Ranker(
    hybrid=Weights(WEIGHTS, ANSWER, AS_IT_IS),
    words=Weights({name: weight for name, weight in WEIGHTS.items() if name != "similarity"}, ANSWER, AS_IT_IS),
)
"""Weights set by hand: tests must not depend on the weights that were learned last."""
make_terms = load_terms()
PHRASES = Phrases(templates_of(read_layers((bundled_folder("templates"),)))[2]["en"])


def left_out(number: int) -> str:
    """The mark of a cut, without an id."""
    return PHRASES("characters_left_out", number=number)


def make_place(sequence: int) -> Place:
    """A place in the stream that all tests share."""
    return Place(INCARNATION, sequence)


def make_breadcrumb(text: str = "We meet on Friday.", sequence: int = 1, **changes: Any) -> Breadcrumb:
    """A breadcrumb, said `sequence` minutes after the morning began. changes: any of its fields."""
    schema = str(changes.get("schema", "user.message.v1"))
    known = BODIES.get(schema)
    moment = changes.get("created_at", MORNING + timedelta(minutes=sequence))
    fields: dict[str, Any] = {
        "workspace": "acme",
        "session": "s42",
        "id": f"m{sequence}",
        "version": 1,
        "place": make_place(sequence),
        "schema": schema,
        "speaker": known.default_speaker if known else schema,
        "role": known.role if known else "other",
        "created_at": moment,
        "received_at": moment,
        "body": json.dumps(body_of(schema, text), ensure_ascii=False),
        "text": text,
    }
    return Breadcrumb(**(fields | changes))


def make_remembered(text: str = "We meet on Friday.", sequence: int = 1, **changes: Any) -> StoredBreadcrumb:
    """A breadcrumb with facts as ingestion makes them, vectors by `make_vector`."""
    return remembered_of(make_breadcrumb(text, sequence, **changes))


def remembered_of(breadcrumb: Breadcrumb, model: str = MODEL) -> StoredBreadcrumb:
    """The breadcrumb with its facts."""
    text = breadcrumb.text
    found = passages_of(text, by_person=breadcrumb.role == "user")
    return StoredBreadcrumb(breadcrumb=breadcrumb, passages=found, model=model, fingerprint=fingerprint(text))


@lru_cache(8192)
def passages_of(text: str, *, by_person: bool) -> tuple[Passage, ...]:
    """The passages of a text with their facts."""
    wishes = [found.start for found in instructions(text)] if by_person else []
    return tuple(
        Passage(
            start,
            end,
            make_terms(said),
            make_vector(said),
            load_counter("o200k_base")(said),
            traits(said, instructs=any(start <= wish < end for wish in wishes)),
        )
        for start, end in passages(text)
        for said in (text[start:end],)
    )


def bare(remembered: StoredBreadcrumb) -> StoredBreadcrumb:
    """The same as no engine has seen it."""
    return replace(remembered, passages=tuple(replace(held, vector=b"") for held in remembered.passages), model="")


def make_catalog(tools: int, sequence: int = 1, **changes: Any) -> StoredBreadcrumb:
    """A tool catalog of no session."""
    specs = [{"name": f"tool-{n}", "description": f"Does the thing number {n} for whoever asks. Slowly."} for n in range(tools)]
    text = "\n".join(f"{spec['name']}: {spec['description']}" for spec in specs)
    body = json.dumps({"tools": specs})
    return make_remembered(text, sequence, **({"schema": "tool.catalog.v1", "session": "_", "body": body} | changes))


def make_tombstone(removes: str, sequence: int, **changes: Any) -> StoredBreadcrumb:
    """A breadcrumb that deletes another one from its place on."""
    return make_remembered("", sequence, **({"schema": "breadcrumb.deleted.v1", "removes": removes} | changes))


def make_question(sequence: int, call: str = "r1", session: str = "s42") -> StoredBreadcrumb:
    """An agent asks a tool."""
    return make_remembered(
        "Let me look.",
        sequence,
        schema="agent.response.v1",
        session=session,
        calls=(call,),
        call_signatures=('{"tool":"look","input":{}}',),
    )


def make_answer(sequence: int, call: str = "r1", **changes: Any) -> StoredBreadcrumb:
    """What a tool answers, in no session."""
    fields = {"schema": "tool.response.v1", "session": "_", "calls": (call,)} | changes
    return make_remembered(f"Result {sequence}.", sequence, **fields)


def make_history(rows: Iterable[StoredBreadcrumb | str]) -> History:
    """A session. Plain strings become messages of User and Assistant in turn, numbered from 1."""
    history = History()
    extend(history, tuple(make_turn(row, n) if isinstance(row, str) else row for n, row in enumerate(rows, 1)))
    return history


known_history = lately(make_history)


def view_of(history: History, until: Place = FAR, session: str = "s42") -> View:
    """The history as of a place, seen from the session that the factories use."""
    return as_of(history, until, session)


def make_turn(text: str, sequence: int) -> StoredBreadcrumb:
    """The user speaks at odd sequences, the assistant at even ones."""
    return make_remembered(text, sequence, schema=("agent.response.v1", "user.message.v1")[sequence % 2])


def extend(history: History, rows: tuple[StoredBreadcrumb, ...]) -> None:
    list(history.extending(rows))


def make_view(rows: Iterable[StoredBreadcrumb | str]) -> View:
    """Everything that was said."""
    return view_of(known_history(rows))


def make_query(text: str, speakers: tuple[str, ...] = ()) -> Query:
    """What a trigger with this text asks."""
    asked, names = strip_names(text, speakers)
    content, exact = content_words(asked, make_terms), identifier_terms(asked, make_terms)
    terms, vector = tuple(dict.fromkeys(make_terms(asked).split())), make_vector(asked)
    return Query(text=asked, terms=terms, names=names, vector=vector, content=content, identifiers=exact)


def make_context(trigger: StoredBreadcrumb, rows: Iterable[StoredBreadcrumb | str], *arguments: Any, **named: Any) -> Context:
    """The page for a trigger after these rows; the other arguments are those of `make_assembly`."""
    return context_of(make_assembly(trigger, rows, *arguments, **named), MODEL)


def make_assembly(
    trigger: StoredBreadcrumb,
    rows: Iterable[StoredBreadcrumb | str],
    profile: Profile | None = None,
    standing: tuple[StoredBreadcrumb, ...] = (),
    asked: bytes | None = None,
    questions: Questions = NO_QUESTIONS,
) -> AssembledPage:
    """A page with the bundled templates and what it was made of. asked: another vector than the query's own.

    A tool's answer must close its turn.
    """
    profile, crumb = profile or make_profile(), trigger.breadcrumb
    view, turn = asked_view(trigger, rows)
    assert turn is not None, "this answer closes no turn"
    view = visible_to(view, profile, crumb, ())
    current = view.breadcrumb(entry.row) if turn and (entry := question_of(view, turn)) else crumb
    wanted = query_text_of(current.text, view, profile.retrieval, make_terms)
    made = make_query(wanted.text, tuple(view.history.breadcrumbs.speakers))
    question = replace(made, is_small_talk=wanted.is_small_talk, vector=made.vector if asked is None else asked)
    recall = ConsumerRecall(
        trigger=trigger.breadcrumb,
        view=view,
        pinned=tuple(tuple(row for row in standing if kind.selector.matches(row.breadcrumb)) for kind in profile.pinned),
        system_prompt=profile.system_prompt,
        profile=profile,
        terms=make_terms,
        scope=scope_of(crumb, profile),
        turn=turn,
        questions=questions,
    )
    return complete(begin(recall, make_rendering(profile.encoding)), question, BY_HAND)


def assemble(recall: ConsumerRecall, question: Query, rendering: Rendering) -> Context:
    """The page at one go."""
    return context_of(complete(begin(recall, rendering), question, BY_HAND), MODEL)


def asked_view(trigger: StoredBreadcrumb, rows: Iterable[StoredBreadcrumb | str]) -> tuple[View, Turn | None]:
    """What a trigger sees, and the calls to answer from when it is a tool's answer; None when that closes no turn."""
    crumb = trigger.breadcrumb
    if crumb.role != "tool":
        return view_of(known_history(rows), crumb.place, crumb.session), ()
    view = view_of(known_history((*rows, trigger)), session=crumb.session)
    return view, closed_turn(view, view.row_of(crumb.id))


def ids_on_page(context: Context) -> list[str]:
    """Ids of all fragments in page order."""
    return [held for section in context.sections for held in section.ids]


def make_rendering(encoding: str = "o200k_base") -> JinjaRendering:
    """The real one: bundled templates, true counts. New each time: it remembers fragments by place, and tests share places."""
    return JinjaRendering(_bundled_templates(), load_counter(encoding), hint_languages=[LlmHintRenderer])


def make_profile(name: str | Profile = "default", **changes: Any) -> Profile:
    """A bundled profile. changes: any of its fields; `window` and `retrieval` as a dict of theirs, `chat_format` by its name."""
    profile = _bundled_profile(name) if isinstance(name, str) else name
    for part in ("window", "retrieval"):
        if isinstance(changes.get(part), dict):
            changes[part] = replace(getattr(profile, part), **changes[part])
    if isinstance(name_of_format := changes.get("chat_format"), str):
        changes["chat_format"] = FORMAT_OF[name_of_format]
    for part, one in (("pinned", latest_of), ("triggers", trigger_on)):
        if part in changes:
            changes[part] = tuple(one(each) if isinstance(each, str) else each for each in changes[part])
    return replace(profile, **changes)


def latest_of(schema: str) -> Pinned:
    """The latest breadcrumb of a schema stands."""
    return Pinned(selector=Selector(schemas=(schema,)), keep="latest", section="")


@lru_cache(4096)
def make_vector(text: str) -> bytes:
    """A unit vector by hashing: the more terms two texts share the closer they are; no terms, no vector."""
    values = np.zeros(WIDTH)
    for term in make_terms(text).split():
        number = int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest())
        values[number % WIDTH] += 1 if number & 1 << 40 else -1
    return (values / length).astype("<f2").tobytes() if (length := float(np.linalg.norm(values))) else b""


@cache
def _bundled_templates() -> TemplateSet:
    return TemplateSet(*templates_of(read_layers((bundled_folder("templates"),))))


@cache
def _bundled_profile(name: str) -> Profile:
    folder = bundled_folder("templates")
    return parse_profile(name, (folder / "profiles" / f"{name}.yaml").read_text("utf-8"), load_library(read_layers((folder,))))
