"""A search is a question of its own: in a session, in a person's memory, in the workspace."""

import pytest

from builder.client import Client, Rejected

SAID = {
    "kitchen": (
        ("ada", "The oven timer is broken, it rings after nine minutes."),
        ("ada", "We bake the rye bread at 230 degrees."),
    ),
    "studio": (("ben", "The kiln K-4711 stands in the yard."), ("ada", "My glaze for the kiln is called Moss.")),
}


@pytest.fixture
async def talk(client: Client) -> Client:
    """A client of a workspace in which two people spoke in two sessions."""
    for session, lines in SAID.items():
        for number, (user, text) in enumerate(lines):
            await client.send_user_message(session, text, user_id=user, message_id=f"{session}-{number}")
    return client


async def test_a_session_is_searched_and_what_answers_comes_first(talk: Client) -> None:
    first, *_ = await talk.search("How hot is the oven for the rye bread?", session="kitchen")
    assert (first.id, first.session, first.speaker, first.user_id) == ("kitchen-1", "kitchen", "User", "ada")
    assert first.text == "We bake the rye bread at 230 degrees."
    assert 0 < first.probability <= 1
    results = await talk.search("Where is the kiln?", session="kitchen")
    assert all(each.session == "kitchen" for each in results)


async def test_without_a_session_the_whole_workspace_is_searched(talk: Client) -> None:
    results = await talk.search("Where does the kiln K-4711 stand?")
    assert results[0].id == "studio-0"
    assert [each.id for each in await talk.search("Where does the kiln K-4711 stand?", limit=1)] == ["studio-0"]


async def test_a_person_s_memory_has_what_they_said_and_nothing_of_others(talk: Client) -> None:
    results = await talk.search("What is with the oven and the rye bread?", user_id="ada")
    assert {"kitchen-0", "kitchen-1"} <= {each.id for each in results} <= {"kitchen-0", "kitchen-1", "studio-1"}
    assert not await talk.search("What is with the oven?", user_id="nobody")


async def test_a_search_looks_only_before_a_place_and_only_into_the_schemas_that_it_names(talk: Client) -> None:
    (first, *_) = await talk.search("Which glaze is for the kiln?", session="studio")
    earlier = await talk.search("Which glaze is for the kiln?", session="studio", before=first.sequence)
    assert first.id not in {each.id for each in earlier}
    await talk.remember("The kiln needs two cones.")
    assert [each.text for each in await talk.search("What does the kiln need?", schemas=["note.v1"])] == [
        "The kiln needs two cones."
    ]


async def test_an_answer_is_found_by_what_it_calls_though_it_says_nothing(client: Client) -> None:
    for number, item in enumerate(("clay", "glaze")):
        call = {"tool": "weigh_it", "input": {"item": item}, "requestId": f"c{number}"}
        await client.send("agent.response.v1", {"message": "", "tool_requests": [call]}, session="s", id=f"a{number}")
    await client.send_user_message("s", "Does it rain?")
    first, *_ = await client.search("weigh the glaze", session="s")
    assert (first.id, first.text) == ("a1", "weigh_it item: glaze")


async def test_what_was_forgotten_is_found_by_nobody(talk: Client) -> None:
    assert await talk.search("Where does the kiln K-4711 stand?")
    await talk.forget("studio-0")
    assert "studio-0" not in {each.id for each in await talk.search("Where does the kiln K-4711 stand?")}


async def test_a_search_that_cannot_be_made_is_refused_in_a_sentence(talk: Client) -> None:
    with pytest.raises(Rejected, match="name one of `session` and `user_id`, or none"):
        await talk.search("Anything", session="kitchen", user_id="ada")
    with pytest.raises(Rejected, match="limit: Input should be less than or equal to 100"):
        await talk.search("Anything", limit=101)
    with pytest.raises(Rejected, match="text: String should have at least 1 character"):
        await talk.search("")


async def test_sessions_are_listed_by_when_they_spoke_last_and_by_user(talk: Client) -> None:
    assert [each.session async for each in talk.sessions()] == ["studio", "kitchen"]
    assert [each.session async for each in talk.sessions(user_id="ben")] == ["studio"]
    await talk.send_user_message("kitchen", "Is it warm?", user_id="ben")
    ends = [each async for each in talk.sessions(user_id="ben")]
    assert [each.session for each in ends] == ["kitchen", "studio"]
    assert ends[0].sequence > ends[1].sequence
    assert [each async for each in talk.sessions(user_id="nobody")] == []
