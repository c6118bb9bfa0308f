"""The sessions of `bench answers`: one YAML file a session in `answers/`, and how it becomes a conversation.

The fields of a file are those of `Session`; builder/docs/benchmarks.md says how to write one.
"""

from dataclasses import replace
from datetime import date
from functools import cached_property
from importlib.resources import files
from re import IGNORECASE, Pattern, search
from typing import Any, Literal

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import override

from builder.bench.data.datasets import QUESTION_DELAY, SUMMARY_ROOM, WORKSPACE, Conversation, Dataset, breadcrumbs_of
from builder.bench.data.datasets import Question as Labelled
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured
from builder.domain.summary import KeptLine, Utterance
from builder.ports.models import Summarizer
from builder.remember.decode import decode
from builder.remember.schemas.conversation import ToolCall
from builder.wire.records import make_record, outgoing

OWN_SESSIONS = "answers"
"""Name of the data set that the sessions make."""
USER, ASSISTANT, TOOL = "user", "assistant", "tool"
"""Who speaks without a name."""
Kind = Literal[
    "far", "superseded", "several", "list", "time", "assistant", "order", "broad", "follow_up", "rule", "never", "small_talk"
]
"""Small talk is no question of a file: each session is told some."""


class Part(BaseModel):
    """Of a file of a session."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Message(Part):
    """Something said, or the result of a call."""

    id: str
    at: AwareDatetime
    speaker: str = Field(alias="from", description="user, assistant, tool, or a name")
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    result_of: str = Field("", description="of a tool: `requestId` of the call")
    failed: bool = Field(False, description="of a tool: the call failed")


class Question(Part):
    """A message that asks for a page, and what tells a page that answers it."""

    kind: Kind
    text: str
    speaker: str = Field(USER, alias="from")
    after: str = Field("", description="id of the message that it follows; empty = the last one")
    needs: tuple[Pattern[str], ...] = Field((), description="all of them are on a page that answers, case and spaces ignored")
    misleads: tuple[Pattern[str], ...] = Field((), description="on a page that does not answer, one of them misleads")


class Observation(Part):
    """A fact of the session in 10 to 15 tokens, as an LLM would note it."""

    id: str
    at: date
    subject: str
    text: str
    replaces: tuple[str, ...] = Field((), description="ids of the observations that it makes out of date")
    stands_for: tuple[str, ...] = Field(description="ids of the messages that say it")


class Session(Part):
    """A session of real work with its questions. Ids are unique inside their list."""

    name: str
    language: str
    work: str
    held_out: bool = Field(description="set aside: never looked at while the engine is tuned")
    agents: tuple[str, ...] = Field((), description="names that are agents; all other names are people")
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]
    observations: tuple[Observation, ...] = ()

    @cached_property
    def conversation(self) -> Conversation:
        """Breadcrumbs with room for summaries at the end, and a trigger for each question in the same order."""
        workspace = f"{WORKSPACE}-answers-{self.name}"
        crumbs = breadcrumbs_of(outgoing(self._record(message), workspace) for message in self.messages)
        last = {crumb.id: crumb for crumb in crumbs} | {"": crumbs[-1]}

        def labelled(name: str, question: Question) -> Labelled:
            room, moment = 0 if question.after else SUMMARY_ROOM, last[question.after].created_at + QUESTION_DELAY
            message = Message(id=f"question-{name}", at=moment, speaker=question.speaker, text=question.text)
            place = Place(1, last[question.after].place.sequence + room)
            trigger = decode(outgoing(self._record(message), workspace).arrive(place, moment))
            return Labelled(id=name, trigger=trigger, evidence=(), category=question.kind)

        questions = (labelled(str(number), question) for number, question in enumerate(self.questions, 1))
        return Conversation(session=self.name, breadcrumbs=crumbs, questions=tuple(questions))

    def _record(self, message: Message) -> dict[str, Any]:
        """The message as its sender would publish it."""
        speaker, schema, user = message.speaker, "user.message.v1", ""
        body: dict[str, Any] = {"content": message.text}
        if speaker == TOOL:
            schema, status = "tool.response.v1", "failed" if message.failed else "success"
            tools = {call.request_id: call.tool for each in self.messages for call in each.calls}
            call = {"tool": tools[message.result_of], "request_id": message.result_of}
            body = call | {"status": status, "output": message.text}
        elif speaker == ASSISTANT or speaker in self.agents:
            schema, calls = "agent.response.v1", [call.model_dump(by_alias=True) for call in message.calls]
            who = {} if speaker == ASSISTANT else {"speaker": speaker, "creator": {"type": "agent", "agent_id": speaker.lower()}}
            body |= {"tool_requests": calls} | who
        elif speaker != USER:
            body, user = body | {"speaker": speaker}, speaker.lower()
        return make_record(schema, message.id, self.name, body, created_at=message.at, user_id=user)


class LabelledObservations(Summarizer):
    """What a language model would write of a session at best."""

    name = "labels"

    def __init__(self, session: Session) -> None:
        self._observations = session.observations

    @override
    async def summarise(self, lines: tuple[KeptLine, ...], utterances: tuple[Utterance, ...], cap: int) -> tuple[KeptLine, ...]:
        ids = {utterance.id for utterance in utterances}
        return tuple(
            KeptLine(
                text=f"{each.subject}: {each.text}",
                day=f"{each.at.day} {each.at:%B %Y}",
                ids=each.stands_for,
                versions=(1,) * len(each.stands_for),
                id=each.id,
                subject=each.subject,
                replaces="".join(each.replaces[-1:]),
            )
            for each in self._observations
            if each.stands_for[-1] in ids
        )


def load(name: str = "") -> tuple[Session, ...]:
    """The sessions by name, or the one of this name. Raises `Misconfigured`."""
    return tuple(parse(each, text) for each, text in session_texts(OWN_SESSIONS, name).items())


def session_texts(folder: str, name: str) -> dict[str, str]:
    """Name → text of the files of a folder beside this module, sorted; "" = of all. Raises `Misconfigured`."""
    every = (files("builder.bench.data") / folder).iterdir()
    texts = {file.name.removesuffix(".yaml"): file.read_text("utf-8") for file in sorted(every, key=lambda file: file.name)}
    if name and name not in texts:
        raise Misconfigured(f"no session is named {name!r}; write one of {', '.join(texts)}")
    return {each: text for each, text in texts.items() if name in {"", each}}


def no_session(file: str, error: ValidationError) -> Misconfigured:
    """Names each wrong field of a file."""
    faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
    return Misconfigured(f"{file}.yaml is not a session: {faults}")


def labelled(*, held_out: bool) -> Dataset:
    """The sessions as a data set: evidence is each message that has something of what a question needs."""
    sessions = [session for session in load() if session.held_out == held_out]
    return Dataset(
        name=f"{OWN_SESSIONS}, held out" if held_out else OWN_SESSIONS, conversations=tuple(map(_with_evidence, sessions))
    )


def _with_evidence(session: Session) -> Conversation:
    conversation = session.conversation
    texts = {crumb.id: " ".join(crumb.text.split()) for crumb in conversation.breadcrumbs}

    def evidence(question: Question) -> tuple[str, ...]:
        return tuple(id_ for id_, text in texts.items() if any(search(each.pattern, text, IGNORECASE) for each in question.needs))

    labels = zip(conversation.questions, session.questions, strict=True)
    return replace(conversation, questions=tuple(replace(each, evidence=evidence(question)) for each, question in labels))


def parse(name: str, text: str) -> Session:
    """A session from the text of its file. Raises `Misconfigured` that names each wrong field."""
    try:
        return Session.model_validate({"name": name, **yaml.load(text, yaml.CSafeLoader)})
    except ValidationError as error:
        raise no_session(f"{OWN_SESSIONS}/{name}", error) from error
