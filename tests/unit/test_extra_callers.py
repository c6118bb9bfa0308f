"""A caller has its rights, and one that is a person sees its own, the notes of no session, and what nobody said."""

import pytest

from builder.domain.errors import Forbidden
from builder.extra import Caller
from tests.factories import make_breadcrumb

ADA = Caller(name="ada", workspace="acme", user="ada", rights=frozenset({"read"}))


def test_a_right_that_is_lacking_is_named() -> None:
    ADA.need("read")
    with pytest.raises(Forbidden, match="has the rights read, and this needs forget"):
        ADA.need("forget")


@pytest.mark.parametrize(
    ("user", "session", "is_seen"), [("ada", "s42", True), ("ben", "s42", False), ("", "s42", True), ("", "_", False)]
)
def test_a_person_sees_in_its_session_what_is_not_anothers(user: str, session: str, is_seen: bool) -> None:
    assert ADA.may_see(make_breadcrumb("Hello.", user_id=user, session=session)) is is_seen
    assert Caller(name="all", workspace="acme", rights=frozenset()).may_see(make_breadcrumb("Hello.", user_id=user))
