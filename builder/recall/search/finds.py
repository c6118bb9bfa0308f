"""What a query may find, and what it finds."""

from dataclasses import dataclass

from builder.domain.summary import Line
from builder.recall.index.prefix import Floats, Rows
from builder.recall.index.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Find:
    """A passage that was found."""

    row: int
    spans: tuple[tuple[int, int], ...] = ()
    """Its place in the breadcrumb's text; () = the whole text."""
    times: int = 1
    """How often the same speaker said it."""
    tokens: int = 0
    """Of its text."""
    probability: float = 0.0
    """That it answers the query; of a reply, at least a share of its question's."""
    reply_to: int = -1
    """Row of the find that it comes along with, as what was said in reply; -1 = it was found by itself."""
    answer: int = -1
    """Row of the find that it comes along with, as the question that it answers; -1 = none."""
    replaces: int = -1
    """Row of the find that it comes along with, as what changes it later; -1 = none."""
    lines: tuple[tuple[int, Line], ...] = ()
    """Observations that are shown in its place, behind the rows of their summaries."""
    is_probable: bool = True
    """It is as probable as the profile asks, or literal."""
    is_literal: bool = False
    """It alone has a word of the query, or the query has a keyword of it: however improbable, it is found."""

    @property
    def leader(self) -> int:
        """Row of the find of which it is the other half; -1 = none."""
        return max(self.reply_to, self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What a query may find."""

    breadcrumbs: Rows
    """What may be shown, shape (size,)."""
    unseen: Rows
    """Passages that may be found and are not on the page, shape (passages,)."""
    scores: Floats
    probability: Floats
    """Shape (passages,)."""
    is_literal: Rows
    """Found by a rare word or a keyword, shape (passages,)."""


def find_of(view: View, passage: int, candidates: Candidates, times: int = 1) -> Find:
    """The find that shows a passage."""
    row = int(view.crumb[passage])
    passages = view.history.rows[row].passages
    place = passages[passage - view.history.passages.first(row)]
    spans = ((place.start, place.end),) if len(passages) > 1 else ()
    return Find(
        row=row,
        spans=spans,
        times=times,
        tokens=place.tokens,
        probability=float(candidates.probability[passage]),
        is_literal=bool(candidates.is_literal[passage]),
    )
