"""What assembly is asked: one question of one consumer."""

from dataclasses import dataclass

from builder.domain.facts import Remembered
from builder.domain.profile import Profile
from builder.pipeline.conversation import Turn
from builder.pipeline.query import Query
from builder.pipeline.rank import Ranker
from builder.pipeline.view import Terms, View


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Everything that assembly needs to know.

    pinned: for each of the profile's kinds, what was recalled, newest first.
    system_prompt: the profile's own, or its agent definition's. model: engine of the vectors.
    turn: the calls to answer from when the trigger is a tool's answer; then the view holds the trigger too.
    """

    trigger: Remembered
    query: Query
    view: View
    pinned: tuple[tuple[Remembered, ...], ...]
    system_prompt: str
    profile: Profile
    ranker: Ranker
    terms: Terms
    model: str
    turn: Turn = ()
