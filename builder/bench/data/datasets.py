"""Labelled conversations: data set files (format in builder/docs/benchmarks.md) and the bundled sample in the same form."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.errors import Misconfigured
from builder.extras.demo.sample import sample_lines, sample_questions
from builder.recall.index.breadcrumb_table import EPISODE_GAP
from builder.remember.decode import decode
from builder.service import ContextBuilder
from builder.wire.records import Outgoing, make_record, outgoing, read_lines

SAMPLE = "sample"
WORKSPACE = "bench"
"""Every conversation is its own workspace: ids are unique inside a workspace only, and conversations share theirs."""
PERSON = "person"
"""The `user_id` of whoever asks, where conversations are sessions of one person."""
QUESTION_DELAY = timedelta(seconds=60)
"""After the last message, where a question has no time of its own."""
SUMMARY_ROOM = 100_000
"""Sequences between a conversation's end and its questions: room for the summaries that the service publishes itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A labelled question."""

    id: str
    trigger: Breadcrumb
    """The question as a breadcrumb, with the place of the end of its conversation."""
    evidence: tuple[str, ...]
    """Ids of the breadcrumbs that answer it."""
    category: str
    evidence_sessions: tuple[tuple[str, ...], ...] = ()
    """Where the source names sessions, too: the breadcrumbs of each session that answers it."""
    answer: str = ""
    """The right answer; "" where the data set has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Breadcrumbs in place order, and the questions asked after the last of them."""

    session: str
    breadcrumbs: tuple[Breadcrumb, ...]
    questions: tuple[Question, ...]

    @property
    def ends(self) -> tuple[Breadcrumb, ...]:
        """The last breadcrumb of each session in it."""
        return tuple({crumb.session: crumb for crumb in self.breadcrumbs}.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A named set of conversations."""

    name: str
    conversations: tuple[Conversation, ...]

    @property
    def messages(self) -> int:
        """How many breadcrumbs there are."""
        return sum(len(conversation.breadcrumbs) for conversation in self.conversations)

    @property
    def question_count(self) -> int:
        """How many questions there are."""
        return sum(len(conversation.questions) for conversation in self.conversations)


def load(source: str) -> Dataset:
    """Read a data set file, or the bundled sample when `source` is "sample". Raises `Misconfigured`."""
    if source == SAMPLE:
        return _sample()
    try:
        data = json.loads(Path(source).read_text("utf-8"))
        return Dataset(name=data["name"], conversations=tuple(map(_conversation, data["conversations"])))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Misconfigured(f"{source} is not a data set: {error!r}; the format is in builder/docs/benchmarks.md") from error


async def remember(builder: ContextBuilder, conversation: Conversation, step: Callable[[], None]) -> None:
    """Store a conversation. step: called after each message."""
    for breadcrumb in conversation.breadcrumbs:
        await builder.remember(breadcrumb)
        step()


def spaced(dataset: Dataset) -> Dataset:
    """The same with room for summaries between any two messages."""

    def apart(crumb: Breadcrumb) -> Breadcrumb:
        return replace(crumb, place=Place(crumb.place.incarnation, crumb.place.sequence * SUMMARY_ROOM))

    return replace(
        dataset,
        conversations=tuple(
            Conversation(
                session=conversation.session,
                breadcrumbs=tuple(map(apart, conversation.breadcrumbs)),
                questions=tuple(replace(question, trigger=apart(question.trigger)) for question in conversation.questions),
            )
            for conversation in dataset.conversations
        ),
    )


def pieces(conversation: Conversation, size: int) -> Iterator[Conversation]:
    """The conversation cut into conversations of so many messages, each a workspace, with the questions that it answers alone."""
    for start in range(0, len(conversation.breadcrumbs), size):
        part = conversation.breadcrumbs[start : start + size]
        workspace, ids = f"{part[0].workspace}-{size}-{start}", {crumb.id for crumb in part}
        yield Conversation(
            session=conversation.session,
            breadcrumbs=tuple(replace(crumb, workspace=workspace) for crumb in part),
            questions=tuple(
                replace(question, trigger=replace(question.trigger, workspace=workspace), evidence_sessions=())
                for question in conversation.questions
                if ids.issuperset(question.evidence)
            ),
        )


def pooled(dataset: Dataset, asking: str = "") -> Dataset:
    """All conversations as sessions of one workspace, one after the other; every question is asked after the last of them.

    asking: the session of all questions; "" = each is asked in its own.
    """
    breadcrumbs: list[Breadcrumb] = []
    for conversation in dataset.conversations:
        for crumb in conversation.breadcrumbs:
            place = Place(1, len(breadcrumbs) + 1)
            breadcrumbs.append(replace(crumb, workspace=WORKSPACE, place=place, id=_prefixed(conversation, crumb.id)))
    end = Place(1, len(breadcrumbs) + 1)
    sessions = []
    for conversation in dataset.conversations:
        questions = (
            replace(
                question,
                trigger=replace(question.trigger, workspace=WORKSPACE, place=end, session=asking or question.trigger.session),
                evidence=tuple(_prefixed(conversation, id_) for id_ in question.evidence),
                evidence_sessions=tuple(
                    tuple(_prefixed(conversation, id_) for id_ in session) for session in question.evidence_sessions
                ),
            )
            for question in conversation.questions
        )
        own = tuple(crumb for crumb in breadcrumbs if crumb.session == conversation.session)
        sessions.append(Conversation(session=conversation.session, breadcrumbs=own, questions=tuple(questions)))
    return Dataset(name=f"{dataset.name}, pooled", conversations=tuple(sessions))


def of_one_person(dataset: Dataset) -> Dataset:
    """Each conversation as many sessions of one person, a session an episode; every question is asked in a new one."""
    return replace(dataset, conversations=tuple(map(_of_one_person, spaced(dataset).conversations)))


def _of_one_person(conversation: Conversation) -> Conversation:
    breadcrumbs: list[Breadcrumb] = []
    episode, latest = 0, conversation.breadcrumbs[0].created_at
    workspace = f"{conversation.breadcrumbs[0].workspace}-{PERSON}"  # the weights may be learned from the conversation as a whole
    for crumb in conversation.breadcrumbs:
        episode += crumb.created_at - latest > EPISODE_GAP
        latest = max(latest, crumb.created_at)
        user = PERSON if crumb.role == "user" else ""
        breadcrumbs.append(replace(crumb, workspace=workspace, session=f"{conversation.session}-{episode}", user_id=user))
    questions = (
        replace(
            question,
            trigger=replace(question.trigger, workspace=workspace, session=f"{conversation.session}-question", user_id=PERSON),
        )
        for question in conversation.questions
    )
    return replace(conversation, breadcrumbs=tuple(breadcrumbs), questions=tuple(questions))


def _prefixed(conversation: Conversation, breadcrumb: str) -> str:
    return f"{conversation.session}:{breadcrumb}"


def _sample() -> Dataset:
    questions = sample_questions()
    breadcrumbs = breadcrumbs_of(read_lines(sample_lines(), WORKSPACE))
    return Dataset(name=questions["name"], conversations=(_labelled(SAMPLE, breadcrumbs, questions["questions"], {}),))


def _conversation(data: dict[str, Any]) -> Conversation:
    workspace = f"{WORKSPACE}-{data['session_id']}"
    session = data["session_id"]
    messages = (
        make_record(
            "user.message.v1" if message["role"] == "user" else "agent.response.v1",
            message["id"],
            session,
            {"content": message["text"], "speaker": message["speaker"]},
            created_at=datetime.fromisoformat(message["created_at"]),
        )
        for message in data["messages"]
    )
    breadcrumbs = breadcrumbs_of(outgoing(message, workspace) for message in messages)
    ids: dict[str, list[str]] = {}
    for message in data["messages"]:
        ids.setdefault(message.get("session", ""), []).append(message["id"])
    return _labelled(session, breadcrumbs, data["questions"], ids)


def breadcrumbs_of(events: Iterable[Outgoing]) -> tuple[Breadcrumb, ...]:
    """Decode events as if a stream had numbered them; the stream time is the sender's."""
    placed = []
    for sequence, event in enumerate(events, 1):
        moment = datetime.fromisoformat(json.loads(event.data)["created_at"])
        placed.append(decode(event.arrive(Place(1, sequence), moment)))
    return tuple(placed)


def _labelled(
    session: str, breadcrumbs: tuple[Breadcrumb, ...], questions: list[dict[str, Any]], ids: Mapping[str, list[str]]
) -> Conversation:
    """ids: session of the source → ids of its messages."""
    end = breadcrumbs[-1]
    after, place = end.created_at + QUESTION_DELAY, Place(1, end.place.sequence + SUMMARY_ROOM)

    def trigger(question: dict[str, Any]) -> Breadcrumb:
        body = {"content": question["query"]}
        moment = datetime.fromisoformat(question["asked_at"]) if "asked_at" in question else after
        record = make_record("user.message.v1", f"question-{question['id']}", session, body, created_at=moment)
        return decode(outgoing(record, end.workspace).arrive(place, moment))

    return Conversation(
        session=session,
        breadcrumbs=breadcrumbs,
        questions=tuple(
            Question(
                id=item["id"],
                trigger=trigger(item),
                evidence=tuple(item["evidence"]),
                category=item["category"],
                evidence_sessions=tuple(tuple(ids[each]) for each in item.get("evidence_sessions", ())),
                answer=str(item.get("answer") or ""),
            )
            for item in questions
        ),
    )
