"""What is hard to store survives in every store."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from builder.domain.breadcrumb import Place
from builder.domain.stored import Passage
from builder.ports.store import CompleteStore as Store
from tests.contract.test_store import query, remember_all
from tests.factories import make_remembered

AWKWARD = {
    "empty": "",
    "emoji": "👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️",
    "right to left": "ذهبت إلى السوق ثلاث مرّات",
    "han": "我昨天在上海买了一张去北京的火车票。",
    "NUL": "before\x00after",
    "quotes": 'Robert\'); DROP TABLE breadcrumbs;-- "x" % _ \\',
    "line ends": "a\r\nb\u2028c\x85d\ve",
    "decomposed": "e\u0301 is not \u00e9",
    "one megabyte": "All 1,048,576 of them. " * 45_000,
}


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
async def test_any_text_survives(store: Store, text: str) -> None:
    row = make_remembered(text, speaker=text[:50], tags=(text[:50],))
    await remember_all(store, row)
    assert (await store.recall(query())).rows == (row,)


@pytest.mark.parametrize(
    "moment",
    [
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
        datetime(2024, 2, 29, 1, 2, 3, 4, timezone(timedelta(hours=5, minutes=45))),
    ],
    ids=str,
)
async def test_any_time_survives_to_the_microsecond(store: Store, moment: datetime) -> None:
    await remember_all(store, make_remembered(created_at=moment, received_at=moment))
    crumb = (await store.recall(query())).rows[0].breadcrumb
    assert crumb.created_at == crumb.received_at == moment


async def test_a_row_may_be_as_wide_as_a_book(store: Store) -> None:
    wide = Passage(0, 5, " ".join(f"term{n}" for n in range(500)), bytes(range(120)) * 52, 2**40)
    row = make_remembered(tags=tuple(f"tag-{n}" for n in range(1000)), calls=tuple(f"call-{n}" for n in range(1000)))
    row = replace(row, passages=tuple(replace(wide, start=n, end=n + 5) for n in range(400)))
    await remember_all(store, row, make_remembered("The next one.", 2))
    assert (await store.recall(query())).rows[0] == row


async def test_the_highest_places_and_versions_survive(store: Store) -> None:
    row = make_remembered(place=Place(2**62, 2**62), version=2**31 - 1)
    await remember_all(store, row)
    assert (await store.recall(replace(query(), until=Place(2**62, 2**62)))).rows == (row,)
    await store.advance("acme", "s42", Place(2**62, 2**62))
    assert await store.watermark("acme", "s42") == Place(2**62, 2**62)


async def test_count_counts_every_version_of_every_workspace(store: Store) -> None:
    assert await store.count() == 0
    await remember_all(store, make_remembered(), make_remembered(sequence=2, id="m1", version=2), make_remembered(workspace="b"))
    assert await store.count() == 3
