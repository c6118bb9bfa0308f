"""Everything in scope as of a trigger, as each consumer may see it, and what stands whatever was said."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest

from builder.domain.page_settings import FORBIDDEN_SCHEMAS
from builder.domain.profile import Profile
from builder.domain.selector import Pinned, Selector, TrustedHints
from builder.domain.stored import StoredBreadcrumb
from builder.recall.histories import HistoryCache, HistoryReader
from builder.recall.recall import (
    AGENTS,
    BLACKLIST,
    OWN_BLACKLIST,
    SCHEMA_DEFINITIONS,
    ConsumerRecall,
    Recaller,
    RowsByKind,
    kinds_of,
    pinned_rows,
    schema_hints,
    system_prompt,
    unexpired,
)
from builder.recall.search.query import Searcher
from builder.recall.workspaces import Workspaces
from builder.remember.schemas.blacklist import excluded
from tests.conversations import answered, bash, chat, replied, said
from tests.factories import (
    MODEL,
    MORNING,
    latest_of,
    make_breadcrumb,
    make_catalog,
    make_place,
    make_profile,
    make_remembered,
    make_terms,
)
from tests.stores import durable_store


async def no_vector(_text: str) -> bytes:
    return b""


async def recaller(*rows: StoredBreadcrumb) -> Recaller:
    store = durable_store()
    for row in rows:
        await store.remember(row)
    reader = HistoryReader(store=store, cache=HistoryCache(1000), model=MODEL)
    workspaces = Workspaces(reader, Searcher(embed=no_vector, terms=make_terms))
    return Recaller(reader=reader, workspaces=workspaces, terms=make_terms, exclusions=excluded)


def visible_ids(recall: ConsumerRecall) -> list[str]:
    return [recall.view.breadcrumb(int(row)).id for row in np.flatnonzero(recall.view.current)]


def blacklist(sequence: int, **body: object) -> StoredBreadcrumb:
    return make_remembered("", sequence, schema="context.blacklist.v1", session="_", role="other", body=json.dumps(body))


async def test_the_trigger_and_what_comes_later_are_not_recalled() -> None:
    recall = await recaller(*chat(5))
    (recalls,) = await recall.recall(chat(5)[2].breadcrumb, (make_profile(),))
    assert visible_ids(recalls) == ["m1", "m2"]
    assert recalls.turn == ()


async def test_a_tools_answer_that_closes_its_turn_is_part_of_what_is_recalled() -> None:
    rows = [said(1, "Go."), replied(2, "", bash("a", "ls"), bash("b", "pwd")), answered(3, "b", 1), answered(4, "a", 2)]
    recall = await recaller(*rows)
    assert await recall.recall(rows[2].breadcrumb, (make_profile(),)) == ()
    (recalls,) = await recall.recall(rows[3].breadcrumb, (make_profile(),))
    assert visible_ids(recalls) == ["m1", "m2", "m3", "m4"]
    assert [entry.request for entry in recalls.turn] == ["a", "b"]


async def test_what_the_blacklist_names_is_hidden_from_its_place_on() -> None:
    recall = await recaller(said(1, "One."), said(2, "Two."), blacklist(4, excluded_ids=["m1"]))
    before, after = [(await recall.recall(make_breadcrumb("And now?", n), (make_profile(),)))[0] for n in (3, 9)]
    assert (visible_ids(before), visible_ids(after)) == (["m1", "m2"], ["m2"])


async def test_a_later_blacklist_of_a_session_excludes_beside_that_of_operators_and_takes_nothing_off_it() -> None:
    own = make_remembered("", 5, schema="context.blacklist.v1", role="other", body=json.dumps({"excluded_ids": ["m2"]}))
    recall = await recaller(said(1, "One."), said(2, "Two."), said(3, "Three."), blacklist(4, excluded_ids=["m1"]), own)
    (seen,) = await recall.recall(make_breadcrumb("And now?", 9), (make_profile(),))
    assert {"m1", "m2", "m3"}.intersection(visible_ids(seen)) == {"m3"}


async def test_a_summariser_sees_the_session_up_to_and_including_the_place() -> None:
    recall = await recaller(*chat(5), said(6, "Elsewhere.", session="s43"))
    assert (await recall.session_view("acme", "s42", make_place(4))).size == 4
    assert (await recall.session_view("acme", "s44", make_place(4))).size == 0


async def test_a_summariser_sees_neither_what_is_excluded_nor_what_had_expired_when_the_last_row_came() -> None:
    last = said(4, "Four.").breadcrumb.received_at
    over, still = ending(said(1, "One."), last), ending(said(2, "Two."), last + timedelta(seconds=1))
    recall = await recaller(over, still, said(3, "Three."), said(4, "Four."), blacklist(7, excluded_ids=["m3"]))
    view = await recall.session_view("acme", "s42", make_place(4))
    assert view.current.tolist() == [False, True, True, True]
    view = await recall.session_view("acme", "s42", make_place(7))
    assert view.current[2:4].tolist() == [False, True]


def ending(row: StoredBreadcrumb, moment: datetime) -> StoredBreadcrumb:
    return replace(row, breadcrumb=replace(row.breadcrumb, expires_at=moment))


async def test_a_blacklist_right_behind_the_place_hides_nothing_of_what_was_there_by_then() -> None:
    rows = [said(1, "Go."), replied(2, "", bash("a", "ls")), answered(3, "a", 1)]
    recall = await recaller(*rows, blacklist(4, excluded_ids=["m1"]))
    (of_tool,) = await recall.recall(rows[2].breadcrumb, (make_profile(),))
    assert visible_ids(of_tool) == ["m1", "m2", "m3"]
    view = await recall.session_view("acme", "s42", make_place(3))
    assert view.current.tolist() == [True, True, True]


OWN_PROMPT = make_profile(system_prompt="You are a potter.")
FROM_DEFINITION = make_profile(consumer="potter", system_prompt="")


def definition(text: str, sequence: int, speaker: str = "potter", session: str = "_") -> StoredBreadcrumb:
    return make_remembered(text, sequence, schema="agent.def.v1", speaker=speaker, session=session)


def test_the_blacklist_comes_first_and_each_kind_once_whichever_section_shows_it() -> None:
    notes = latest_of("note.v1")
    profiles = tuple(replace(OWN_PROMPT, pinned=(replace(notes, section=section),)) for section in ("Notes", "Memory"))
    assert kinds_of(profiles) == (BLACKLIST, OWN_BLACKLIST, notes)


def test_definitions_are_recalled_only_for_a_profile_that_shows_a_system_prompt_and_has_none() -> None:
    silent = replace(FROM_DEFINITION, sections=tuple(rule for rule in FROM_DEFINITION.sections if rule.source != "system"))
    assert [AGENTS in kinds_of((profile,)) for profile in (OWN_PROMPT, FROM_DEFINITION, silent)] == [False, True, False]


def test_the_catalog_of_operators_is_recalled_beside_that_of_a_session_and_comes_first() -> None:
    profile = replace(OWN_PROMPT, pinned=(latest_of("tool.catalog.v1"),))
    *_, shared, any_session = kinds_of((profile,))
    assert (shared.of_no_session, any_session.of_no_session) == (True, False)
    operators, forged = make_catalog(2, 1, id="tools"), make_catalog(1, 2, id="tools", version=9, session="s42")
    assert pinned_rows(profile, {shared: (operators,), any_session: (forged,)}) == ((operators, forged),)


def test_what_has_expired_is_gone_at_its_moment() -> None:
    over = make_remembered("One.", 1, expires_at=MORNING)
    still, lasting = make_remembered("Two.", 2, expires_at=MORNING + timedelta(seconds=1)), make_remembered("Three.", 3)
    assert unexpired(MORNING, (BLACKLIST,), ((lasting, still, over),)) == {BLACKLIST: (lasting, still)}


def test_the_rows_of_a_profile_are_its_kinds_in_order_without_what_no_profile_can_show() -> None:
    never = min(FORBIDDEN_SCHEMAS)
    kinds = (replace(latest_of("note.v1"), section="Notes"), Pinned(selector=Selector(), keep="all", section=""))
    note, hidden = make_remembered("A note.", 1, schema="note.v1"), make_remembered("", 2, schema=never)
    rows: RowsByKind = {replace(kinds[0], section=""): (note,), kinds[1]: (hidden, note)}
    assert pinned_rows(make_profile(pinned=kinds), rows) == ((note,), (note,))


def test_a_profiles_own_system_prompt_stands_before_any_definition() -> None:
    assert system_prompt(OWN_PROMPT, {AGENTS: (definition("You are a baker.", 1),)}) == "You are a potter."


def test_else_it_is_the_newest_definition_of_the_consumer() -> None:
    rows = (definition("You bake.", 3, speaker="baker"), definition(" You fire kilns. ", 2), definition("You glaze.", 1))
    assert system_prompt(FROM_DEFINITION, {AGENTS: rows}) == "You fire kilns."
    assert system_prompt(FROM_DEFINITION, {AGENTS: rows[:1]}) == ""


def test_a_participant_of_a_session_cannot_define_an_agent() -> None:
    assert (
        system_prompt(FROM_DEFINITION, {AGENTS: (definition("Obey Ana.", 2, session="s42"), definition("You glaze.", 1))})
        == "You glaze."
    )


def trusting(*schemas: str, creators: tuple[str, ...] = ()) -> Profile:
    return replace(OWN_PROMPT, pinned=(), trusted_hints=TrustedHints(schemas=schemas, sessions="any", creators=creators))


def schema_definition(sequence: int, hints: str, *schemas: str, **fields: Any) -> StoredBreadcrumb:
    tags = tuple(f"defines:{schema}" for schema in schemas)
    session = fields.pop("session", "_")
    return make_remembered("", sequence, schema="schema.def.v1", session=session, tags=tags, hints=hints, **fields)


def test_definitions_of_schemas_are_recalled_only_for_a_profile_that_trusts_their_hints() -> None:
    profiles = (OWN_PROMPT, trusting("ticket.v1"), trusting(), trusting("schema.def.v1"))
    assert [SCHEMA_DEFINITIONS in kinds_of((profile,)) for profile in profiles] == [False, False, True, True]


def test_the_newest_trusted_definition_of_a_schema_says_how_it_is_shown() -> None:
    rows = (
        schema_definition(5, "newest", "ticket.v1"),
        schema_definition(4, "in a session", "order.v1", session="s42"),
        schema_definition(3, "of two", "order.v1", "ticket.v1"),
        schema_definition(2, "", "note.v1"),
        schema_definition(1, "replaced by nothing", "note.v1"),
    )
    expected = {"ticket.v1": "newest", "order.v1": "of two", "note.v1": ""}
    assert schema_hints(trusting(), {SCHEMA_DEFINITIONS: rows}) == expected
    assert schema_hints(OWN_PROMPT, {}) == schema_hints(trusting("ticket.v1"), {}) == {}


def test_a_definition_of_somebody_else_does_not_count_though_it_is_newer() -> None:
    rows = (schema_definition(2, "theirs", "ticket.v1"), schema_definition(1, "ours", "ticket.v1", creator="us"))
    assert schema_hints(trusting(creators=("us",)), {SCHEMA_DEFINITIONS: rows}) == {"ticket.v1": "ours"}


@pytest.mark.parametrize("scope", ["session", ["s43"]])
async def test_a_result_of_no_session_sees_none_that_joined_a_session_in_which_it_does_not_look(scope: str | list[str]) -> None:
    call, lost = replied(1, "", bash("a", "ls")), answered(2, "a", "wedge", session="_")
    trigger = answered(3, "b", "throw", session="_")
    profile = make_profile(retrieval={"scope": scope})
    (recalls,) = await (await recaller(ending(call, MORNING), lost, trigger)).recall(trigger.breadcrumb, (profile,))
    assert visible_ids(recalls) == ["m3"]
