"""Short facts of one person each, and questions about them in other words: what a newcomer tries first."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any

from builder.bench.data.datasets import QUESTION_DELAY, SUMMARY_ROOM, WORKSPACE, Conversation, Dataset, Question, breadcrumbs_of
from builder.domain.breadcrumb import Place
from builder.remember.decode import decode
from builder.wire.records import make_record, outgoing

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
PAUSE = timedelta(seconds=20)
"""Between two facts."""


def load() -> tuple[Dataset, ...]:
    """A data set a language; each person is a conversation, of what they alone said."""
    people = json.loads((files("builder.bench.data") / "facts.json").read_text("utf-8"))["people"]
    languages = dict.fromkeys(person["language"] for person in people)
    return tuple(
        Dataset(
            name=f"facts, {language}",
            conversations=tuple(_conversation(person) for person in people if person["language"] == language),
        )
        for language in languages
    )


def _conversation(person: Mapping[str, Any]) -> Conversation:
    session, workspace = person["id"], f"{WORKSPACE}-facts-{person['id']}"

    def record(name: str, text: str, moment: datetime) -> dict[str, Any]:
        return make_record("user.message.v1", name, session, {"content": text}, created_at=moment, user_id=session)

    events = [record(fact["id"], fact["text"], START + number * PAUSE) for number, fact in enumerate(person["facts"])]
    crumbs = breadcrumbs_of(outgoing(event, workspace) for event in events)
    moment, place = crumbs[-1].created_at + QUESTION_DELAY, Place(1, crumbs[-1].place.sequence + SUMMARY_ROOM)
    questions = (
        Question(
            id=f"{session}-{number}",
            trigger=decode(outgoing(record(f"question-{number}", each["text"], moment), workspace).arrive(place, moment)),
            evidence=(each["fact"],),
            category=person["language"],
        )
        for number, each in enumerate(person["questions"])
    )
    return Conversation(session=session, breadcrumbs=crumbs, questions=tuple(questions))
