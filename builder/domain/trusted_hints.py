"""The hints that records bring: whose may run, and which schema a `schema.def.v1` is about."""

from dataclasses import dataclass
from typing import Literal

from builder.domain.breadcrumb import NO_SESSION, Breadcrumb

SCHEMA_DEFINITION = "schema.def.v1"
"""Schema of the records that define a schema; their hints serve every breadcrumb of it."""
DEFINES_TAG = "defines:"
"""Beginning of the tag that names the schema of a `schema.def.v1`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedHints:
    """Conditions that must all hold for the hints of a record to run."""

    schemas: tuple[str, ...]
    """Of the record; empty = any."""
    sessions: Literal["none", "any"]
    """Records of no session only, or of any."""
    creators: tuple[str, ...]
    """Ids of who wrote it, which is the sender's claim; empty = anybody."""

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
