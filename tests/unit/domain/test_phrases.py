"""Phrases are filled in the language of their catalogue."""

from datetime import UTC, date, datetime

from builder.domain.phrases import Phrases

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
PHRASES = Phrases({"months": MONTHS, "day": "{day} {month} {year}", "one": "{number} line", "many": "{number} lines"})


def test_a_day_is_written_with_the_month_of_the_catalogue() -> None:
    assert PHRASES.day(date(2023, 5, 8)) == "8 May 2023"


def test_a_time_is_written_by_the_clock_of_the_catalogue() -> None:
    moment = datetime(2023, 5, 8, 14, 5, tzinfo=UTC)
    assert (PHRASES.time(moment), Phrases({"clock": "%-I:%M %p"}).time(moment)) == ("14:05", "2:05 PM")


def test_without_twelve_months_a_day_has_the_number_of_its_month() -> None:
    assert Phrases({"months": "Jan Feb", "day": "{day}.{month}."}).day(date(2023, 5, 8)) == "8.05."


def test_one_thing_is_counted_by_another_phrase_than_many() -> None:
    assert [PHRASES.counted("one", "many", number) for number in (1, 2)] == ["1 line", "2 lines"]


def test_a_phrase_that_the_catalogue_lacks_is_its_name() -> None:
    assert PHRASES("nothing_to_show") == "nothing_to_show"


def test_two_equal_catalogues_are_two_keys_of_a_cache() -> None:
    assert len({Phrases({"a": "b"}), Phrases({"a": "b"})}) == 2


def test_numbers_have_the_sign_of_the_language_between_their_thousands() -> None:
    sizes = {"bytes": "{number:,} Bytes, {id}"}
    assert Phrases(sizes)("bytes", number=2850, id="a,b") == "2,850 Bytes, a,b"
    assert Phrases(sizes | {"thousands": "."})("bytes", number=2850, id="a,b") == "2.850 Bytes, a,b"
