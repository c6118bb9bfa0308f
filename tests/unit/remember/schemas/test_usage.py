"""Reports of usage: what an agent may send, and what of it is read back."""

import json
from typing import Any

import pytest

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected
from builder.domain.usage import Usage
from builder.remember.decode import decode
from builder.remember.schemas.usage import MAX_TOKENS, usage
from builder.wire.records import make_record, outgoing
from tests.factories import MORNING, make_breadcrumb, make_place

REPORT: dict[str, Any] = {"model": "gpt-4o", "counted": 1000, "used": 1100}


def read(**changes: Any) -> Breadcrumb:
    record = make_record("agent.usage.v1", "u1", "s42", REPORT | changes)
    return decode(outgoing(record, "acme").arrive(make_place(1), MORNING))


def test_a_report_is_read_back_as_it_was_sent_and_says_nothing_to_a_search() -> None:
    report = read(context_id="8c1cbb1e-52b3-5d0e-9d0c-6a2f4c3b2a10", speaker="Mira", unknown=[1])
    assert usage(report) == (Usage(model="gpt-4o", counted=1000, used=1100),)
    assert (report.text, report.role, report.removes) == ("", "other", "")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"used": 0}, r"greater than or equal to 1 at /context/used, got a number"),
        ({"used": -5}, r"greater than or equal to 1 at /context/used, got a number"),
        ({"used": MAX_TOKENS + 1}, r"less than or equal to 100000000 at /context/used, got a number"),
        ({"used": 10**400}, r"at /context/used, got a number"),
        ({"used": 12.5}, r"valid integer at /context/used, got a number"),
        ({"used": "1200"}, r"valid integer at /context/used, got a text of [0-9]+ characters"),
        ({"used": True}, r"valid integer at /context/used, got a boolean"),
        ({"used": None}, r"valid integer at /context/used, got null"),
        ({"counted": 0}, r"greater than or equal to 1 at /context/counted, got a number"),
        ({"model": ""}, r"at least 1 character at /context/model, got a text of [0-9]+ characters"),
        ({"model": "x" * 201}, r"at most 200 characters at /context/model"),
        ({"model": None}, r"valid string at /context/model, got null"),
    ],
)
def test_a_report_that_cannot_be_counted_with_is_rejected_with_place_value_and_schema(changes: Any, reason: str) -> None:
    with pytest.raises(Rejected, match=f"agent.usage.v1: .*{reason}.*see schemas/agent.usage.v1.json"):
        read(**changes)


def test_a_report_that_counts_is_found_by_its_models_undated_name_alone() -> None:
    body = REPORT | {"model": "openai/gpt-4o-2024-08-06"}
    record = make_record("agent.usage.v1", "u1", "s42", body) | {"tags": ["of:mira", "model:x"]}
    report = decode(outgoing(record, "acme").arrive(make_place(1), MORNING))
    assert report.tags == ("of:mira", "model:gpt-4o")


@pytest.mark.parametrize(("counted", "used"), [(100, 50), (100, 200), (1000, 2000)])
def test_half_and_twice_as_much_still_count(counted: int, used: int) -> None:
    assert read(counted=counted, used=used).tags == ("model:gpt-4o",)


@pytest.mark.parametrize(("counted", "used"), [(99, 1), (99, 99), (99, 9000), (1000, 499), (1000, 2001), (1000, 9000)])
def test_what_says_nothing_about_a_tokenizer_is_kept_and_found_by_no_model(counted: int, used: int) -> None:
    report = read(counted=counted, used=used)
    assert usage(report) == (Usage(model="gpt-4o", counted=counted, used=used),)
    assert report.tags == ()


@pytest.mark.parametrize("body", [{}, {"tokens": 5}, REPORT | {"used": "many"}, REPORT | {"counted": 0}])
def test_what_was_stored_under_that_name_before_it_was_known_counts_for_nothing(body: Any) -> None:
    assert usage(make_breadcrumb("", schema="agent.usage.v1", body=json.dumps(body))) == ()
