"""Of a secret nothing is read but which breadcrumb it is."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.domain.breadcrumb import Breadcrumb, Place, StreamMessage
from builder.domain.errors import Rejected
from builder.remember.decode import decode
from builder.remember.secrecy import holds_secret

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
PLAIN = "breadcrumbs.acme.s42.user.message.v1"
SECRET = PLAIN.replace("user.message", "secret")


def read(subject: str, **record: Any) -> Breadcrumb:
    data = json.dumps({"id": "k1", "context": {"content": "kumquat"}} | record).encode()
    return decode(StreamMessage(subject=subject, data=data, place=Place(1, 1), received_at=NOON))


@pytest.mark.parametrize(
    ("subject", "record"), [(SECRET, {}), (PLAIN, {"sensitivity": "secret"}), (PLAIN, {"sensitivity": " Secret"})]
)
def test_a_secret_comes_without_anything_of_it(subject: str, record: dict[str, Any]) -> None:
    crumb = read(subject, title="kumquat", tags=["kumquat"], entity_keywords=["kumquat"], llm_hints={"a": "kumquat"}, **record)
    assert "kumquat" not in repr(crumb)
    assert (crumb.id, crumb.removes, crumb.body, crumb.text) == ("k1", "k1", "{}", "")
    assert crumb.schema in subject


@pytest.mark.parametrize("sensitivity", [None, "low", "pii", "top secrets"])
def test_what_is_no_secret_is_read(sensitivity: str | None) -> None:
    crumb = read(PLAIN, sensitivity=sensitivity)
    assert (crumb.text, crumb.removes) == ("kumquat", "")


@given(
    st.recursive(
        st.none() | st.integers() | st.just("kumquat"), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_a_reason_never_quotes_a_secret(context: Any) -> None:
    try:
        crumb = read(SECRET, context=context, tags=context, title=context)
    except Rejected as error:
        assert "kumquat" not in str(error)  # noqa: PT017 - either outcome is right
    else:
        assert "kumquat" not in repr(crumb)


@pytest.mark.parametrize(
    ("subject", "data", "holds"),
    [
        (SECRET, b"{", True),
        (SECRET, b'{"id": 7}', True),
        (PLAIN, b'{"sensitivity" : "SECRET", "context": {', True),
        (PLAIN, b'{"sensitivity": "secret"}', True),
        (PLAIN, b'{"context": {"sensitivity": "secret"}}', False),
        (PLAIN, b"{", False),
        ("somewhere", b"{}", False),
    ],
)
def test_bytes_are_known_as_a_secret_even_when_they_are_no_record(subject: str, data: bytes, holds: bool) -> None:
    assert holds_secret(subject, data) is holds
