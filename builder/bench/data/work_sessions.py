"""The sessions of `bench pages`: one YAML file a session in `work/`, expanded with chatter that templates make.

A person wrote the messages that matter and the questions. Templates with slots write the rest, the same at each load.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby, islice
from random import Random
from re import Match
from re import compile as pattern_of
from typing import Any

import yaml
from pydantic import AwareDatetime, Field, ValidationError

from builder.bench.data.answer_sessions import TOOL, Part, Question, Session, no_session, session_texts
from builder.domain.errors import Misconfigured

GENERATED = "g"
"""First letter of the ids of messages that templates make; a person's have `m`."""
_FOLDER = "work"
_SLOT = pattern_of(r"\{([A-Za-z][a-z_]*)\d*\}")
"""`{part}`; `{part2}` is another word of that list, `{Part}` the first one with a capital letter.

A word is the same in all messages of an exchange. Each line of a table has words of its own, those of the call excepted.
"""
_TRIES = 9
"""Draws until an exchange is new."""


class Numbers(Part):
    """A slot of numbers from `low` to `high`."""

    low: int
    high: int
    width: int = Field(0, description="digits at least, with zeros in front")


class Table(Part):
    """Lines of a result that are made of one template, each with its own words; they are sorted, and none comes twice."""

    row: str
    least: int
    most: int
    joint: str = "\n"
    tail: str = Field("", description="stands behind the lines")


class Line(Part):
    """A message, and where it calls a tool the result too."""

    speaker: str = Field(alias="from")
    text: str = ""
    tool: str = ""
    input: Mapping[str, str] = {}
    result: str = ""
    table: Table | None = None
    failed: bool = False
    place: float | None = Field(None, ge=0, le=1, description="share of the chatter before it; none = follows its predecessor")


class Plan(Part):
    """A file."""

    language: str
    work: str
    held_out: bool
    agents: tuple[str, ...] = ()
    start: AwareDatetime
    days: int = Field(1, ge=1, description="days of work, each at the hour of the start")
    apart: int = Field(1, ge=1, description="days from a day of work to the next one")
    seconds: int = Field(60, ge=1, description="from a message to the next one of the same day")
    exchanges: int = Field(ge=0, description="of chatter; each uses one template")
    messages: tuple[Line, ...]
    chatter: tuple[tuple[Line, ...], ...] = Field(min_length=1)
    slots: Mapping[str, Numbers | tuple[str, ...]]
    questions: tuple[Question, ...]


class Writer:
    """Fills templates with words, always the same ones for the same name."""

    def __init__(self, name: str, plan: Plan) -> None:
        self._name = name
        self._plan = plan
        self._random = Random(name)

    def exchanges(self) -> Iterator[tuple[Line, ...]]:
        """Without end: each template once in a new order, then again. An exchange comes twice only after nine draws."""
        texts: set[str] = set()
        while True:
            for template in self._random.sample(self._plan.chatter, len(self._plan.chatter)):
                for _ in range(_TRIES):
                    exchange = self.lines(template)
                    if str(exchange) not in texts:
                        break
                texts.add(str(exchange))
                yield exchange

    def lines(self, template: tuple[Line, ...]) -> tuple[Line, ...]:
        """The lines with words in their slots and their tables written out."""
        words: dict[str, str] = {}
        return tuple(self._line(line, words) for line in template)

    def _line(self, line: Line, words: dict[str, str]) -> Line:
        arguments = {key: self._fill(value, words) for key, value in line.input.items()}
        slots = {slot[0].lower() for value in line.input.values() for slot in _SLOT.finditer(value)}
        of_call = {slot: words[slot] for slot in slots}
        result = self._fill(line.result, words)
        if line.table:
            count = self._random.randint(line.table.least, line.table.most)
            rows = sorted({self._fill(line.table.row, of_call.copy()) for _ in range(count)})
            parts = (result, line.table.joint.join(rows), self._fill(line.table.tail, words))
            result = "\n".join(filter(None, parts))
        return line.model_copy(update={"text": self._fill(line.text, words), "input": arguments, "result": result, "table": None})

    def _fill(self, text: str, words: dict[str, str]) -> str:
        def word(slot: Match[str]) -> str:
            name = slot[0].lower()
            if name not in words:
                words[name] = self._fill(self._draw(slot[1].lower(), words.values()), words)
            return words[name] if slot[0] == name else words[name][:1].upper() + words[name][1:]

        return _SLOT.sub(word, text)

    def _draw(self, slot: str, others: Collection[str]) -> str:
        if slot not in self._plan.slots:
            raise Misconfigured(f"{_FOLDER}/{self._name}.yaml is not a session: slots: none is named {slot!r}")
        words = self._plan.slots[slot]
        if isinstance(words, Numbers):
            return str(self._random.randint(words.low, words.high)).zfill(words.width)
        return self._random.choice([word for word in words if word not in others] or words)


def load(name: str = "") -> tuple[Session, ...]:
    """The sessions by name, or the one of this name. Raises `Misconfigured`."""
    return tuple(parse(each, text) for each, text in session_texts(_FOLDER, name).items())


def parse(name: str, text: str) -> Session:
    """A session from the text of its file. Raises `Misconfigured` that names each wrong field."""
    try:
        plan = Plan.model_validate(yaml.load(text, yaml.CSafeLoader))
        return _session(name, plan)
    except ValidationError as error:
        raise no_session(f"{_FOLDER}/{name}", error) from error


def _session(name: str, plan: Plan) -> Session:
    messages = [message for letter, number, line in _lines(name, plan) for message in _messages(f"{letter}{number}", line)]
    for message, at in zip(messages, _times(plan, [message["from"] == TOOL for message in messages]), strict=True):
        message["at"] = at
    head = plan.model_dump(include={"language", "work", "held_out", "agents"})
    return Session.model_validate({"name": name, **head, "messages": messages, "questions": plan.questions})


def _lines(name: str, plan: Plan) -> Iterator[tuple[str, int, Line]]:
    """The first letter of its id, its number and the line, in order: what a person wrote between the chatter."""
    writer = Writer(name, plan)
    chatter = writer.exchanges()
    own, chat, progress = 0, 0, 0
    for place, line in (*((line.place, line) for line in plan.messages), (1.0, None)):
        due = progress if place is None else round(place * plan.exchanges)
        for exchange in islice(chatter, max(due - progress, 0)):
            for each in exchange:
                chat += 1
                yield GENERATED, chat, each
        progress = max(due, progress)
        if line:
            own += 1
            yield "m", own, writer.lines((line,))[0]


def _messages(id_: str, line: Line) -> Iterator[dict[str, Any]]:
    """The message, and the result of its call."""
    call = {"tool": line.tool, "input": line.input, "requestId": f"call-{id_}"}
    yield {"id": id_, "from": line.speaker, "text": line.text, "calls": [call] if line.tool else []}
    if line.tool:
        yield {"id": f"{id_}r", "from": TOOL, "text": line.result, "result_of": f"call-{id_}", "failed": line.failed}


def _times(plan: Plan, results: Sequence[bool]) -> Iterator[datetime]:
    """About the same number of messages each day; a result comes on the day of its call."""
    days = ((number - result) * plan.days // len(results) for number, result in enumerate(results))
    for day, messages in groupby(days):
        for position, _ in enumerate(messages):
            yield plan.start + timedelta(days=day * plan.apart, seconds=position * plan.seconds)
