"""Requests to forget, and the receipts of their answers."""

from dataclasses import asdict
from typing import Annotated

from pydantic import Field

from builder.domain.breadcrumb import NO_SESSION
from builder.domain.erasure import Receipt
from builder.domain.errors import Rejected
from builder.domain.json_values import JsonObject
from builder.wire.requests import PersonRequest
from builder.wire.subjects import check_token
from builder.wire.times import moment

MAX_FORGOTTEN = 1_000
"""Breadcrumbs that one request forgets."""


class ForgetRequest(PersonRequest):
    """Erase breadcrumbs, all that was said by and to a person, or a session, and all that was made from it."""

    id: str = Field("", max_length=256, description="id of a breadcrumb")
    ids: tuple[Annotated[str, Field(min_length=1, max_length=256)], ...] = Field(
        (), max_length=MAX_FORGOTTEN, description="ids of breadcrumbs"
    )
    session: str = Field(
        "",
        description="a whole session; beside ids theirs, needed only when the store does not know it, as with a secret",
    )
    user_id: str = Field("", description="your id of a person")
    by: str = Field("", max_length=200, description="who asks, for the receipt")

    @property
    def names(self) -> tuple[str, ...]:
        """The ids, each once."""
        return tuple(dict.fromkeys(filter(None, (self.id, *self.ids))))


def check_subject(request: ForgetRequest) -> None:
    """Whether it says one thing to forget. Raises `Rejected`."""
    if bool(request.names) + bool(request.user_id) + bool(request.session and not request.names) != 1:
        raise Rejected("a request to forget names ids, a `user_id`, or a `session`; name one of them")
    if request.session:
        check_token(request.session, "session")
    if request.session == NO_SESSION and not request.names:
        raise Rejected("what is of no session is everybody's, and is never forgotten as a whole; name the ids")


def receipt_json(receipt: Receipt) -> JsonObject:
    """A receipt for people."""
    return asdict(receipt) | {"at": moment(receipt.at)}
