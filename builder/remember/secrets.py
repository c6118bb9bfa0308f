"""Secrets are never stored, embedded, shown or handed out, whatever a profile says.

Of a secret breadcrumb only identity, place and end are read. It takes earlier versions of itself off every page, as a tombstone
does.
"""

import re
from typing import Any

from builder.domain.errors import Rejected
from builder.wire.json import parse
from builder.wire.subjects import parse_breadcrumb_subject

SECRET_SCHEMA = "secret.v1"  # noqa: S105 - the name of a schema
PUBLIC_FIELDS = ("id", "schema_name", "version", "workspace", "session", "created_at", "ttl", "expires_at")
_SECRET_MARK = re.compile(rb'"sensitivity"\s*:\s*\[?\s*"\s*secret\s*"', re.IGNORECASE)


def is_secret(schema: str, record: dict[str, Any]) -> bool:
    """Whether the record must not be kept, by its schema or by its `sensitivity`."""
    sensitivity = record.get("sensitivity")
    marks = sensitivity if isinstance(sensitivity, list) else [sensitivity]
    return schema == SECRET_SCHEMA or any(isinstance(mark, str) and mark.strip().lower() == "secret" for mark in marks)


def without_content(record: dict[str, Any]) -> dict[str, Any]:
    """The record without anything that could be the secret."""
    return {name: record[name] for name in PUBLIC_FIELDS if name in record} | {"context": {}}


def holds_secret(subject: str, data: bytes) -> bool:
    """Whether these bytes, which may be no record at all, must not be copied anywhere."""
    try:
        schema = parse_breadcrumb_subject(subject).schema
    except Rejected:
        schema = ""
    try:
        record = parse(data)
    except ValueError:
        record = None
    if isinstance(record, dict):
        return is_secret(schema, record)
    return schema == SECRET_SCHEMA or _SECRET_MARK.search(data) is not None
