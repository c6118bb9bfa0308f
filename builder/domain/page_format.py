"""A second copy of a page, as an API takes it: the profile's `chat_format` names the format, an extra brings it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class PageCopy(Protocol):
    """A page in a format."""

    @property
    def tokens(self) -> int:
        """Tokens of its texts, which stay within the budget; names and ids are the API's."""

    def fields(self, *, images: bool = True) -> Mapping[str, Any]:
        """`messages` of the event, and `system` where the API has it apart: tuples that pydantic writes.

        images: False = without them, for an event that is too large.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFormat:
    """Pure functions. `Ledger` is that of `builder.assemble.budget.ledger`, `Writer` and `Item` are those of `items.writer`."""

    copy: Callable[[Any], PageCopy]
    """`Ledger` → the same fragments in this format."""
    types: Mapping[str, Any]
    """Field of the event → its type, for the schemas."""
    extra_tokens: Callable[[Any, Any], int]
    """`Writer`, `Item` → tokens that it needs more in the copy than on the page, below 0 when fewer."""
    picture_tokens: Callable[[tuple[int, int]], int]
    """Width and height of a picture in pixels, (0, 0) = unknown → its tokens; 0 = the copy has no pictures."""
    has_pictures_of_results: bool = False
    """The copy has the pictures that the consumer's own calls gave; none has those of its words."""
