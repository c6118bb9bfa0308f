"""Which edits are taken, and when."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from builder.adapters.templates.page_rendering import silence
from builder.app.components import PARTS, Parts, open_components
from builder.app.config import parse_config, read_config, template_folders
from builder.app.reload import Reloader
from builder.app.settings import EmbeddingSettings, Settings
from builder.domain.errors import Misconfigured
from tests.commands import DEADLINE
from tests.factories import make_breadcrumb

MINE = "extends: minimal\ntriggers: [user.message.v1]\nencoding: %s\n"


def settings(folder: Path) -> Settings:
    embedding = EmbeddingSettings.model_validate({"engine": "none"})
    return Settings(data_dir=folder, templates_dir=folder / "templates", embedding=embedding)


@asynccontextmanager
async def watching(folder: Path, parts: Parts = PARTS) -> AsyncIterator[tuple[Reloader, list[int]]]:
    """A core on an operator's templates, and how often an edit failed."""
    for kind in ("profiles", "hints"):
        (folder / "templates" / kind).mkdir(parents=True, exist_ok=True)
    mine = settings(folder)
    failed: list[int] = []
    async with open_components(mine, parts=parts, last_good=True) as core:
        yield Reloader(template_folders(mine), core, lambda: failed.append(1), silence, parts), failed


async def test_what_is_being_written_is_left_to_the_next_look_and_read_once(tmp_path: Path) -> None:
    async with watching(tmp_path) as (reloading, _):
        assert [await reloading.look() for _ in range(2)] == [False, False]
        (tmp_path / "templates/profiles/mine.yaml").write_text(MINE % "o200k_base")
        assert [await reloading.look() for _ in range(3)] == [False, True, False]
        assert reloading.core.profile("mine").budget == 2000


async def test_an_edit_of_a_profile_is_in_force_in_those_that_extend_it(tmp_path: Path) -> None:
    async with watching(tmp_path) as (reloading, _):
        folder = tmp_path / "templates/profiles"
        (folder / "mine.yaml").write_text(MINE % "o200k_base")
        (folder / "other.yaml").write_text("extends: mine\nreserve: 5\n")
        assert [await reloading.look() for _ in range(2)] == [False, True]
        before = reloading.core.profile("other")
        (folder / "mine.yaml").write_text(MINE % "o200k_base" + "budget: 777\n")
        assert [await reloading.look() for _ in range(2)] == [False, True]
        after = reloading.core.profile("other")
        assert (before.budget, after.budget, after.reserve) == (2000, 777, 5)
        (folder / "mine.yaml").write_text("extends: other\n")
        assert [await reloading.look() for _ in range(2)] == [False, False]
        assert "mine extends other extends mine; take one of them out" in await reloading.state()
        assert reloading.core.profile("other") == after


async def test_a_broken_edit_is_tried_once_and_its_reason_goes_with_the_mended_one(tmp_path: Path) -> None:
    async with watching(tmp_path) as (reloading, failed):
        before = reloading.core
        file = tmp_path / "templates/profiles/mine.yaml"
        file.write_bytes(b"system_prompt: \xff")
        assert [await reloading.look() for _ in range(4)] == [False] * 4
        assert (len(failed), reloading.core) == (1, before)
        assert "write it as UTF-8" in await reloading.state()
        file.unlink()
        assert [await reloading.look() for _ in range(2)] == [False, True]
        assert await reloading.state() == ""


async def test_an_operators_folder_that_is_gone_takes_no_profile_with_it(tmp_path: Path) -> None:
    async with watching(tmp_path) as (reloading, failed):
        (tmp_path / "templates/profiles/mine.yaml").write_text(MINE % "o200k_base")
        await reloading.look()
        assert await reloading.look()
        (tmp_path / "templates").rename(tmp_path / "elsewhere")
        assert [await reloading.look() for _ in range(2)] == [False, False]
        assert (len(failed), reloading.core.profile("mine").consumer) == (1, "mine")


async def test_who_has_begun_with_an_edition_keeps_it_and_a_new_encoding_has_a_rendering(tmp_path: Path) -> None:
    async with watching(tmp_path) as (reloading, _):
        begun = reloading.core
        (tmp_path / "templates/profiles/mine.yaml").write_text(MINE % "cl100k_base")
        await reloading.look()
        assert await reloading.look()
        renewed = reloading.core
        assert [profile.consumer for profile in begun.profiles] == ["default", "framework", "recall"]
        assert begun.config.renderings.keys() == {"o200k_base"}
        assert renewed.config.renderings.keys() == {"cl100k_base", "o200k_base"}
        assert renewed.config.renderings["o200k_base"] is begun.config.renderings["o200k_base"]


async def test_an_edited_hint_begins_with_empty_caches(tmp_path: Path) -> None:
    async with watching(tmp_path) as (reloading, _):
        begun = reloading.core
        (tmp_path / "templates/hints/note.v1.md.j2").write_text("Noted: {{ text }}")
        await reloading.look()
        assert await reloading.look()
        held = reloading.core.config.renderings["o200k_base"]
        assert held is not begun.config.renderings["o200k_base"]
        assert held.revision != begun.config.renderings["o200k_base"].revision


HANGS = """
import asyncio
from threading import Event
from builder.app.config import in_daemon_thread
async def main():
    in_daemon_thread(Event().wait)
asyncio.run(main())
"""


async def test_a_pipe_in_the_place_of_a_file_is_refused_and_the_next_edit_is_read(tmp_path: Path) -> None:
    async with watching(tmp_path) as (reloading, failed):
        pipe = tmp_path / "templates/hints/note.v1.md.j2"
        os.mkfifo(pipe)
        assert [await reloading.look() for _ in range(3)] == [False] * 3
        assert f"{pipe}: it is no regular file; write a file there, or take it away" in await reloading.state()
        pipe.unlink()
        (tmp_path / "templates/profiles/mine.yaml").write_text(MINE % "o200k_base")
        assert [await reloading.look() for _ in range(2)] == [False, True]
        assert (len(failed), await reloading.state()) == (1, "")


async def test_a_folder_that_does_not_answer_is_told_once_and_read_when_it_answers(tmp_path: Path) -> None:
    silent, answers = Event(), Event()

    def reader(*args: Any, **more: Any) -> Any:
        """A mount whose server is gone for a while."""
        if silent.is_set():
            answers.wait()
        return read_config(*args, **more)

    async with watching(tmp_path, replace(PARTS, reader=reader)) as (reloading, failed):
        reloading._parts = replace(PARTS, reader=reader, reading_seconds=0.01)
        silent.set()
        (tmp_path / "templates/profiles/mine.yaml").write_text(MINE % "o200k_base")
        while not failed:
            assert not await reloading.look()
        assert not await reloading.look()
        told = "templates: reading takes longer than 0.01 s; look at the disk, or at the mount"
        assert (len(failed), told in await reloading.state()) == (1, True)
        answers.set()
        while not await reloading.look():
            pass
        assert (reloading.core.profile("mine").budget, await reloading.state(), len(failed)) == (2000, "", 1)


async def test_a_reading_that_never_ends_does_not_keep_the_process_alive() -> None:
    ended = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", HANGS], timeout=DEADLINE, check=False)
    assert ended.returncode == 0


async def test_a_start_takes_the_last_good_edition_where_a_file_is_bad_and_the_mended_file_takes_over(tmp_path: Path) -> None:
    mine, hint = tmp_path / "templates/profiles/mine.yaml", tmp_path / "templates/hints/user.message.v1.md.j2"
    async with watching(tmp_path) as (reloading, _):
        mine.write_text(MINE % "o200k_base")
        await reloading.look()
        assert await reloading.look()
        await reloading.keep_edition(reloading.core.config)
    for file, bad in ((mine, b"extends: minimall"), (mine, b"page: \xff"), (hint, b"{{ speaker }}: {{ body.contnet }}")):
        before = file.read_bytes() if file.exists() else None
        file.write_bytes(bad)
        async with watching(tmp_path) as (reloading, failed):
            assert reloading.core.profile("mine").budget == 2000
            assert "the last good profiles and templates are in force: " in await reloading.state()
            assert file.name in await reloading.state()
            assert [await reloading.look() for _ in range(3)] == [False] * 3
            assert (len(failed), file.name in await reloading.state()) == (1, True)
            if before is None:
                file.unlink()
            else:
                file.write_bytes(before)
            assert [await reloading.look() for _ in range(2)] == [False, True]
            assert await reloading.state() == ""


async def test_a_first_start_a_folder_that_is_none_and_a_command_fail_on_a_bad_file(tmp_path: Path) -> None:
    file = tmp_path / "templates/profiles/mine.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("extends: minimall")
    with pytest.raises(Misconfigured, match="minimall"):
        async with open_components(settings(tmp_path), last_good=True):
            pass
    assert not list(tmp_path.glob("store*"))
    file.unlink()
    async with watching(tmp_path) as (reloading, _):
        await reloading.keep_edition(reloading.core.config)
    file.write_text("extends: minimall")
    with pytest.raises(Misconfigured, match="minimall"):
        async with open_components(settings(tmp_path)):
            pass
    (tmp_path / "templates").rename(tmp_path / "elsewhere")
    with pytest.raises(Misconfigured, match="is no folder; make it, or set CONTEXT_BUILDER_TEMPLATES_DIR"):
        async with open_components(settings(tmp_path), last_good=True):
            pass


@pytest.mark.parametrize(
    ("before", "after", "hidden"),
    [
        ("", "- {{ body.number }}: {{ body.titel }}!", False),
        ("- {{ body.title }}", "- Ticket {{ body.titel }}", True),
        ("", "- Ticket of {{ speaker }}{{ body.titel }}", True),
        ("- a ticket", "- another ticket", False),
    ],
)
async def test_an_edited_hint_is_tried_on_the_newest_messages_of_its_schema(
    tmp_path: Path, before: str, after: str, hidden: bool
) -> None:
    hint = tmp_path / "templates/hints/ticket.v1.md.j2"
    hint.parent.mkdir(parents=True)
    if before:
        hint.write_text(before)
    async with watching(tmp_path) as (reloading, _):
        ticket = make_breadcrumb("", 1, schema="ticket.v1", body='{"number": 7, "title": "The kiln door sticks"}')
        await reloading.core.builder.remember(ticket)
        hint.write_text(after)
        assert [await reloading.look() for _ in range(2)] == [False, not hidden]
        told = f"hints/ticket.v1.md.j2: it shows nothing of the words of ticket.v1 '{ticket.id}', as the hint before it does"
        assert (told in await reloading.state()) == hidden
        assert "kiln" not in await reloading.state()


async def test_a_consumers_choice_of_another_hint_is_tried_too(tmp_path: Path) -> None:
    hints = tmp_path / "templates/hints"
    hints.mkdir(parents=True)
    (hints / "ticket.v1.md.j2").write_text("- {{ body.title }}")
    (hints / "brief.md.j2").write_text("- Ticket {{ body.titel }}")
    async with watching(tmp_path) as (reloading, _):
        ticket = make_breadcrumb("", 1, schema="ticket.v1", body='{"title": "The kiln door sticks"}')
        await reloading.core.builder.remember(ticket)
        (tmp_path / "templates/profiles/mine.yaml").write_text(MINE % "o200k_base" + "hints: {ticket.v1: brief}\n")
        assert [await reloading.look() for _ in range(2)] == [False, False]
        assert "hints/brief.md.j2: it shows nothing of the words of ticket.v1" in await reloading.state()


async def test_the_last_good_edition_is_taken_as_it_was_though_an_earlier_release_had_other_rules(tmp_path: Path) -> None:
    hint = tmp_path / "templates/hints/note.v1.md.j2"
    async with watching(tmp_path) as (reloading, _):
        bundled, own = reloading.core.config.layers
        layers = (bundled, {**own, "hints/note.v1.md.j2": "- a note"})
        await reloading.keep_edition(parse_config(layers, was_in_force=True))
    hint.write_text("- a note")
    async with watching(tmp_path) as (reloading, _):
        assert reloading.core.config.templates.sources["hints"]["note.v1"] == "- a note"
        assert "hints/note.v1.md.j2: it fails on an example" in await reloading.state()
