"""Places of the stream as text, by which a page of an answer names the next one."""

from builder.domain.breadcrumb import Place


def cursor(place: Place) -> str:
    """A place as `next` gives it."""
    return f"{place.incarnation}.{place.sequence}"


def place_of(text: str, incarnation: int = 0) -> Place:
    """A place as `after` gives it. incarnation: of the stream, for a sequence alone."""
    first, dot, second = text.partition(".")
    return Place(int(first), int(second)) if dot else Place(incarnation, int(first))
