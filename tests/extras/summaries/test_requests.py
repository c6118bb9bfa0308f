"""The request `compact`, and a service without the extra."""

from typing import Any

import pytest

from builder.app.requests import all_requests
from builder.domain.errors import Rejected
from builder.domain.profile import Profile
from builder.domain.summary import CompactionResult
from builder.extra import SUMMARISING, extras
from builder.testing import memory_client
from tests.factories import make_profile
from tests.hosts import answer, host_of


class Scheduler:
    """What `compact` calls, and with what."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str, bool]] = []
        self.host = host_of(jobs={SUMMARISING: self}, profile=self.profile)

    def profile(self, name: str) -> Profile:
        if name != "default":
            raise Rejected(f"there is no profile {name!r}")
        return make_profile(consumer=name)

    async def compact(self, workspace: str, session: str, profile: Profile, keep_user: bool) -> CompactionResult:
        self.requests.append((workspace, session, profile.consumer, keep_user))
        return CompactionResult(units=3, covered=3, tokens_before=9, tokens_after=3, summary="s1", reason="")

    async def ask(self, **request: object) -> dict[str, Any]:
        return await answer(self.host, "compact", request)


async def test_compact_passes_its_request_on() -> None:
    scheduler = Scheduler()
    assert (await scheduler.ask(session="s42", profile="default", keep_user=False))["units"] == 3
    assert scheduler.requests == [("acme", "s42", "default", False)]
    for request, reason in (
        ({"session": "s42", "profile": "nobody"}, "there is no profile 'nobody'"),
        ({"session": "s.42"}, "session"),
    ):
        with pytest.raises(Rejected, match=reason):
            await scheduler.ask(**request)
    assert len(scheduler.requests) == 1


async def test_without_the_extra_the_start_names_the_profiles_that_wait_for_summaries_in_vain(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said = "no installed extra makes the summaries that the profiles of coder, default, framework want; "
    summaries: dict[str, Any] = {"coder": {"by": "extractive"}, "quiet": None, "modern": {"by": "endpoint"}}
    profiles = {name: {"extends": "default", "summaries": value} for name, value in summaries.items()}
    async with memory_client(profiles=profiles):
        pass
    assert "no installed extra" not in caplog.text
    rest = {name: extra for name, extra in extras().items() if name != "summaries"}
    monkeypatch.setattr("builder.extra.extras", lambda: rest)
    async with memory_client(profiles=profiles):
        pass
    assert said in caplog.text


async def test_without_the_extra_pages_come_and_compact_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    rest = {name: extra for name, extra in extras().items() if name != "summaries"}
    monkeypatch.setattr("builder.extra.extras", lambda: rest)
    monkeypatch.setattr("builder.app.line.all_requests", all_requests.__wrapped__)
    async with memory_client() as client:
        assert "Where is the kiln?" in (await client.ask("s1", "Where is the kiln?")).content
        with pytest.raises(Rejected, match="there is no request 'compact'; there are fetch, "):
            await client.compact("s1")
