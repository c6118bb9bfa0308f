"""Which breadcrumbs are meant, which ask for a context, and whose hints run."""

from dataclasses import dataclass, field, fields
from typing import Literal

from builder.domain.breadcrumb import NO_SESSION, TOOL_ERROR, TOOL_RESPONSE, Breadcrumb

CATALOG = "tool.catalog.v1"
MAX_PINNED = 100
"""Most breadcrumbs of one kind on a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Which breadcrumbs are meant: every condition that is given must hold."""

    schemas: tuple[str, ...] = field(default=(), metadata={"description": "one of these schemas"})
    ids: tuple[str, ...] = field(default=(), metadata={"description": "one of these ids"})
    any_tags: tuple[str, ...] = field(default=(), metadata={"description": "at least one of these tags"})
    all_tags: tuple[str, ...] = field(default=(), metadata={"description": "all of these tags"})
    none_tags: tuple[str, ...] = field(default=(), metadata={"description": "none of these tags"})

    @property
    def conditions(self) -> dict[str, tuple[str, ...]]:
        """Given conditions by name, in the order of the fields."""
        return {each.name: values for each in fields(Selector) if (values := getattr(self, each.name))}

    def matches(self, breadcrumb: Breadcrumb) -> bool:
        """Whether all conditions hold."""
        tags = set(breadcrumb.tags)
        return (
            (not self.schemas or breadcrumb.schema in self.schemas)
            and (not self.ids or breadcrumb.id in self.ids)
            and (not self.any_tags or not tags.isdisjoint(self.any_tags))
            and tags.issuperset(self.all_tags)
            and tags.isdisjoint(self.none_tags)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience(Selector):
    """Which breadcrumbs are a consumer's conversation."""

    agents: tuple[str, ...] = field(
        default=(),
        metadata={"description": "by or to one of these agents, or by users and tools to everybody"},
    )

    def matches(self, breadcrumb: Breadcrumb) -> bool:
        """Whether all conditions hold."""
        return Selector.matches(self, breadcrumb) and (not self.agents or self._concerns(breadcrumb))

    def _concerns(self, breadcrumb: Breadcrumb) -> bool:
        is_for_them = not breadcrumb.agent if not breadcrumb.to else not set(breadcrumb.to).isdisjoint(self.agents)
        return is_for_them or breadcrumb.agent in self.agents


Triggers = tuple[Selector, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """A kind of breadcrumb on every page: anchors and always-included sources."""

    selector: Selector
    keep: Literal["latest", "all"] | int
    """The latest, a number of the newest, or all up to MAX_PINNED."""
    section: str
    """Name of its section; "" = the first section with source pinned."""
    of_no_session: bool = False
    """Only what is of no session; sessions neither add nor remove any."""

    @property
    def limit(self) -> int:
        """Most breadcrumbs that are recalled, newest first."""
        match self.keep:
            case "latest":
                return 1
            case "all":
                return MAX_PINNED
            case number:
                return number


def may_trigger(breadcrumb: Breadcrumb) -> bool:
    """First versions trigger, removals never."""
    return breadcrumb.version == 1 and not breadcrumb.removes


def trigger_on(schema: str) -> Selector:
    """Every breadcrumb of a schema."""
    return Selector(schemas=(schema,))


def matches_one(triggers: Triggers, breadcrumb: Breadcrumb) -> bool:
    """Whether one matches. A trigger on tool results includes failures, which close calls too."""
    return any(_with_failures(selector).matches(breadcrumb) for selector in triggers)


def schemas_of(triggers: Triggers) -> tuple[str, ...]:
    """Every schema that they name, each once, in their order."""
    return tuple(dict.fromkeys(schema for selector in triggers for schema in selector.schemas))


def wait_for_tools(triggers: Triggers) -> bool:
    """Whether a tool's result may match; without schemas any breadcrumb may."""
    return any(not selector.schemas or {TOOL_RESPONSE, TOOL_ERROR} & {*selector.schemas} for selector in triggers)


def trigger_text(selector: Selector) -> str:
    """A trigger in one line: `tool.error.v1 any_tags=tool:error,issue`."""
    conditions = (f"{name}={','.join(values)}" for name, values in selector.conditions.items() if name != "schemas")
    return " ".join(filter(None, (",".join(selector.schemas), *conditions)))


def _with_failures(selector: Selector) -> Selector:
    if TOOL_RESPONSE not in selector.schemas or TOOL_ERROR in selector.schemas:
        return selector
    return Selector(**{**selector.conditions, "schemas": (*selector.schemas, TOOL_ERROR)})


SCHEMA_DEFINITION = "schema.def.v1"
"""Schema of records that define a schema; their hints serve all of it."""
DEFINES_TAG = "defines:"
"""Prefix of the tag that names the defined schema."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedHints:
    """Whose hints of records run: every condition that is given must hold."""

    schemas: tuple[str, ...] = field(
        default=(),
        metadata={"description": "records of these schemas (schema.def.v1 = hints of definitions); [] = any"},
    )
    sessions: Literal["none", "any"] = field(
        default="none",
        metadata={"description": "none = only records without a session"},
    )
    creators: tuple[str, ...] = field(
        default=(),
        metadata={"description": "`created_by` or context.creator.agent_id, the sender's claim; [] = anybody"},
    )

    def trusts(self, record: Breadcrumb) -> bool:
        """Whether the hints of this record may run."""
        return (
            (self.sessions == "any" or record.session == NO_SESSION)
            and (not self.schemas or record.schema in self.schemas)
            and (not self.creators or record.creator in self.creators)
        )

    @property
    def covers_schema_definitions(self) -> bool:
        """Whether the hints of any `schema.def.v1` may run."""
        return not self.schemas or SCHEMA_DEFINITION in self.schemas
