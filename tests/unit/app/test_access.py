"""What a sender who is one person sees, writes and forgets; over HTTP: `tests/integration/test_doors.py`."""

import json
from dataclasses import replace
from typing import Any

import pytest

from builder.app.access import AccessControl
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Forbidden, Missing, Rejected
from builder.extra import Caller, Host, Right
from builder.wire.answers import breadcrumb_json
from builder.wire.forgetting import ForgetRequest
from builder.wire.requests import SearchRequest
from builder.worker.log import STREAM_END, StoredLog
from tests.factories import make_breadcrumb, make_profile, make_remembered
from tests.hosts import RIGHTS, host_of
from tests.ports import FixedConsumers
from tests.stores import DurableStore, durable_store

ALL: frozenset[Right] = frozenset(("read", "write", "forget", "export"))
ADA = Caller(name="ada", workspace="acme", user="ada", rights=ALL)
EVERYBODY = Caller(name="office", workspace="acme", rights=ALL)
NOTE = {"schema": "note.v1", "role": "other"}
SAID: tuple[tuple[str, dict[str, Any]], ...] = (
    ("own-1", {"session": "own", "user_id": "ada"}),
    ("own-2", {"session": "own", "schema": "agent.response.v1", "role": "assistant"}),
    ("private-1", {"session": "private", "user_id": "ada", "private": True}),
    ("private-2", {"session": "private", "user_id": "ada"}),
    ("bens-1", {"session": "bens", "user_id": "ben"}),
    ("bens-2", {"session": "bens", "user_id": "ada"}),
    ("shy-1", {"session": "shy", "user_id": "ben", "private": True}),
    ("shy-2", {"session": "shy", "user_id": "ada"}),
    ("agents-1", {"session": "agents", "schema": "agent.response.v1", "role": "assistant"}),
    ("note-1", {"session": "_", "user_id": "ben", **NOTE}),
    ("note-2", {"session": "_", **NOTE}),
    ("call-1", {"session": "_", "schema": "tool.response.v1", "role": "tool", "calls": ("c1",)}),
    ("notes-1", {"session": "notes", "user_id": "ben", **NOTE}),
    ("notes-2", {"session": "notes", "user_id": "ada", **NOTE}),
    ("group-1", {"session": "group", "user_id": "ada"}),
    ("group-2", {"session": "group", "user_id": "ben"}),
    ("group-3", {"session": "group", "user_id": "ben", **NOTE}),
    ("group-4", {"session": "group", "schema": "agent.response.v1", "role": "assistant"}),
    ("secret-1", {"session": "hidden", "user_id": "ben", "removes": "secret-1"}),
)


@pytest.fixture
def store() -> DurableStore:
    return durable_store()


SEARCHES: list[SearchRequest] = []
"""As the handler was asked."""


@pytest.fixture
async def access(store: DurableStore) -> AccessControl:
    """Over sessions of Ada, of Ben, of both and of agents."""
    for number, (identity, fields) in enumerate(SAID, 1):
        await store.remember(make_remembered(f"Line {number}.", number, id=identity, **fields))
    log = StoredLog(store)
    consumers = FixedConsumers(make_profile(consumer="default"))
    requests = RIGHTS | {
        "forget": replace(RIGHTS["forget"], handler=forgotten),
        "search": replace(RIGHTS["search"], handler=found),
    }
    return AccessControl(host_of(log=log, consumers=consumers), requests)


async def forgotten(_host: Host, _workspace: str, request: ForgetRequest) -> dict[str, Any]:
    return {"receipts": [{"by": request.by, "id": name} for name in request.names]}


async def found(_host: Host, _workspace: str, request: SearchRequest) -> dict[str, Any]:
    """Every breadcrumb, the last one first."""
    SEARCHES.append(request)
    crumbs = [breadcrumb_json(make_breadcrumb(identity, 1, id=identity, **fields)) for identity, fields in reversed(SAID)]
    return {"passages": crumbs[: request.limit]}


async def ask(access: AccessControl, caller: Caller, verb: str, **request: object) -> dict[str, Any]:
    return await access.answer(caller, verb, json.dumps(request).encode())


async def test_a_person_owns_the_sessions_where_it_was_the_first_person_to_speak(access: AccessControl) -> None:
    names = ("own", "private", "group", "bens", "shy", "agents", "notes", "hidden", "_", "unknown")
    assert [name for name in names if await access.owns(ADA, name)] == ["own", "private", "group"]
    assert all([await access.owns(EVERYBODY, name) for name in names])
    assert [each["session"] for each in (await ask(access, ADA, "sessions"))["sessions"]] == ["group", "private", "own"]


async def test_what_others_said_first_keeps_a_session_theirs_when_it_is_erased(
    access: AccessControl, store: DurableStore
) -> None:
    await store.erase("acme", "bens", "bens-1", STREAM_END)
    await store.erase("acme", "hidden", "secret-1", STREAM_END)
    await store.erase("acme", "notes", "notes-1", STREAM_END)
    for session in ("bens", "notes", "hidden"):
        assert not await access.owns(ADA, session)
        with pytest.raises(Missing, match=f"there is no session '{session}'"):
            await access.check_message(ADA, written(session=session))


async def test_a_person_reads_its_own_breadcrumbs_and_those_of_its_sessions(access: AccessControl) -> None:
    def sentence(identity: str) -> str:
        where = "in workspace 'acme' that can be handed out; secret, deleted and expired ones never are"
        return f"there is no breadcrumb {identity!r} {where}"

    for identity in ("own-1", "own-2", "private-1", "bens-2", "shy-2", "notes-2", "group-4"):
        assert (await ask(access, ADA, "fetch", id=identity))["id"] == identity
    for identity in ("bens-1", "shy-1", "agents-1", "notes-1", "group-2", "group-3", "call-1", "secret-1", "unknown"):
        with pytest.raises(Missing) as error:
            await ask(access, ADA, "fetch", id=identity, version=None)
        assert str(error.value) == sentence(identity)
    assert (await ask(access, EVERYBODY, "fetch", id="bens-1"))["id"] == "bens-1"


async def test_every_verb_shows_the_same_of_a_session_and_of_none(access: AccessControl) -> None:
    expected = {"own": ["own-1", "own-2"], "group": ["group-1", "group-4"], "_": ["note-1", "note-2"]}
    for session, identities in expected.items():
        listed = (await ask(access, ADA, "history", session=session))["breadcrumbs"]
        assert [each["id"] for each in listed] == identities
        await access.check_export(ADA, session)
        of_session = [make_breadcrumb("", 1, id=name, **fields) for name, fields in SAID if fields["session"] == session]
        assert [crumb.id for crumb in of_session if ADA.may_see(crumb)] == identities
        for identity in identities:
            assert (await ask(access, ADA, "fetch", id=identity))["session"] == session
    passages = (await ask(access, ADA, "search", text="kiln", limit=100))["passages"]
    shown = {each["id"] for each in passages}
    assert shown == {name for name, _ in SAID} - {
        "bens-1", "shy-1", "agents-1", "call-1", "notes-1", "group-2", "group-3", "secret-1",
    }  # fmt: skip


async def test_a_search_without_a_session_asks_for_what_the_person_said(access: AccessControl) -> None:
    SEARCHES.clear()
    await ask(access, ADA, "search", text="kiln", limit=100)
    await ask(access, ADA, "search", text="kiln", session="own")
    assert {(each.user_id, each.session) for each in SEARCHES} == {("ada", ""), ("", "own")}


async def test_what_is_hidden_takes_no_room_from_what_a_search_finds(access: AccessControl) -> None:
    for limit, ids in ((1, ["group-4"]), (3, ["group-4", "group-1", "notes-2"])):
        passages = (await ask(access, ADA, "search", text="kiln", session="group", limit=limit))["passages"]
        assert [each["id"] for each in passages] == ids


@pytest.mark.parametrize(
    "names", [{"session": "bens"}, {"session": "unknown"}, {"user_id": "ben"}, {"user_id": "unknown"}], ids=str
)
async def test_the_history_of_others_looks_like_one_that_is_empty(access: AccessControl, names: dict[str, str]) -> None:
    assert await ask(access, ADA, "history", **names) == {"breadcrumbs": [], "next": None}


async def test_a_person_forgets_what_it_said_and_what_was_said_to_it(access: AccessControl) -> None:
    for identity, session in (("own-1", ""), ("own-2", "own"), ("bens-2", "bens")):
        answer = await ask(access, ADA, "forget", id=identity, session=session, by="admin")
        assert answer == {"receipts": [{"by": "ada", "id": identity}]}
    for identity in ("bens-1", "agents-1", "note-1", "note-2", "group-2", "secret-1", "unknown"):
        await refuses_to_forget(access, identity, "")


@pytest.mark.parametrize("session", ["bens", "private", "hidden", "_", "unknown"])
async def test_a_person_forgets_nothing_in_a_session_that_lacks_it(access: AccessControl, session: str) -> None:
    await refuses_to_forget(access, "own-1", session)


@pytest.mark.parametrize(
    ("request_", "ids"),
    [
        ({"user_id": "ada"}, ["own-2", "group-1", "notes-2", "shy-2", "bens-2", "private-2", "private-1", "own-1"]),
        ({"session": "own"}, ["own-2", "own-1"]),
        ({"user_id": "ben"}, []),
        ({"session": "bens"}, []),
    ],
)
async def test_a_person_forgets_all_of_itself_or_of_its_own_session_and_nothing_of_others(
    access: AccessControl, request_: dict[str, str], ids: list[str]
) -> None:
    answer = await ask(access, ADA, "forget", **request_)
    assert [(each["id"], each["by"]) for each in answer["receipts"]] == [(name, "ada") for name in ids]
    assert answer["rest"] == 0


async def refuses_to_forget(access: AccessControl, identity: str, session: str) -> None:
    with pytest.raises(Missing, match=f"there is no breadcrumb '{identity}' in workspace 'acme'; name its session"):
        await ask(access, ADA, "forget", id=identity, session=session)


@pytest.mark.parametrize(("verb", "right"), [(verb, each.right) for verb, each in RIGHTS.items()])
async def test_each_verb_needs_its_right(access: AccessControl, verb: str, right: Right) -> None:
    caller = Caller(name="none", workspace="acme", rights=ALL - {right})
    with pytest.raises(Forbidden, match=f"and this needs {right}; use another token"):
        await ask(access, caller, verb)


def written(**fields: Any) -> Breadcrumb:
    return make_breadcrumb("I write.", 50, **{"id": "new", "session": "own", "user_id": "ada", **fields})


async def test_a_person_writes_as_itself_into_its_own_and_into_new_sessions(access: AccessControl) -> None:
    for session in ("own", "private", "unknown"):
        await access.check_message(ADA, written(session=session))
    await access.check_message(ADA, written(schema="note.v1", role="other"))
    for fields in ({"user_id": "ben"}, {"user_id": ""}, {"schema": "agent.response.v1"}):
        with pytest.raises(Forbidden):
            await access.check_message(ADA, written(**fields))
    for session in ("bens", "shy", "agents", "notes", "hidden", "_"):
        with pytest.raises(Missing, match=f"there is no session '{session}'"):
            await access.check_message(ADA, written(session=session))
    with pytest.raises(Missing, match="there is no workspace 'other'"):
        await access.check_message(EVERYBODY, written(workspace="other"))


async def test_a_person_opens_a_session_with_what_it_says_and_not_with_a_note(access: AccessControl) -> None:
    with pytest.raises(Missing, match="there is no session 'unknown'"):
        await access.check_message(ADA, written(session="unknown", **NOTE))


@pytest.mark.parametrize("identity", ["bens-1", "note-1", "agents-1", "secret-1", "gone"])
async def test_an_id_of_others_of_a_secret_and_an_erased_one_are_in_use_alike(
    access: AccessControl, store: DurableStore, identity: str
) -> None:
    await store.remember(make_remembered("Gone.", 60, id="gone", session="gone", user_id="ben"))
    await store.erase("acme", "gone", "gone", STREAM_END)
    for version in (1, 2):
        with pytest.raises(Rejected) as error:
            await access.check_message(ADA, written(id=identity, version=version))
        assert (type(error.value), str(error.value)) == (Rejected, f"the id '{identity}' is in use; take another one")


async def test_a_person_replaces_its_own_versions_only(access: AccessControl) -> None:
    await access.check_message(ADA, written(id="own-1", version=2))
    with pytest.raises(Rejected, match="is in use"):
        await access.check_message(ADA, written(version=2))


async def test_what_erases_needs_the_right_to_forget(access: AccessControl) -> None:
    writer = Caller(name="writer", workspace="acme", rights=frozenset({"write"}))
    await access.check_message(writer, written(removes="new"))
    for fields in ({"removes": "own-1", "schema": "breadcrumb.deleted.v1"}, {"id": "own-1", "removes": "own-1", "version": 2}):
        with pytest.raises(Forbidden, match="this needs forget"):
            await access.check_message(writer, written(**fields))
        await access.check_message(EVERYBODY, written(**fields))


async def test_a_context_is_for_the_person_whose_messages_it_answers(access: AccessControl) -> None:
    event = {"consumer_id": "default", "session_id": "own", "trigger_event_id": "own-1", "questions": ["own-1"]}
    assert await access.is_for(ADA, event)
    for other in ({"session_id": "bens"}, {"questions": ["own-1", "bens-1"]}, {"consumer_id": "director"}, {"questions": ["x"]}):
        assert not await access.is_for(ADA, event | other)
        assert await access.is_for(EVERYBODY, event | other)
