"""Which breadcrumbs ask for a context: selectors, one of which must match."""

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.selector import Selector

ANSWER, FAILURE = "tool.response.v1", "tool.error.v1"
"""Schemas of a tool's answer and of its failure."""

Triggers = tuple[Selector, ...]


def may_trigger(breadcrumb: Breadcrumb) -> bool:
    """Only the first version of a breadcrumb triggers, and a removal never does."""
    return breadcrumb.version == 1 and not breadcrumb.removes


def trigger_on(schema: str) -> Selector:
    """Every breadcrumb of a schema."""
    return Selector(schemas=(schema,))


def matches_one(triggers: Triggers, breadcrumb: Breadcrumb) -> bool:
    """Whether one of them matches. Where a tool's answer does by its schema, its failure does too: it closes the call as well."""
    return any(_with_failures(selector).matches(breadcrumb) for selector in triggers)


def schemas_of(triggers: Triggers) -> tuple[str, ...]:
    """Every schema that they name, each once, in their order."""
    return tuple(dict.fromkeys(schema for selector in triggers for schema in selector.schemas))


def wait_for_tools(triggers: Triggers) -> bool:
    """Whether a tool's answer may match one of them; one that names no schema may match any breadcrumb."""
    return any(not selector.schemas or {ANSWER, FAILURE} & {*selector.schemas} for selector in triggers)


def trigger_text(selector: Selector) -> str:
    """A trigger in a line, as people read it: `tool.error.v1 any_tags=tool:error,issue`."""
    conditions = (f"{name}={','.join(values)}" for name, values in selector.conditions.items() if name != "schemas")
    return " ".join(filter(None, (",".join(selector.schemas), *conditions)))


def _with_failures(selector: Selector) -> Selector:
    if ANSWER not in selector.schemas or FAILURE in selector.schemas:
        return selector
    return Selector(**{**selector.conditions, "schemas": (*selector.schemas, FAILURE)})
