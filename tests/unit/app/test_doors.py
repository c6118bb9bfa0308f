"""Doors of extras: opened in order, closed in reverse, asked which paths they answer."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from builder.app.doors import Door, DoorParts, applications, open_doors
from builder.app.settings import HttpSettings, Settings
from builder.domain.errors import Misconfigured
from builder.extra import DoorOpener, Extra


def parts(**http: Any) -> DoorParts:
    """Those that opening looks at."""
    return cast("DoorParts", SimpleNamespace(settings=Settings(http=HttpSettings(**http))))


def opener(steps: list[str], name: str, door: Door | None) -> DoorOpener:
    @asynccontextmanager
    async def opened(_parts: Any) -> AsyncIterator[Door | None]:
        steps.append(f"open {name}")
        try:
            yield door
        finally:
            steps.append(f"close {name}")

    return opened


def installed(monkeypatch: pytest.MonkeyPatch, **openers: DoorOpener) -> AbstractAsyncContextManager[tuple[Door, ...]]:
    extras = {name: Extra(doors={name: opened}) for name, opened in openers.items()}
    monkeypatch.setattr("builder.extra.extras", lambda: extras)
    return open_doors(parts())


async def test_the_last_door_that_opens_is_the_first_that_closes_and_one_may_stay_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    api, bell = Door(application="api"), Door()
    opened = installed(
        monkeypatch, api=opener(steps, "api", api), locked=opener(steps, "locked", None), bell=opener(steps, "bell", bell)
    )
    async with opened as doors:
        assert doors == (api, bell)
        assert applications(doors) == {"/": "api"}
        assert steps == ["open api", "open locked", "open bell"]
    assert steps[3:] == ["close bell", "close locked", "close api"]


async def test_two_doors_on_one_path_are_misconfigured_and_on_two_paths_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    api, page = opener(steps, "api", Door(application="api")), opener(steps, "page", Door(application="page", path="/page"))
    async with installed(monkeypatch, api=api, page=page) as doors:
        assert applications(doors) == {"/": "api", "/page": "page"}
    with pytest.raises(Misconfigured, match="the door 'rival' and another one answer the path /;"):
        async with installed(monkeypatch, api=api, rival=opener(steps, "rival", Door(application="rival"))):
            pass
    assert steps[-2:] == ["close rival", "close api"]


async def test_tokens_without_a_door_on_http_are_misconfigured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builder.extra.extras", lambda: {"bell": Extra(doors={"bell": opener([], "bell", Door())})})
    with pytest.raises(Misconfigured, match="HTTP__TOKENS is set, and no installed extra opens a door on HTTP; install"):
        async with open_doors(parts(tokens=Path("tokens.json"))):
            pass
