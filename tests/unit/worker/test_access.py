"""What a sender who is one person sees, writes and forgets; over HTTP: `tests/integration/test_doors.py`."""

import json
from typing import Any

import pytest

from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Forbidden, Missing
from builder.worker.access import RIGHTS, AccessControl, Caller, Right
from builder.worker.log import StoredLog
from builder.worker.request_handlers import Lookup
from tests.factories import make_breadcrumb, make_profile, make_remembered
from tests.memory_store.store import MemoryStore
from tests.ports import FixedConsumers

ALL: frozenset[Right] = frozenset(("read", "write", "forget", "export"))
ADA = Caller(name="ada", workspace="acme", user="ada", rights=ALL)
EVERYBODY = Caller(name="office", workspace="acme", rights=ALL)
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
    ("note-1", {"session": "_", "schema": "note.v1", "role": "other", "user_id": "ben"}),
)


@pytest.fixture
async def access() -> AccessControl:
    """Over sessions of Ada, of Ben, of both and of agents."""
    store = MemoryStore()
    for number, (identity, fields) in enumerate(SAID, 1):
        await store.remember(make_remembered(f"Line {number}.", number, id=identity, **fields))
    log = StoredLog(store)
    consumers = FixedConsumers(make_profile(consumer="default"))
    return AccessControl(log, {**Lookup(log).verbs, "forget": forgotten}, consumers)


async def forgotten(_workspace: str, _data: bytes) -> dict[str, Any]:
    return {"receipts": [{}]}


async def ask(access: AccessControl, caller: Caller, verb: str, **request: object) -> dict[str, Any]:
    return await access.answer(caller, verb, json.dumps(request).encode())


async def test_a_person_owns_the_sessions_where_it_spoke_first_and_its_own_private_ones(access: AccessControl) -> None:
    names = ("own", "private", "bens", "shy", "agents", "_", "unknown")
    assert [name for name in names if await access.owns(ADA, name)] == ["own", "private"]
    assert all([await access.owns(EVERYBODY, name) for name in names])
    assert [each["session"] for each in (await ask(access, ADA, "sessions"))["sessions"]] == ["private", "own"]


async def test_a_person_reads_its_own_breadcrumbs_and_those_of_its_sessions(access: AccessControl) -> None:
    def sentence(identity: str) -> str:
        where = "in workspace 'acme' that can be handed out; secret, deleted and expired ones never are"
        return f"there is no breadcrumb {identity!r} {where}"

    for identity in ("own-1", "own-2", "private-1", "bens-2", "shy-2"):
        assert (await ask(access, ADA, "fetch", id=identity))["id"] == identity
    for identity in ("bens-1", "shy-1", "agents-1", "note-1", "unknown"):
        with pytest.raises(Missing) as error:
            await ask(access, ADA, "fetch", id=identity, version=None)
        assert str(error.value) == sentence(identity)
    assert (await ask(access, EVERYBODY, "fetch", id="bens-1"))["id"] == "bens-1"


@pytest.mark.parametrize("names", [{"session": "bens"}, {"session": "unknown"}, {"user": "ben"}, {"user": "unknown"}], ids=str)
async def test_the_history_of_others_looks_like_one_that_is_empty(access: AccessControl, names: dict[str, str]) -> None:
    assert await ask(access, ADA, "history", **names) == {"breadcrumbs": [], "next": None}


async def test_a_person_forgets_what_it_said_and_what_was_said_to_it(access: AccessControl) -> None:
    assert [await ask(access, ADA, "forget", id=each) for each in ("own-1", "own-2", "bens-2")] == 3 * [{"receipts": [{}]}]
    for identity in ("bens-1", "agents-1", "unknown"):
        with pytest.raises(Missing, match=f"there is no breadcrumb '{identity}' in workspace 'acme'; name its session"):
            await ask(access, ADA, "forget", id=identity)


@pytest.mark.parametrize("verb", RIGHTS)
async def test_each_verb_needs_its_right(access: AccessControl, verb: str) -> None:
    caller = Caller(name="none", workspace="acme", rights=ALL - {RIGHTS[verb]})
    with pytest.raises(Forbidden, match=f"and this needs {RIGHTS[verb]}; use another token"):
        await ask(access, caller, verb)


def written(**fields: Any) -> Breadcrumb:
    return make_breadcrumb("I write.", 50, **{"id": "new", "session": "own", "user_id": "ada", **fields})


async def test_a_person_writes_as_itself_into_its_own_and_into_new_sessions(access: AccessControl) -> None:
    for session in ("own", "private", "unknown"):
        await access.check_message(ADA, written(session=session))
    await access.check_message(ADA, written(schema="note.v1", role="other"))
    for fields in ({"user_id": "ben"}, {"user_id": ""}, {"schema": "agent.response.v1"}, {"id": "bens-1", "version": 2}):
        with pytest.raises(Forbidden):
            await access.check_message(ADA, written(**fields))
    for session in ("bens", "shy", "agents", "_"):
        with pytest.raises(Missing, match=f"there is no session '{session}'"):
            await access.check_message(ADA, written(session=session))
    with pytest.raises(Missing, match="there is no workspace 'other'"):
        await access.check_message(EVERYBODY, written(workspace="other"))


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
