"""Whole pages, reviewed like prose: a folder a case, read as an agent would read it.

events.jsonl holds the records in the order of the stream, the last one asks; profile.yaml is the consumer's wish (else the
default profile); expected.md is the page; hints/ has hint templates of the author's own. Several consumers of the same events
have `profile-NAME.yaml` and `expected-NAME.md`.
UPDATE_GOLDEN=1 writes what is expected anew.

No case loads a model: a folder's vectors.int8 has a vector of each text that it embeds, so no page hangs on a processor.
`python -m tests.golden.write_vectors` makes the vectors that lack, with the model, and drops those that no case needs.
"""

import asyncio
import json
import os
import re
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from builder.adapters.files import Files
from builder.adapters.profiles.profiles import parse_profile
from builder.adapters.stemmer import load_terms
from builder.adapters.templates.folder import TemplateSet, templates_of
from builder.adapters.templates.fragments import JinjaRendering
from builder.adapters.tokens import load_counter
from builder.app.components import load_ranker
from builder.app.config import bundled_folder, load_library, read_layers
from builder.domain.breadcrumb import Breadcrumb, Place
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.extras.rcrt.llm_hints.rendering import LlmHintRenderer
from builder.ports.models import Embedder
from builder.ports.store import Store
from builder.publish.event import encode
from builder.recall.histories import HistoryCache
from builder.recall.summaries.recipes import recipe_of
from builder.remember.decode import decode
from builder.remember.schemas.blacklist import excluded
from builder.service import ContextBuilder, Functions
from builder.wire.records import read_lines
from builder.wire.times import read_time
from tests.golden.stored_vectors import Precision, StoredVectors
from tests.stores import durable_store, shared_store
from tests.summarised import Publishing, make_summarising

HERE = Path(__file__).parent
FOLDERS = sorted(file.parent.name for file in HERE.glob("*/events.jsonl"))
NAMED = {f"{file.parent.name}-{file.stem.removeprefix('profile-')}" for file in HERE.glob("*/profile-*.yaml")}
CASES = sorted(NAMED | {folder for folder in FOLDERS if not any((HERE / folder).glob("profile-*.yaml"))})
"""A folder's name, and behind it the consumer's where the folder has several."""
ON_POSTGRESQL = (
    "another_language",
    "blacklist_and_expiry",
    "german_and_chinese",
    "long_texts",
    "memory_of_a_person",
    "results_of_no_session",
    "running_summary",
    "two_in_a_workspace",
    "two_people",
    "versions_out_of_order",
)
"""What that store does in its own way: text that is not Latin, expiry, long texts, people, no session, summaries, versions."""
APART = 1000
"""Places between two events: room for the summaries that the service publishes."""
START = datetime(2026, 1, 1, tzinfo=UTC)


@cache
def layers(own: Path | None) -> tuple[Files, ...]:
    """The bundled templates, and those of a folder."""
    return read_layers((bundled_folder("templates"), *((own,) if own else ())))


@cache
def templates(own: Path | None) -> TemplateSet:
    return TemplateSet(*templates_of(layers(own)))


def templates_folder(case: str) -> Path | None:
    """A case's folder may hold templates of its own."""
    folder = folder_of(case)
    return folder if (folder / "hints").is_dir() else None


def helpers(encoding: str, own: Path | None = None) -> Functions:
    """own: a folder with templates beside the bundled ones. A rendering remembers by place, and cases share places."""
    renderings = {encoding: JinjaRendering(templates(own), load_counter(encoding), hint_languages=[LlmHintRenderer])}
    count = load_counter("o200k_base")
    return Functions(terms=load_terms(), count=count, renderings=renderings, ranker=load_ranker(), excluded=excluded)


def consumer(case: str) -> str:
    return case.partition("-")[2]


def folder_of(case: str) -> Path:
    return HERE / case.partition("-")[0]


def file_of(case: str, stem: str, suffix: str) -> Path:
    """Of this case: its own where the folder has several consumers."""
    name = consumer(case)
    return folder_of(case) / f"{stem}{'-' * bool(name)}{name}.{suffix}"


def events(case: str) -> list[Breadcrumb]:
    """In stream order; the stream's clock runs with the senders'."""
    folder = folder_of(case)
    lines = (folder / "events.jsonl").read_text("utf-8").split("\n")
    crumbs: list[Breadcrumb] = []
    for sequence, outgoing in enumerate(read_lines(lines, "golden", folder.name), 1):
        place, before = Place(1, sequence * APART), crumbs[-1].received_at if crumbs else START
        sent = read_time(json.loads(outgoing.data).get("created_at"))
        said_at = sent.time if sent else before
        crumbs.append(decode(outgoing.arrive(place, max(said_at, before + timedelta(seconds=1)) if crumbs else said_at)))
    return crumbs


@cache
def profile(case: str) -> Profile:
    own, default = file_of(case, "profile", "yaml"), bundled_folder("templates") / "profiles" / "default.yaml"
    source = (own if own.exists() else default).read_text("utf-8")
    return parse_profile(consumer(case) or "agent", source, load_library(layers(templates_folder(case))))


async def build(case: str, store: Store, embedder: Embedder) -> Context:
    functions = helpers(profile(case).encoding, templates_folder(case))
    builder = ContextBuilder(store, embedder, (profile(case),), functions, HistoryCache(100_000))
    *earlier, trigger = events(case)
    for crumb in earlier:
        await builder.remember(crumb)
    if earlier and recipe_of(profile(case)):
        end = earlier[-1]
        publishing = Publishing(builder, Place(1, end.place.sequence + 1))
        await make_summarising(builder, publishing, profile(case)).look(end.workspace, end.session, end.place)
    built = await builder.build(trigger, builder.consumers(trigger))
    assert built.rejected == ()
    (context,) = built.contexts
    return context


@cache
def golden(case: str, precision: Precision = "int8") -> Context:
    """With stored vectors, made once for all tests of a process."""
    with closing(durable_store()) as store:
        return asyncio.run(build(case, store, StoredVectors(folder_of(case), precision)))


@pytest.mark.parametrize("case", CASES)
def test_the_page_is_the_expected_one_and_true_to_its_account(case: str) -> None:
    context = golden(case)
    expected = file_of(case, "expected", "md")
    if os.environ.get("UPDATE_GOLDEN") == "1":
        expected.write_text(context.markdown, "utf-8")
    assert context.markdown == expected.read_text("utf-8")
    assert context.tokens == load_counter(context.encoding)(context.markdown) <= context.budget
    check = check_markdown if profile(case).page == "default" else check_tags
    check(context.markdown, profile(case))


@pytest.mark.parametrize("case", ON_POSTGRESQL)
def test_postgresql_gives_the_same_bytes(case: str) -> None:
    with closing(shared_store()) as store:
        context = asyncio.run(build(case, store, StoredVectors(folder_of(case))))
    assert encode(context) == encode(golden(case))


def check_tags(page: str, profile: Profile) -> None:
    """Every tag of a page of tags is one of the profile's sections."""
    tags = re.findall(r"<\s*(/?[A-Za-z_!?][^>]*)", page)
    names = [section.name for section in profile.sections if f"<{section.name}>" in page]
    assert tags == [tag for name in names for tag in (name, f"/{name}")]


def check_markdown(page: str, profile: Profile) -> None:
    """Markdown sees no structure at the root but the sections: what is said is in list items, notes and dates are paragraphs."""
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    root = [(token, after.content) for token, after in pairwise(tokens) if token.level == 0 and token.nesting == 1]
    headings = [title for token, title in root if token.type == "heading_open" and title != "Tool results"]
    titles = [section.title for section in profile.sections]
    assert headings == [title for title in titles if title in headings]
    assert {token.type for token, _ in root} <= {"heading_open", "paragraph_open", "bullet_list_open"}
    assert not {"fence", "code_block", "html_block", "hr"} & {token.type for token in tokens if token.level == 0}
