"""Two pages of one trigger → how they differ."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from builder.domain.context import Context
from builder.domain.shadow_difference import PageFigures, ShadowDifference


def difference(context: Context, shadow: str, other: Context | None, build_ms: tuple[float, float], why: str) -> ShadowDifference:
    """context: what the consumer got. shadow: name of the shadow profile; other: its page, None = it makes none, `why` says why.

    build_ms: of both builds.
    """
    trigger = context.trigger
    one, two = _ids(context), _ids(other) if other else ()
    own, others = frozenset(one), frozenset(two)
    return ShadowDifference(
        workspace=trigger.workspace,
        consumer=context.consumer,
        shadow=shadow,
        session=trigger.session,
        trigger=trigger.id,
        trigger_seq=trigger.place.sequence,
        at=trigger.received_at,
        page=_figures(context, build_ms[0]),
        shadow_page=_figures(other, build_ms[1]) if other else None,
        rejection=why,
        both=len(own & others),
        only_consumer=tuple(each for each in one if each not in others),
        only_shadow=tuple(each for each in two if each not in own),
        out_of_order=out_of_order([each for each in one if each in others], [each for each in two if each in own]),
        equal_lines=round(equal_lines(context.markdown, other.markdown), 4) if other else 0,
        is_identical=other is not None and context.markdown == other.markdown,
    )


def equal_lines(one: str, other: str) -> float:
    """Lines that both texts have, as often as both have them, as a share of all lines of both: 1 for equal texts."""
    counts, others = Counter(one.splitlines()), Counter(other.splitlines())
    total = counts.total() + others.total()
    return 2 * (counts & others).total() / total if total else 1.0


def out_of_order(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """The fewest ids without which the rest stands in the same order in both. Both have the same ids, each once."""
    places = {each: number for number, each in enumerate(other)}
    ends: list[int] = []  # of ascending runs of length 1, 2, …: the lowest place at which one ends
    runs: list[tuple[str, ...]] = []
    for each in one:
        length = bisect_left(ends, places[each])
        run = ((*runs[length - 1], each) if length else (each,),)
        ends[length : length + 1], runs[length : length + 1] = [places[each]], run
    stays = frozenset(runs[-1]) if runs else frozenset[str]()
    return tuple(each for each in one if each not in stays)


def _ids(context: Context) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for section in context.sections for each in section.ids))


def _figures(context: Context, build_ms: float) -> PageFigures:
    return PageFigures(
        profile=context.profile_revision,
        templates=context.template_revision,
        tokens=context.tokens,
        budget=context.budget,
        build_ms=round(build_ms, 2),
        flags=context.flags,
        sections={section.name: section.tokens for section in context.sections},
        omissions=dict(context.left_out),
    )
