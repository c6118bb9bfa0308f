"""Which result answers which call of the hot window, and what of the arguments has room (features A8, G2).

Arguments stand on no page, so they are paid for before anything is chosen: the page is smaller by what they cost.
"""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.message import Call, Exchange, Image
from builder.domain.profile import Profile
from builder.pipeline.draft import Key, Placed, Rendering
from builder.pipeline.units import Unit

RESULTS = frozenset({"tool.response.v1", "tool.error.v1"})
SHARE = 0.1
"""Of the allowance: what all arguments together may cost."""
Talk = tuple[tuple[Key, Placed], ...]
"""What the page shows of the hot window, in place order."""
Exchanges = dict[str, tuple[Exchange, ...]]
"""Id of a breadcrumb → the calls that it makes, with their answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A call of the hot window with the ids of its results, in place order. caller: id of the breadcrumb that makes it."""

    caller: str
    call: Call
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """The calls that messages may tell, in place order. tokens: of their arguments."""

    answered: tuple[Answered, ...] = ()
    tokens: int = 0


def told(hot: tuple[Unit, ...], profile: Profile, rendering: Rendering) -> Told:
    """The answered calls of the hot window; nothing when the profile wants no messages.

    The newest get their arguments first. For those that find no room it says where they are, or nothing.
    """
    if profile.chat_format == "none":
        return Told()
    crumbs = (item.remembered.breadcrumb for item in sorted(chain.from_iterable(hot), key=lambda item: item.row))
    room = int(SHARE * profile.allowance)
    kept: list[Answered] = []
    for answered in reversed(_answered(tuple(crumbs), rendering.calls)):
        elsewhere = json.dumps({"left_out": f"the arguments, id {answered.caller}"}, ensure_ascii=False, separators=(",", ":"))
        texts = (answered.call.arguments, elsewhere)
        text, cost = next(((text, cost) for text in texts if (cost := rendering.count(text)) <= room), ("{}", 0))
        kept.insert(0, replace(answered, call=replace(answered.call, arguments=text)))
        room -= cost
    return Told(tuple(kept), int(SHARE * profile.allowance) - room)


def _answered(crumbs: tuple[Breadcrumb, ...], calls: Callable[[Breadcrumb], tuple[Call, ...]]) -> tuple[Answered, ...]:
    """A result answers the call that was last made under its request id. crumbs: in place order."""
    made: list[Answered] = []
    last: dict[str, int] = {}
    for crumb in crumbs:
        if crumb.schema in RESULTS:
            number = next((last[name] for name in crumb.calls if name in last), None)
            if number is not None:
                made[number] = replace(made[number], results=(*made[number].results, crumb.id))
            continue
        for call in calls(crumb):
            last[call.id] = len(made)
            made.append(Answered(caller=crumb.id, call=call, results=()))
    return tuple(answered for answered in made if answered.results)


def shown_exchanges(said: Talk, told: Told, rendering: Rendering) -> Exchanges:
    """The calls of which the page shows the caller and a result, with the results that it shows."""
    shown = {key[2]: placed for key, placed in said}
    found: defaultdict[str, tuple[Exchange, ...]] = defaultdict(tuple)
    for answered in told.answered:
        results = [shown[name] for name in answered.results if name in shown]
        if results and answered.caller in shown:
            found[answered.caller] += (_exchange(answered.call, results, rendering),)
    return dict(found)


def _exchange(call: Call, results: list[Placed], rendering: Rendering) -> Exchange:
    return Exchange(
        call=call,
        text="\n".join(placed.fragment.text for placed in results),
        ids=tuple(placed.fragment.breadcrumb.id for placed in results),
        failed=results[-1].fragment.breadcrumb.failed,
        images=tuple(chain.from_iterable(pictures(placed, rendering) for placed in results)),
    )


def pictures(placed: Placed, rendering: Rendering) -> tuple[Image, ...]:
    """The images of a breadcrumb that is shown as more than one line of ours."""
    return () if placed.candidate.form.line else rendering.images(placed.candidate.remembered.breadcrumb)
