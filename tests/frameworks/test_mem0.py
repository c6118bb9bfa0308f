"""mem0's verbs, over the service.

The shapes are those that mem0ai 2.2.1 returned for the same calls: it does not install here, because it needs protobuf below 7.
"""

import asyncio
from typing import Any

import pytest

from builder.client.sync import SyncClient
from builder.integrations.mem0 import AsyncMemory, Memory
from tests.frameworks.page import example
from tests.running import Running

TALK = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "I bake the rye bread at 230 degrees.", "name": "Ann"},
    {"role": "assistant", "content": "Noted: 230 degrees."},
]
ADDED = {"id", "memory", "event", "actor_id", "role"}
ITEM = {"id", "memory", "hash", "metadata", "created_at", "updated_at", "user_id", "actor_id", "role"}


@pytest.fixture
def memory(client: SyncClient) -> Memory:
    return Memory(client)


def texts(results: dict[str, list[dict[str, Any]]]) -> set[str]:
    return {item["memory"] for item in results["results"]}


def test_what_is_added_for_a_user_is_found_for_them_alone_also_after_a_restart(memory: Memory, service: Running) -> None:
    added = memory.add(TALK, user_id="mem ann", metadata={"kind": "food"})["results"]
    assert [({*each}, each["event"], each["role"]) for each in added] == [(ADDED, "ADD", "user"), (ADDED, "ADD", "assistant")]
    memory.add("I bake nothing.", user_id="mem ben")
    service.stop()
    service.start()
    first, *_ = memory.search("How hot is the oven for the rye bread?", filters={"user_id": "mem ann"})["results"]
    assert first.keys() == ITEM | {"score"}
    assert (first["id"], first["memory"], first["user_id"], first["metadata"]) == (
        added[0]["id"], TALK[1]["content"], "mem ann", {"kind": "food"},
    )  # fmt: skip
    assert 0 < first["score"] <= 1
    assert texts(memory.search("Who bakes the rye bread?", filters={"user_id": "mem ben"})) <= {"I bake nothing."}
    assert texts(memory.get_all(filters={"user_id": "mem ann"})) == {each["content"] for each in TALK[1:]}
    newest, oldest = memory.get_all(filters={"user_id": "mem ann"})["results"]
    assert ({*newest}, {*oldest}) == (ITEM - {"actor_id"}, ITEM)
    assert len(memory.get_all(filters={"user_id": "mem ann"}, top_k=1)["results"]) == 1
    assert memory.search("rye bread", filters={"user_id": "mem ann"}, threshold=1.1) == {"results": []}


def test_agents_and_runs_narrow_what_is_found(memory: Memory) -> None:
    memory.add("The run is about vases.", user_id="cleo", run_id="mem0 run")
    memory.add("The potter's glaze is Moss.", user_id="cleo", agent_id="potter")
    memory.add("The baker's oven is hot.", agent_id="baker")
    found = {
        "run": {"run_id": "mem0 run"},
        "agent": {"agent_id": "potter"},
        "other": {"agent_id": "baker"},
        "both": {"user_id": "cleo", "agent_id": "potter"},
        "nobody": {"user_id": "dora", "agent_id": "potter"},
        "run of another": {"user_id": "dora", "run_id": "mem0 run"},
    }
    listed = {name: texts(memory.get_all(filters=filters)) for name, filters in found.items()}
    assert listed == {
        "run": {"The run is about vases."},
        "agent": {"The potter's glaze is Moss."},
        "other": {"The baker's oven is hot."},
        "both": {"The potter's glaze is Moss."},
        "nobody": set(),
        "run of another": set(),
    }
    for name, filters in found.items():
        assert texts(memory.search("What about vases, the glaze and the oven?", filters=filters)) <= listed[name], name
    assert texts(memory.search("What is the glaze?", filters=found["both"])) == listed["both"]


def test_what_a_user_says_through_another_door_is_remembered_too(memory: Memory, client: SyncClient) -> None:
    question = client.send_user_message("mem chat", "My cat is called Moss.", user_id="gwen")
    body = {"message": "", "trigger_event_id": question, "tool_requests": [{"tool": "cats", "input": {}, "requestId": "c1"}]}
    client.send("agent.response.v1", body, session="mem chat")
    client.send_tool_result("mem chat", "cats", "c1", "One cat.")
    assert texts(memory.get_all(filters={"user_id": "gwen"})) == {"My cat is called Moss."}
    assert texts(memory.search("What is my cat called?", filters={"user_id": "gwen"})) == {"My cat is called Moss."}


def test_a_deleted_memory_is_gone_for_ever(memory: Memory) -> None:
    (added,) = memory.add("Eva owns a boat.", user_id="eva")["results"]
    assert (memory.get(added["id"]) or {})["memory"] == "Eva owns a boat."
    assert memory.delete(added["id"]) == {"message": "Memory deleted successfully!"}
    assert (memory.get(added["id"]), memory.get_all(filters={"user_id": "eva"})) == (None, {"results": []})
    assert memory.search("Who owns a boat?", filters={"user_id": "eva"}) == {"results": []}


def test_names_that_mem0_refuses_are_refused_in_a_sentence(memory: Memory) -> None:
    with pytest.raises(ValueError, match="give one or more of user_id, agent_id and run_id"):
        memory.add("Nobody's.")
    with pytest.raises(ValueError, match="and no other"):
        memory.search("What?", filters={"user_id": "mem ann", "kind": "food"})
    with pytest.raises(ValueError, match="and no other, as filters"):
        memory.search("What?", user_id="mem ann")
    with pytest.raises(ValueError, match="and no other, as filters"):
        memory.get_all(filters={"user_id": "mem ann"}, run_id="mem run")


def test_a_memory_that_is_not_there_cannot_be_deleted(memory: Memory) -> None:
    (added,) = memory.add("Hal is here.", user_id="hal")["results"]
    memory.delete(added["id"])
    for identity in ("nothing", added["id"]):
        with pytest.raises(ValueError, match=f"Memory with id {identity} not found"):
            memory.delete(identity)


def test_messages_without_content_or_role_are_left_out_as_mem0_does(memory: Memory) -> None:
    talk: Any = [
        {"role": "assistant", "content": None, "tool_calls": []},
        {"content": "x"},
        {"role": "user", "content": "Ida paints."},
    ]
    assert [each["memory"] for each in memory.add(talk, user_id="ida")["results"]] == ["Ida paints."]
    assert texts(memory.get_all(filters={"user_id": "ida"})) == {"Ida paints."}


async def test_the_asynchronous_one_has_the_same_verbs_and_answers(client: SyncClient) -> None:
    memory = AsyncMemory(client)
    (added,) = (await memory.add("Finn likes teal.", user_id="finn"))["results"]
    found, listed = await asyncio.gather(
        memory.search("Which colour does Finn like?", filters={"user_id": "finn"}), memory.get_all(filters={"user_id": "finn"})
    )
    assert texts(found) == texts(listed) == {"Finn likes teal."}
    assert await memory.get(added["id"]) is not None
    await memory.delete(added["id"])
    assert await memory.get(added["id"]) is None
    with pytest.raises(AttributeError):
        await memory.history(added["id"])


def test_the_example_finds_what_was_said(service: Running) -> None:
    servers = service.env["CONTEXT_BUILDER_NATS__SERVERS"]
    found = example("mem0_memory.py")["remembered"]("mem example", "My kiln is K-4711.", "Which kiln is mine?", servers)
    assert found == ["My kiln is K-4711."]
