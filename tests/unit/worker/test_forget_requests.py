"""Requests to forget: all tombstones first, then one walk for all of them; a person or a session as a whole."""

from typing import Any

import pytest

from builder.domain.errors import Rejected
from builder.domain.stored import StoredBreadcrumb
from builder.worker import forget_requests
from builder.worker.erasure import Erasure
from builder.worker.tombstones import Forgetting
from tests.conversations import answered, chat, replied, requested, said, sent
from tests.hosts import answer, host_of
from tests.ports import MemoryStream, make_log
from tests.stores import durable_store


class Bench:
    """The handler over a store and a stream in memory."""

    def __init__(self) -> None:
        self.store, self.stream = durable_store(), MemoryStream()
        log = make_log(self.stream, self.store)
        erasure = Erasure(log, self.stream, lambda _workspace, _ids: 0)
        self.forgetting = Forgetting(log, erasure, self.stream)
        self.host = host_of(log=log, forgetting=self.forgetting, letters=erasure.letters)

    async def ask(self, **request: object) -> dict[str, Any]:
        return await answer(self.host, "forget", request)

    async def ids(self, **request: object) -> list[str]:
        return [receipt["id"] for receipt in (await self.ask(**request))["receipts"]]


async def holding(*rows: StoredBreadcrumb) -> Bench:
    bench = Bench()
    for row in rows:
        await bench.store.remember(row)
    return bench


async def test_forget_publishes_a_tombstone_into_each_session_that_has_the_breadcrumb() -> None:
    bench = await holding()
    of_an_earlier_release = said(1, "Hello."), said(2, "Hello.", session="s43", id="m1", version=2)
    await bench.store.remember_all(of_an_earlier_release)
    receipts = (await bench.ask(id="m1", by="Ana"))["receipts"]
    assert [receipt["session"] for receipt in receipts] == ["s42", "s43"]
    assert [message.subject for message in bench.stream.messages] == [
        f"breadcrumbs.acme.{session}.breadcrumb.deleted.v1" for session in ("s42", "s43")
    ]
    assert await bench.store.versions("acme", "m1") == ()


async def test_forget_of_what_the_store_does_not_know_needs_a_session() -> None:
    bench = await holding()
    with pytest.raises(Rejected, match="name its session"):
        await bench.ask(id="m1")
    assert len((await bench.ask(id="m1", session="s42"))["receipts"]) == 1


async def test_what_was_forgotten_before_gives_no_receipt_and_no_second_tombstone() -> None:
    bench = await holding(said(1, "Hello."))
    await bench.ask(id="m1")
    assert await bench.ask(id="m1") == {"receipts": [], "rest": 0, "dead_letters": 0}
    assert len(bench.stream.messages) == 1


async def test_all_tombstones_are_there_before_anything_is_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = await holding(*(said(number, "Hello.", user_id="ana") for number in range(1, 8)))
    tombstones: list[int] = []
    delete = bench.stream.delete_breadcrumbs

    async def counted(*values: Any) -> Any:
        tombstones.append(len(bench.stream.messages))
        return await delete(*values)

    monkeypatch.setattr(bench.stream, "delete_breadcrumbs", counted)
    assert len(await bench.ids(user_id="ana")) == 7
    assert tombstones == [7]


async def test_a_person_is_forgotten_with_what_was_said_to_it_and_each_context_is_read_once() -> None:
    rows = [said(1, "I am Ana.", user_id="ana"), replied(2, "Hello, Ana.", answers="m1"), said(3, "I am Ben.", user_id="ben")]
    bench = await holding(*rows)
    bench.stream.contexts = {number: (f"contexts.{number}", frozenset({f"m{number}"})) for number in (1, 2, 3)}
    answer = await bench.ask(user_id="ana", by="Eve")
    assert [(each["id"], each["by"], each["contexts"]) for each in answer["receipts"]] == [("m2", "Eve", 1), ("m1", "Eve", 1)]
    assert (answer["rest"], bench.stream.contexts_read) == (0, [1, 2, 3])
    assert [crumb.id for crumb in await bench.store.versions("acme", "m3")] == ["m3"]
    assert (await bench.ask(user_id="ana"))["receipts"] == []


async def test_a_session_is_forgotten_with_results_that_joined_it_and_its_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forget_requests, "PAGE_ROWS", 2)
    rows = [*chat(2), requested(9, "c1"), answered(10, "c1", "gone", session="_"), said(11, "Hello.", session="s43")]
    bench = await holding(*rows)
    bench.stream.letters = ["nobody"]
    answer = await bench.ask(session="s42", by="Eve")
    own = [row.breadcrumb for row in rows[:-1]]
    assert {(each["id"], each["session"]) for each in answer["receipts"]} == {(crumb.id, crumb.session) for crumb in own}
    assert (answer["rest"], answer["dead_letters"]) == (0, 1)
    assert await bench.ids(session="s42") == []
    assert await bench.ids(session="s43") == ["m11"]


async def test_a_summary_of_nothing_that_is_there_goes_last() -> None:
    body = {"lines": [], "covered": ["elsewhere"], "last": "elsewhere", "recipe": "x", "content": "Words."}
    bench = await holding(said(1, "Hello."), sent(2, "summary.v1", body))
    assert await bench.ids(session="s42") == ["m1"]
    assert await bench.ids(session="s42") == ["m2"]


async def test_a_request_forgets_so_many_and_says_how_many_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forget_requests, "MAX_FORGOTTEN", 2)
    bench = await holding(*(said(number, "Hello.", user_id="ana") for number in range(1, 4)))
    answer = await bench.ask(user_id="ana")
    assert ([each["id"] for each in answer["receipts"]], answer["rest"]) == (["m3", "m2"], 1)
    assert await bench.ids(user_id="ana") == ["m1"]


async def test_of_several_ids_all_are_known_or_none_is_forgotten() -> None:
    bench = await holding(said(1, "Hello."), said(2, "Hello."))
    with pytest.raises(Rejected, match="'m3', 'm4'"):
        await bench.ask(ids=["m1", "m3", "m4"])
    assert bench.stream.messages == []
    assert await bench.ids(ids=["m1", "m2", "m1"]) == ["m1", "m2"]


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ({}, "name one of them"),
        ({"user_id": "ana", "session": "s42"}, "name one of them"),
        ({"user_id": "ana", "id": "m1"}, "name one of them"),
        ({"session": "_"}, "everybody's"),
        ({"session": "s.42"}, "session"),
    ],
)
async def test_a_request_says_one_thing(request_: dict[str, str], reason: str) -> None:
    bench = Bench()
    with pytest.raises(Rejected, match=reason):
        await bench.ask(**request_)
