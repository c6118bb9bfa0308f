"""`bench pages` reads a page as its reader does, and `bench latency --calls` counts what a page takes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from builder.adapters.tokens import load_counter
from builder.app.broker import IN_MEMORY, location
from builder.app.components import open_components
from builder.app.settings import EmbeddingSettings, Settings
from builder.bench.data.answer_sessions import Session, parse
from builder.bench.quality.pages import Bench, run
from builder.bench.quality.reading import Reading, entries, twice
from builder.bench.speed import calls
from builder.domain.context import Context, Omission, Section
from builder.domain.profile import Profile
from tests.factories import make_context, make_profile, make_remembered

KILN = """
language: en
work: a kiln
held_out: false
messages:
  - {id: m1, at: 2026-03-02T09:00:00+00:00, from: user, text: The blue kiln stands in the yard behind the shop.}
  - {id: m2, at: 2026-03-02T09:01:00+00:00, from: user, text: It rains.}
  - {id: m3, at: 2026-03-02T09:02:00+00:00, from: user, text: It still rains.}
  - {id: m4, at: 2026-03-02T09:03:00+00:00, from: user, text: The rain stopped a minute ago.}
  - {id: m5, at: 2026-03-02T09:04:00+00:00, from: assistant, text: I look., calls: [{requestId: c1, tool: look}]}
  - {id: m6, at: 2026-03-02T09:05:00+00:00, from: tool, text: the kiln is at 900 degrees, result_of: c1}
  - {id: m7, at: 2026-03-02T09:06:00+00:00, from: assistant, text: It is hot.}
questions:
  - {kind: far, text: Where does the kiln stand?, needs: [in the yard]}
  - {kind: never, text: Who bought it?, misleads: [in the yard]}
"""


@pytest.fixture(scope="module")
def kiln() -> Session:
    return parse("kiln", KILN)


@pytest.fixture(scope="module")
def profile() -> Profile:
    return make_profile()


def page_of(sections: dict[str, dict[str, int]], markdown: str, *cut: str) -> Context:
    """A page that says of itself what it shows. sections: name → id → tokens. cut: ids of what is shown in part."""
    made = make_context(make_remembered("Where does the kiln stand?", 9), ())
    shown = tuple(Section(name, "turn", sum(ids.values()), ids, {}) for name, ids in sections.items())
    return replace(made, sections=shown, markdown=markdown, partial=tuple(Omission(id=id_, reason="cut") for id_ in cut))


def test_an_entry_is_a_message_with_its_calls_and_their_results(kiln: Session) -> None:
    assert entries(kiln.messages) == {"m1": 0, "m2": 1, "m3": 2, "m4": 3, "m5": 4, "m6": 4, "m7": 5}


def test_a_reader_skips_what_is_neither_newest_nor_near_to_what_is_needed_and_the_signs_of_holes(
    kiln: Session, profile: Profile
) -> None:
    page = page_of({"conversation": {"m1": 12, "m2": 3, "m5": 10, "m6": 20, "m7": 5}}, "- …\n")
    near, far = (Reading(kiln, page, profile, len, frozenset({needed})) for needed in ("m1", "m7"))
    assert near.signs == len("- …\n")
    assert near.newest_piece == 35
    assert near.skipped == near.signs / (50 + near.signs)
    assert far.skipped == (15 + far.signs) / (50 + far.signs)


@pytest.mark.parametrize(
    ("sections", "cut", "whole"),
    [
        ({"conversation": {"m6": 20}}, (), True),
        ({"conversation": {"m6": 20}}, ("m6",), False),
        ({"conversation": {"m6": 5}, "elsewhere": {"m6": 15}}, (), False),
        ({"conversation": {"m5": 5}}, (), False),
    ],
    ids=["in one piece", "cut", "in two places", "absent"],
)
def test_a_result_is_whole_where_all_of_it_stands_in_one_place(
    sections: dict[str, dict[str, int]], cut: tuple[str, ...], whole: bool, kiln: Session, profile: Profile
) -> None:
    assert Reading(kiln, page_of(sections, "", *cut), profile, len, frozenset()).is_whole("m6") is whole


def test_what_stands_twice_is_counted_but_for_instructions_beside_their_message(kiln: Session, profile: Profile) -> None:
    line = "The blue kiln stands in the yard behind the shop."
    assert twice(kiln, page_of({"conversation": {"m1": 12}}, f"- {line}\n- {line}\nIt rains. It rains."), profile) == 1
    assert twice(kiln, page_of({"instructions": {"m1": 12}}, f"- {line}\n- {line}"), profile) == 0


async def test_a_run_counts_answers_pages_of_results_and_tokens(kiln: Session, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, embedding=EmbeddingSettings(engine="none"))
    async with open_components(settings, location(IN_MEMORY)) as core:
        bench = Bench(builder=core.builder, profile=core.profile("default"), count=load_counter("o200k_base"))
        report = await run(bench, (kiln,), (), (4000,), lambda: None)
        built = await calls.reads(core, lambda: None, chars=400, rounds=1)
    assert (
        report["budgets"]["4000"] | {"right": "1 of 1", "misleading": 1, "exceeded": 0, "twice": 0} == report["budgets"]["4000"]
    )
    assert report["running"]["4000"] == {"pages": 1, "question": 1, "result_whole": "1 of 1", "skipped": 0.0}
    assert built["scenarios"]["reads"]["pages_begun"] >= 1
    assert json.dumps(report)
