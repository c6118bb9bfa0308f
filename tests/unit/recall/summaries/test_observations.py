"""Which observations hold as of a view: what has replaced them, what they were made from."""

from builder.domain.stored import StoredBreadcrumb
from builder.domain.summary import KeptLine, Summary
from builder.recall.index.view import View
from builder.recall.summaries.observations import NO_OBSERVATIONS, Observations, observations_of
from builder.recall.summaries.recipes import recipe_of
from tests.conversations import deleted, said, sent
from tests.factories import make_view
from tests.summarised import summing

PROFILE = summing(by="endpoint")


def observation(number: int, *sources: int, replaces: str = "") -> KeptLine:
    return KeptLine(
        text=f"rent: {number}00 euros",
        day="8 May 2024",
        ids=tuple(f"m{source}" for source in sources),
        versions=(1,) * len(sources),
        id=f"o{number}",
        subject="rent",
        replaces=replaces,
    )


def summary(sequence: int, *lines: KeptLine, previous: str = "") -> StoredBreadcrumb:
    covered = tuple(dict.fromkeys(source for line in lines for source in line.ids))
    recipe = recipe_of(PROFILE)
    assert recipe
    body = Summary(
        lines=lines, covered=covered, versions=(1,) * len(covered), previous=previous, last=covered[-1], recipe=recipe.name,
        by="mini", language="en",
    ).body()  # fmt: skip
    return sent(sequence, "summary.v1", body)


def view_with(*later: StoredBreadcrumb) -> View:
    first = summary(4, observation(1, 1), observation(2, 2, 3))
    second = summary(6, observation(3, 5, replaces="o1"), previous="m4")
    return make_view([*(said(n, f"It is {n}00 euros.") for n in (1, 2, 3)), first, said(5, "It is 300 euros."), second, *later])


def words(observations: Observations, row: int) -> list[str]:
    return [each.line.id for each in observations.by_row.get(row, ())]


def test_a_message_has_the_observations_that_stand_for_it_or_what_replaced_them() -> None:
    observations = observations_of(view_with(), PROFILE)
    assert [words(observations, row) for row in range(5)] == [["o3"], ["o2"], ["o2"], [], ["o3"]]
    assert observations.replaced == {"o1"}
    assert {place: each.line.id for place, each in observations.by_start.items()} == {(3, 0): "o3", (3, 16): "o2", (5, 0): "o3"}


def test_a_summary_stands_next_to_no_message() -> None:
    view = view_with()
    assert view.breadcrumb(3).text == "rent: 100 euros\nrent: 200 euros"
    first = view.history.passages.first(3)
    sides = view.prefix.neighbours
    assert (sides.before[first], sides.after[first - 1]) == (-1, first + 1)


def test_what_replaces_one_holds_only_as_long_as_its_own_message() -> None:
    observations = observations_of(view_with(deleted(7, "m5")), PROFILE)
    assert words(observations, 0) == ["o1"]
    assert observations.replaced == frozenset()


def test_as_of_a_place_in_front_of_it_nothing_is_replaced() -> None:
    view = view_with()
    assert words(observations_of(make_view(list(view.history.rows[:5])), PROFILE), 0) == ["o1"]


def test_without_an_endpoint_and_with_other_settings_there_are_none() -> None:
    view = view_with()
    assert observations_of(view, summing()) is NO_OBSERVATIONS
    assert not observations_of(view, summing(by="endpoint", cap=61)).summaries


def test_one_is_replaced_by_a_later_one_only() -> None:
    circle = summary(6, observation(3, 5, replaces="o4"), observation(4, 1, replaces="o3"), previous="m4")
    view = view_with()
    rows = [*view.history.rows[:5], circle]
    assert words(observations_of(make_view(rows), PROFILE), 4) == ["o4"]
