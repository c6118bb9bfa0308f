"""Context → the bytes of `agent.context.v1`: RCRT's field names and ours, `assembly` first. The worker publishes them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

from builder.domain.breadcrumb import AGENT_CONTEXT
from builder.domain.context import RECENT, Context
from builder.domain.errors import Rejected
from builder.publish.reports import DIGITS, READ_MODEL, CompactionV1

EMPTY_PREFIX = blake2b(b"", digest_size=8).hexdigest()
DEFAULT_MAX_BYTES = 8 * 1_048_576
STRICT_MODEL = ConfigDict(extra="forbid", frozen=True)


class Assembly(BaseModel):
    """How the page was made. ASCII, because a reader of RCRT cuts the first 200 bytes."""

    model_config = STRICT_MODEL
    profile: str = Field(description="revision of the profile")
    templates: str = Field(description="revision of the templates")
    prefix: str = Field(description="hash of the sections that are not per-turn: equal hash, equal prompt prefix")
    tokenizer: str = Field(description="encoding that the tokens are counted in")
    budget: int = Field(description="most tokens of the page")
    margin: float = Field(0, description="share of them kept free")
    model: str = Field(description="engine and weights of the vectors; none when the service runs without an engine")
    flags: tuple[str, ...] = Field(
        (),
        description="what was out of the ordinary. degraded: no engine was there for the trigger, words and fields alone were "
        "asked. vectors_missing: some breadcrumbs in scope had no vectors yet. "
        "hint_failed: something is shown by the generic hint, its omission says why. page_failed: a bundled page "
        "template stepped in. "
        "no_user: the profile looks into the memory of a person, and the trigger has no user_id. "
        "No second context follows a flagged one",
    )
    as_of: int | None = Field(
        None,
        description="with `debounce`: stream sequence of the last message within the quiet time; the page has what came up to it",
    )


def _rounded(probabilities: Mapping[str, float] | None) -> dict[str, float] | None:
    return {name: round(value, DIGITS) for name, value in probabilities.items()} if probabilities else None


def _rounded_one(probability: float | None) -> float | None:
    return None if probability is None else round(probability, DIGITS)


class SectionV1(BaseModel):
    """One section of the page."""

    model_config = READ_MODEL
    name: str
    section_class: str = Field(alias="class", description="static, slow or turn")
    tokens: int
    ids: tuple[str, ...] = Field(description="breadcrumbs in it, in page order")
    tokens_by_id: dict[str, int] = Field({}, description="tokens that it shows of each; headings and date lines are nobody's")
    probability_by_id: Annotated[dict[str, float] | None, BeforeValidator(_rounded)] = Field(
        None, description="of what was found: the probability that it answers the trigger, by which it was chosen"
    )


class BreakpointV1(BaseModel):
    """Where a prompt cache may cut the page: equal hash, equal beginning."""

    model_config = READ_MODEL
    name: str = Field(description="static, slow: behind the sections of this class; recent: behind the recent conversation")
    characters: int = Field(description="characters of `content` in front of it")
    tokens: int = Field(description="tokens of them")
    prefix: str = Field(description="hash of them")


class OmissionV1(BaseModel):
    """What is not on the page, or not all of it, and why."""

    model_config = READ_MODEL
    id: str
    reason: str
    tokens: int = Field(description="tokens of all of it, by stored counts where nothing of it was rendered")
    shown: int = Field(0, validation_alias=AliasChoices("shown", "tokens_shown"), description="tokens of them on the page")
    probability: Annotated[float | None, BeforeValidator(_rounded_one)] = Field(
        None, description="that it answers the trigger; missing where no search asked"
    )


class Omissions(BaseModel):
    """What is on the page in part, the 50 most relevant of what is not on it, and all of both counted by reason."""

    model_config = STRICT_MODEL
    partial: tuple[OmissionV1, ...] = Field((), description="cut, folded, neutralised, or shown by another hint")
    most_relevant: tuple[OmissionV1, ...]
    by_reason: dict[str, int] = Field(description="how many breadcrumbs are not on the page, or in part, by reason")
    count: int = Field(0, description="how many breadcrumbs are not on the page; those in part are not counted")
    tokens: int = Field(0, description="tokens of them, by stored counts")


class ContextEvent(BaseModel):
    """The one context of a trigger for a consumer."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "examples": [
                {
                    "assembly": {
                        "profile": "3f0c9a51",
                        "templates": "a1b2c3d4",
                        "prefix": "5f6e7d8c",
                        "tokenizer": "o200k_base",
                        "budget": 4000,
                        "margin": 0.0,
                        "model": "all-MiniLM-L6-v2/int8/0a1b2c3d4e5f",
                        "flags": [],
                    },
                    "id": "8c1cbb1e-52b3-5d0e-9d0c-6a2f4c3b2a10",
                    "schema_name": AGENT_CONTEXT,
                    "workspace": "default",
                    "consumer_id": "default",
                    "session_id": "s42",
                    "trigger_event_id": "m110",
                    "trigger_seq": 118,
                    "assembled_at": "2026-11-21T10:00:00Z",
                    "token_estimate": 16,
                    "token_count": 16,
                    "token_budget": 4000,
                    "content": "## Current User Message\n- User: Where do I set the API key?\n",
                    "formatted_context": "## Current User Message\n- User: Where do I set the API key?\n",
                    "breadcrumb_count": 1,
                    "sources_assembled": 1,
                    "sections": [
                        {"name": "current", "class": "turn", "tokens": 16, "ids": ["m110"], "tokens_by_id": {"m110": 10}}
                    ],
                    "breakpoints": [],
                    "omissions": {"partial": [], "most_relevant": [], "by_reason": {}, "count": 0, "tokens": 0},
                }
            ]
        },
    )
    assembly: Assembly
    id: str = Field(description="UUIDv5 of workspace, session, trigger and consumer")
    schema_name: str = AGENT_CONTEXT
    workspace: str
    consumer_id: str
    agent_id: str | None = Field(
        None, description="the agent that answers: its `creator.agent_id`; missing = the consumer's name"
    )
    session_id: str
    trigger_event_id: str
    trigger_seq: int = Field(description="stream sequence of the trigger: the order of a session's contexts")
    supersedes: str | None = Field(
        None, description="id of the context of an earlier message, if nothing had answered it: this page answers both"
    )
    questions: tuple[str, ...] = Field(
        (), description="ids of the messages of people that an answer to this context answers, oldest first"
    )
    refreshed: bool | None = Field(None, description="true = built again on request, with what came since")
    as_of: int | None = Field(None, description="of a refreshed context: stream sequence up to which it has what came since")
    is_over: bool | None = Field(
        None, description="true = leave it: all that it answers was answered or deleted, or a later context answers it"
    )
    assembled_at: datetime = Field(description="stream time of the trigger, so that a redelivery gives the same bytes")
    token_estimate: int = Field(description="RCRT's name for token_count")
    token_count: int = Field(description="true tokens of `content`")
    picture_tokens: int | None = Field(
        None, description="tokens of the pictures in `messages`, by the provider's formula; they are in the budget, too"
    )
    token_budget: int
    content: str = Field(description="the page: markdown, ready for the prompt")
    formatted_context: str | None = Field(None, description="RCRT's name for content; dropped when the event would be too large")
    breadcrumb_count: int
    sources_assembled: int
    sections: tuple[SectionV1, ...]
    breakpoints: tuple[BreakpointV1, ...] = Field((), description="in page order; Anthropic's cache_control belongs there")
    omissions: Omissions
    compaction: CompactionV1 | None = Field(None, description="tool results that were folded; missing when none were")
    system: tuple[Any, ...] | None = Field(None, description="Anthropic's `system`, beside its `messages`")
    messages: tuple[Any, ...] | None = Field(
        None,
        description="the same fragments for a chat API, if the profile asks for it; what was written is a text part of its own, "
        "what the builder adds is another. Texts, results and the arguments of calls stay within the budget, what the API adds "
        "and what images cost is the profile's `reserve`. Images are dropped first when "
        "the event would be too large, then all of it",
    )


def encode(context: Context, max_bytes: int = DEFAULT_MAX_BYTES) -> bytes:
    """The event, the same bytes for the same context. Raises `Rejected` when it is too large for the broker."""
    for event in _shrinking_events(context):
        data = event.model_dump_json(by_alias=True, exclude_none=True).encode()
        if len(data) <= max_bytes:
            return data
    raise Rejected(f"the context has {len(data):,} bytes, the broker takes {max_bytes:,}; lower the profile's budget")


def _shrinking_events(context: Context) -> Iterator[ContextEvent]:
    event = _event(context)
    yield event
    if context.copy:
        yield event.model_copy(update={**context.copy.fields(images=False), "picture_tokens": None})
    page_only = event.model_copy(update={"system": None, "messages": None, "picture_tokens": None})
    yield page_only
    yield page_only.model_copy(update={"formatted_context": None})


def _event(context: Context) -> ContextEvent:
    values: dict[str, Any] = dict(
        assembly=_assembly(context),
        id=str(context.id),
        workspace=context.trigger.workspace,
        consumer_id=context.consumer,
        agent_id=context.agent if context.agent != context.consumer else None,
        session_id=context.trigger.session,
        trigger_event_id=context.trigger.id,
        trigger_seq=context.trigger.place.sequence,
        assembled_at=context.assembled_at.astimezone(UTC),
        token_estimate=context.tokens,
        token_count=context.tokens,
        picture_tokens=context.picture_tokens or None,
        token_budget=context.budget,
        content=context.markdown,
        formatted_context=context.markdown,
        breadcrumb_count=len({id_ for section in context.sections for id_ in section.ids}),
        sources_assembled=len(context.sections),
        sections=context.sections,
        supersedes=str(context.supersedes) if context.supersedes else None,
        questions=context.questions,
        refreshed=True if context.as_of else None,
        as_of=context.as_of.sequence if context.as_of else None,
        is_over=context.is_over or None,
        breakpoints=context.breakpoints,
        omissions=Omissions(
            partial=context.partial,
            most_relevant=context.omissions,
            by_reason=dict(sorted((Counter(item.reason for item in context.partial) + Counter(context.left_out)).items())),
            count=sum(context.left_out.values()),
            tokens=context.left_out_tokens,
        ),
        compaction=context.compaction,
        **(context.copy.fields() if context.copy else {}),
    )
    return ContextEvent(**values)


def _assembly(context: Context) -> Assembly:
    return Assembly(
        profile=context.profile_revision,
        templates=context.template_revision,
        prefix=next((cut.prefix for cut in reversed(context.breakpoints) if cut.name != RECENT), EMPTY_PREFIX),
        tokenizer=context.encoding,
        budget=context.budget,
        margin=context.margin,
        model=context.model.encode("ascii", "backslashreplace").decode(),
        flags=context.flags,
        as_of=context.quiet_from.sequence if context.quiet_from else None,
    )
