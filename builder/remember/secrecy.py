"""Which records are secret, and what of them may be kept."""

import re
from typing import Any

from builder.domain.breadcrumb import USER_MESSAGE
from builder.domain.errors import Rejected
from builder.domain.json_values import parse
from builder.remember.schemas.base import usable_user_id
from builder.wire.subjects import parse_breadcrumb_subject

SECRET_SCHEMA = "secret.v1"  # noqa: S105 - the name of a schema
PUBLIC_FIELDS = ("id", "schema_name", "version", "workspace", "session", "created_at", "ttl", "expires_at")
_SECRET_MARK = re.compile(rb'"sensitivity"\s*:\s*\[?\s*"\s*secret\s*"', re.IGNORECASE)


def is_secret(schema: str, record: dict[str, Any]) -> bool:
    """Whether the record must not be kept, by its schema or by its `sensitivity`."""
    sensitivity = record.get("sensitivity")
    marks = sensitivity if isinstance(sensitivity, list) else [sensitivity]
    return schema == SECRET_SCHEMA or any(isinstance(mark, str) and mark.strip().lower() == "secret" for mark in marks)


def without_content(schema: str, record: dict[str, Any]) -> dict[str, Any]:
    """The record without anything that could be the secret; its `user_id` says whether its own speaker sent it."""
    context = record.get("context")
    inner = context.get("user_id") if schema == USER_MESSAGE and isinstance(context, dict) else None
    user = usable_user_id(record.get("user_id")) or usable_user_id(inner)
    return {name: record[name] for name in PUBLIC_FIELDS if name in record} | {"user_id": user or None, "context": {}}


def holds_secret(subject: str, data: bytes) -> bool:
    """Whether these bytes, valid or not, must not be copied anywhere."""
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
