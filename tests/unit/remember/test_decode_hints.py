"""The hints that a record brings, as they are kept."""

import json
from typing import Any

import pytest

from builder.domain.erasure import erased
from builder.domain.json_text import canonical
from builder.remember.decode import decode
from builder.wire.records import line_of, read_lines
from tests.factories import MORNING, make_place
from tests.unit.remember.test_decode import arrival

LITERAL = {"transform": {"x": {"type": "literal", "literal": "x"}}}


def read(subject: str = "breadcrumbs.acme.s42.ticket.v1", **record: Any) -> Any:
    return decode(arrival(json.dumps({"id": "t1", "context": {"title": "Kiln"}} | record).encode(), subject))


def test_hints_are_kept_as_canonical_json_whatever_their_order() -> None:
    one = read(llm_hints={"mode": "merge", "include": ["a"]})
    assert one.hints == read(llm_hints={"include": ["a"], "mode": "merge"}).hints == '{"include":["a"],"mode":"merge"}'
    assert read().hints == ""


def test_those_in_the_body_count_where_the_record_has_none() -> None:
    inner = {"title": "Kiln", "llm_hints": LITERAL}
    assert json.loads(read(context=inner).hints) == LITERAL
    assert json.loads(read(context=inner, llm_hints={"include": ["title"]}).hints) == {"include": ["title"]}


@pytest.mark.parametrize("hints", [None, "template", 7, [], ["include"], {}, True])
def test_hints_that_are_no_object_never_reject_a_record(hints: Any) -> None:
    assert read(llm_hints=hints).hints == read(context={"llm_hints": hints}).hints == ""


def test_the_creator_is_the_records_else_the_bodys() -> None:
    assert read(created_by="shop-7").creator == "shop-7"
    assert read(context={"creator": {"agent_id": "agent-1"}}).creator == "agent-1"
    assert (read(created_by=7).creator, read(context={"creator": {"agent_id": 7}}).creator) == ("", "")


def test_a_definition_is_found_by_the_schema_that_its_body_names() -> None:
    subject = "breadcrumbs.acme._.schema.def.v1"
    for field in ("schema_name", "defines_schema", "target_schema"):
        assert read(subject, context={field: "note.v1"}).tags == ("defines:note.v1",)
    assert read(subject, tags=["defines:note.v1"], context={"schema_name": "note.v1"}).tags == ("defines:note.v1",)
    assert read(context={"schema_name": "note.v1"}).tags == ()


def test_a_secret_and_an_erased_breadcrumb_have_neither() -> None:
    secret = read("breadcrumbs.acme.s42.secret.v1", llm_hints=LITERAL, created_by="shop-7")
    assert (secret.hints, secret.creator) == ("", "")
    trace = erased(read(llm_hints=LITERAL, created_by="shop-7"))
    assert (trace.hints, trace.creator) == ("", "")


def test_an_export_and_an_import_keep_hints_and_creator() -> None:
    record = {
        "id": "t1",
        "schema_name": "ticket.v1",
        "context": {},
        "llm_hints": LITERAL,
        "created_by": "shop-7",
        "session": "s42",
    }
    (event,) = read_lines([json.dumps(record)], "acme")
    first = event.arrive(make_place(1), MORNING)
    (again,) = read_lines([line_of(first)], "acme")
    crumbs = [decode(each) for each in (first, again.arrive(make_place(1), MORNING))]
    assert [(crumb.hints, crumb.creator) for crumb in crumbs] == [(canonical(LITERAL), "shop-7")] * 2
