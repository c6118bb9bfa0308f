"""A session as a picture; that of the sample session is the one that README and docs show. UPDATE_GOLDEN=1 draws it anew."""

import os
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from builder.app.broker import IN_MEMORY, location
from builder.app.components import open_components
from builder.app.settings import Settings
from builder.chat_files.reader import read_file
from builder.cli.build import placed, trigger_of
from builder.extras.demo.sample import sample_lines
from builder.extras.explain.cells import STATES
from builder.extras.explain.strip import strip_of
from builder.extras.explain.strip_picture import MAX_CELLS, NAMES, strip_svg

PICTURE = Path(__file__).parents[3] / "builder" / "docs" / "pictures" / "session.svg"


def answer(**changes: Any) -> dict[str, Any]:
    """To the request `strip`, of a session with one breadcrumb in each state."""
    cells = [{"id": f"m{number}", "state": state, "tokens": 10, "tokens_shown": 5} for number, state in enumerate(STATES)]
    return {
        "session": "s1", "trigger": "m4", "consumer": "default", "tokens": 60, "budget": 100,
        "content": "## Conversation\n- Hello", "sections": [{"name": "conversation", "tokens": 60}], "cells": cells, "earlier": 0,
    } | changes  # fmt: skip


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(svg).iter() if each.tag.endswith("}text")]  # noqa: S314 - our own


def names(svg: str) -> list[str]:
    """Of the boxes."""
    return [each[0].text or "" for each in ET.fromstring(svg).iter() if each.tag.endswith("}rect") and len(each)]  # noqa: S314


def test_each_breadcrumb_is_one_cell_that_says_how_much_of_it_is_on_the_page() -> None:
    svg = strip_svg(answer())
    ends = [f"{NAMES[state]}, 10 tokens, 5 on the page with its label" for state in STATES]
    assert names(svg)[: len(STATES)] == [f"m{number}: {end}" for number, end in enumerate(ends)]
    assert names(svg)[-1] == "conversation: 60"
    assert {"5 messages, calls and results of session s1", "The page: 60 of 100 tokens", "- Hello"} <= {*texts(svg)}
    assert Counter(texts(svg))["10 tokens"] == len(STATES)


def test_the_shapes_of_the_states_differ_also_without_colours() -> None:
    def shapes(state: str) -> list[tuple[str | None, ...]]:
        svg = strip_svg(answer(cells=[{"id": "m", "state": state, "tokens": 1, "tokens_shown": 1}]))
        boxes = [each for each in ET.fromstring(svg).iter() if each.tag.endswith("}rect")]  # noqa: S314 - our own
        return [(each.get("height"), each.get("class")) for each in boxes[1:4]]

    assert len({tuple(shapes(state)) for state in STATES}) == len(STATES)


def test_a_long_session_is_drawn_from_its_end_and_a_long_page_from_both_ends() -> None:
    cells = [{"id": f"m{number}", "state": "not", "tokens": 1, "tokens_shown": 0} for number in range(MAX_CELLS + 7)]
    svg = strip_svg(answer(cells=cells, earlier=3, content="\n".join(f"line {number}" for number in range(500))))
    assert "10 earlier ones are not drawn" in texts(svg)
    assert names(svg)[0].startswith("m7:")
    page = [text for text in texts(svg) if text.startswith("line ")]
    assert (page[0], page[-1]) == ("line 0", "line 499")
    assert f"   ({500 - len(page)} more lines)" in texts(svg)


@pytest.fixture
async def sample() -> dict[str, Any]:
    """The answer for the last message of the sample, with its bundled model."""
    config = Settings()
    crumbs = placed(read_file(sample_lines(), "default", "sample"), config.lifetimes, config.worker.max_body_bytes)
    trigger = trigger_of(tuple(crumb for _, crumb in crumbs), "")
    async with open_components(config, location(IN_MEMORY), preset="default") as core:
        for _, crumb in crumbs:
            if crumb.place < trigger.place:
                await core.builder.remember(crumb)
        context, assembly = await core.builder.explain(trigger, core.profile("default"))
    sections = [{"name": section.name, "tokens": section.tokens} for section in context.sections]
    own = {"session": trigger.session, "trigger": trigger.id, "tokens": context.tokens, "budget": context.budget}
    return answer(content=context.markdown, sections=sections, **own) | asdict(strip_of(assembly, 1000))


async def test_the_picture_of_the_docs_is_that_of_the_sample_session(sample: dict[str, Any]) -> None:
    svg = strip_svg(sample)
    if os.environ.get("UPDATE_GOLDEN"):
        PICTURE.write_text(svg, "utf-8")
    assert svg == PICTURE.read_text("utf-8")
