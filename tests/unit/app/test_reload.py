"""Which edits are taken, and when."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from builder.adapters.templates.failures import silence
from builder.app.components import open_components
from builder.app.config import read_config, template_folders
from builder.app.reload import Reloader
from builder.app.settings import Embedding, Settings
from builder.domain.errors import Misconfigured

MINE = "extends: minimal\ntriggers: [user.message.v1]\nencoding: %s\n"


@asynccontextmanager
async def watching(folder: Path) -> AsyncIterator[tuple[Reloader, list[int]]]:
    """A core on an operator's templates, and how often an edit failed."""
    (folder / "templates" / "profiles").mkdir(parents=True)
    embedding = Embedding.model_validate({"engine": "none"})
    mine = Settings(data_dir=folder, templates_dir=folder / "templates", embedding=embedding)
    failed: list[int] = []
    async with open_components(mine) as core:
        yield Reloader(template_folders(mine), core, lambda: failed.append(1), silence), failed


async def test_what_is_being_written_is_left_to_the_next_look_and_read_once(tmp_path: Path) -> None:
    async with watching(tmp_path) as (reloading, _):
        assert [await reloading.look() for _ in range(2)] == [False, False]
        (tmp_path / "templates/profiles/mine.yaml").write_text(MINE % "o200k_base")
        assert [await reloading.look() for _ in range(3)] == [False, True, False]
        assert reloading.core.profile("mine").budget == 2000


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
        assert [profile.consumer for profile in begun.profiles] == ["default", "recall"]
        assert begun.config.renderings.keys() == {"o200k_base"}
        assert renewed.config.renderings.keys() == {"cl100k_base", "o200k_base"}
        assert renewed.config.renderings["o200k_base"] is begun.config.renderings["o200k_base"]


async def test_an_edited_hint_begins_with_empty_caches(tmp_path: Path) -> None:
    async with watching(tmp_path) as (reloading, _):
        begun = reloading.core
        (tmp_path / "templates/hints").mkdir()
        (tmp_path / "templates/hints/note.v1.md.j2").write_text("Noted: {{ text }}")
        await reloading.look()
        assert await reloading.look()
        held = reloading.core.config.renderings["o200k_base"]
        assert held is not begun.config.renderings["o200k_base"]
        assert held.revision != begun.config.renderings["o200k_base"].revision


async def test_a_profile_on_a_page_that_does_not_exist_is_no_edition(tmp_path: Path) -> None:
    folder = tmp_path / "profiles"
    folder.mkdir()
    (folder / "mine.yaml").write_text("extends: default\npage: fancy\n")
    with pytest.raises(Misconfigured, match=r"pages/fancy\.md\.j2 does not exist"):
        await asyncio.to_thread(read_config, template_folders(Settings(templates_dir=tmp_path)))
