"""By which hints a breadcrumb is rendered."""

from collections.abc import Mapping
from dataclasses import dataclass

from builder.domain.breadcrumb import TOOL_REQUEST, Breadcrumb
from builder.domain.profile import Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class HintChoice:
    """In the order in which they are tried."""

    record: str = ""
    """The breadcrumb's own `llm_hints` as JSON text, if the consumer trusts them."""
    own: str = ""
    call: str = ""
    definition: str = ""
    """The `llm_hints` of the schema's definition as JSON text; they serve a schema without a configured template."""


NO_CHOICE = HintChoice()
"""The configured hint, else the generic one."""


def hint_choice(breadcrumb: Breadcrumb, profile: Profile, schema_hints: Mapping[str, str]) -> HintChoice:
    """schema_hints: schema → the trusted hints of its definition."""
    trusted = profile.trusted_hints
    if trusted is None and not profile.hints:
        return NO_CHOICE
    return HintChoice(
        record=breadcrumb.hints if breadcrumb.hints and trusted is not None and trusted.trusts(breadcrumb) else "",
        own=profile.hints.get(breadcrumb.schema, ""),
        call=profile.hints.get(TOOL_REQUEST, ""),
        definition=schema_hints.get(breadcrumb.schema, ""),
    )
