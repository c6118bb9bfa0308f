"""A session as a framework keeps it: told whole again and again, by one user, and never told what was forgotten."""

from collections.abc import Callable
from typing import Any

import pytest

from builder.client import Rejected
from builder.client.sync import SyncClient
from builder.integrations.conversation import Conversation
from builder.integrations.messages import identity_of
from tests.frameworks.talk import schemas

WORDS = [(f"m{number}", {"role": "user", "content": f"Word {number}."}) for number in range(4)]


def texts(client: SyncClient, session: str) -> list[str]:
    return [record.text for record in client.history(session)]


@pytest.mark.parametrize("forgotten", [[2], [1, 2], [0, 1, 2]])
def test_what_was_forgotten_is_not_published_again(client: SyncClient, forgotten: list[int]) -> None:
    conversation = Conversation(client, f"co forgotten {len(forgotten)}", "ada")
    conversation.keep(WORDS[:3])
    records = list(client.history(conversation.session))
    for number in forgotten:
        client.forget(records[number].id)
    conversation.keep(WORDS[:3])
    conversation.keep(WORDS)
    kept = [message["content"] for number, (_, message) in enumerate(WORDS) if number not in forgotten]
    assert texts(client, conversation.session) == kept


def test_what_a_crash_left_out_is_published_later(client: SyncClient) -> None:
    conversation = Conversation(client, "co crash", "ada")
    conversation.keep(WORDS[:1])
    client.send_user_message("co crash", "Word 1.", user_id="ada", message_id=identity_of("co crash", "m1"))
    conversation.keep(WORDS)
    assert texts(client, "co crash") == [message["content"] for _, message in WORDS]


@pytest.mark.parametrize(
    "act",
    [
        Conversation.page,
        Conversation.question,
        Conversation.clear,
        lambda theirs: theirs.add({"role": "user", "content": "Where is the kiln?"}),
        lambda theirs: theirs.add({"role": "assistant", "content": "Behind the house."}),
        lambda theirs: theirs.keep(WORDS),
    ],
)
def test_a_session_of_one_user_is_closed_to_another(client: SyncClient, act: Callable[[Conversation], Any]) -> None:
    mine = Conversation(client, "co room", "ada")
    if not mine.question():
        mine.add({"role": "user", "content": "My salary is 100k."})
        mine.add({"role": "assistant", "content": "Noted."})
    with pytest.raises(Rejected, match="session 'co room' is that of 'ada'; give 'ben' another one"):
        act(Conversation(client, "co room", "ben"))
    assert schemas(client, "co room") == ["user.message", "agent.response"]
    assert mine.page()[-1]["content"] == "Noted."
    assert Conversation(client, "co room").page() == mine.page()


def test_the_same_names_in_two_sessions_are_two_messages(client: SyncClient) -> None:
    for session in ("co one", "co two"):
        Conversation(client, session).keep(WORDS[:2])
    assert texts(client, "co one") == texts(client, "co two") == ["Word 0.", "Word 1."]
    assert identity_of("a", "b\0c") != identity_of("a\0b", "c")


def test_another_agent_of_the_service_is_not_asked(client: SyncClient) -> None:
    Conversation(client, "co alone", "ada").add({"role": "user", "content": "Where is the kiln?"})
    client.send_user_message("co both", "Where is the kiln?", message_id="co-both")
    assert client.page("co both", "co-both").questions == ("co-both",)
    (message,) = client.history("co alone")
    assert message.to == ("framework",)
    with pytest.raises(Rejected, match="no context of 'default'"):
        client.context("default", session="co alone")
