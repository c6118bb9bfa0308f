"""Blacklists that would do nothing are rejected."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from builder.domain.errors import Rejected
from builder.domain.selector import Selector
from builder.extras.contracts.schemas import schema_files
from builder.remember.decode import decode
from builder.remember.schemas.blacklist import excluded
from tests.conversations import message_of
from tests.factories import make_breadcrumb


def taken(body: dict[str, Any]) -> tuple[Selector, ...]:
    return excluded(decode(message_of(1, "context.blacklist.v1", body)))


NAMED: list[tuple[dict[str, Any], Selector]] = [
    ({"excluded_schemas": [{"schema_name": "note.v1"}]}, Selector(schemas=("note.v1",))),
    ({"excluded_tags": ["draft"], "excluded_schemas": []}, Selector(any_tags=("draft",))),
    ({"excluded_ids": ["m1"], "last_updated": "2026", "notes": "n", "version": 1, "session_id": "s42"}, Selector(ids=("m1",))),
]
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({}, "it leaves nothing out, so the blacklist before it holds on"),
    ({"excluded_schemas": [], "excluded_tags": [], "excluded_ids": []}, "lift a blacklist by deleting it (breadcrumb.deleted.v1"),
    ({"blocked": ["m1"]}, "name something in excluded_schemas, excluded_tags, excluded_ids"),
    ({"schemas": [{"schema_name": "note.v1"}]}, "a blacklist has no field 'schemas'; write excluded_schemas"),
    ({"excluded_schema": [{"schema_name": "note.v1"}]}, "no field 'excluded_schema'; write excluded_schemas"),
    ({"excludedTags": ["draft"]}, "no field 'excludedTags'; write excluded_tags"),
    ({"excluded_ids": ["m1"], "tags": ["draft"]}, "no field 'tags'; write excluded_tags"),
    ({"excluded_schemas": [{"schema": "note.v1"}]}, "Field required at /context/excluded_schemas/0/schema_name"),
    ({"excluded_schemas": ["note.v1"]}, "/context/excluded_schemas/0"),
    ({"excluded_tags": [""]}, "at least 1 character"),
]


@pytest.mark.parametrize(("body", "selector"), NAMED)
def test_a_blacklist_that_names_something_is_taken_with_whatever_else_is_in_it(body: dict[str, Any], selector: Selector) -> None:
    assert taken(body) == (selector,)


@pytest.mark.parametrize(("body", "reason"), REFUSED)
def test_an_empty_or_misspelt_blacklist_is_rejected_with_what_to_write(body: dict[str, Any], reason: str) -> None:
    with pytest.raises(Rejected) as caught:
        taken(body)
    assert reason in str(caught.value)


def test_the_schema_file_wants_something_named_too() -> None:
    check = Draft202012Validator(json.loads(schema_files()["context.blacklist.v1.json"]))
    assert all(check.is_valid(body) for body, _ in NAMED)
    assert not check.is_valid({})
    assert not check.is_valid({"excluded_tags": []})


def test_an_empty_one_that_a_store_holds_from_before_leaves_nothing_out() -> None:
    assert excluded(make_breadcrumb(schema="context.blacklist.v1", body="{}")) == ()
