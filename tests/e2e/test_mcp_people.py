"""The MCP door for tokens of users: what a tool does is narrowed to that user."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest
from mcp.shared.exceptions import MCPError

from tests.free_ports import free_port
from tests.mcp_clients import data, over_http, said, serving
from tests.running import Running, environment

RIGHTS = ["read", "write", "forget"]
TOKENS = [
    {"name": "of all", "sha256": sha256(b"all").hexdigest(), "rights": RIGHTS},
    {"name": "of Ada", "sha256": sha256(b"ada").hexdigest(), "rights": RIGHTS, "user": "ada"},
    {"name": "of Ben", "sha256": sha256(b"ben").hexdigest(), "rights": RIGHTS, "user": "ben"},
]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the door of a service whose tokens are of the workspace, of Ada and of Ben."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "tokens.yaml").write_text(json.dumps(TOKENS), "utf-8")
    with (
        Running(folder / "data", nats__port=0, embedding__engine="none", http__tokens=folder / "tokens.yaml") as running,
        serving(running.env, folder) as url,
    ):
        yield url


async def test_what_a_token_of_a_user_publishes_is_that_user_s(people: str) -> None:
    async with over_http(people, "ada") as ada, over_http(people, "all") as everybody:
        assert "The kiln is K-1." in await said(ada, "build_context", text="The kiln is K-1.", session="ada/1 & äh")
        (message,) = (await data(everybody, "history", session="ada/1 & äh"))["messages"]
        assert (message["session"], message["text"]) == ("ada/1 & äh", "The kiln is K-1.")
        assert "K-1" in await said(everybody, "search", text="Which kiln is it?", user_id="ada")
        page = await data(ada, "build_context", text="Which kiln is it?", session="ada/1 & äh", user_id="ada")
        assert (page["session"], "The kiln is K-1." in page["content"]) == ("ada/1 & äh", True)
        assert "of user 'ada' only" in await said(ada, "build_context", text="I am Ben.", session="ada/1 & äh", user_id="ben")
        note = await data(ada, "remember", note="It needs two cones.", session="ada/1 & äh")
        assert note["id"] in [each["id"] for each in (await data(ada, "history", session="ada/1 & äh"))["messages"]]
        assert "name one in which the user spoke first" in await said(ada, "remember", note="It needs two cones.")
        resource = await ada.read_resource(f"context://default/{quote('ada/1 & äh', safe='')}")
        assert [getattr(each, "text", "") for each in resource.contents] == [page["content"]]


async def test_a_token_of_a_user_sees_and_forgets_nothing_of_another(people: str) -> None:
    async with over_http(people, "ben") as ben, over_http(people, "ada") as ada:
        words = await data(ben, "build_context", text="My kiln is K-2, in the yard.", session="of-ben")
        assert "K-2" in await said(ben, "search", text="Which kiln is in the yard?")
        assert "K-2" in await said(ben, "search", text="Which kiln is in the yard?", session="of-ben")
        assert (await data(ben, "list_omitted", session="of-ben"))["trigger"] == words["trigger"]
        for scope in ({}, {"session": "of-ben"}, {"user_id": "ben"}):
            assert "K-2" not in await said(ada, "search", text="Which kiln is in the yard?", **scope)
        assert await said(ada, "history", session="of-ben") == "nothing is remembered of this session"
        assert "there is no session 'of-ben'" in await said(ada, "build_context", text="Hello", session="of-ben")
        assert "no context of 'default' in session 'of-ben'" in await said(ada, "list_omitted", session="of-ben")
        assert "no context of 'default'" in await said(ada, "fetch_omitted", id=words["trigger"], session="of-ben")
        with pytest.raises(MCPError, match="no context of 'default' in session 'of-ben'"):
            await ada.get_prompt("answer_from_page", {"session": "of-ben", "question": "Which kiln?"})
        assert "there is no breadcrumb" in await said(ada, "forget", id=words["trigger"])
        assert "error: " in await said(ada, "forget", id=words["trigger"], confirm=True)
        assert (await data(ada, "forget", session="of-ben", confirm=True))["receipts"] == 0
        assert (await data(ada, "forget", user_id="ben", confirm=True))["receipts"] == 0
        assert "K-2" in await said(ben, "history", session="of-ben")
        assert (await data(ben, "forget", user_id="ben"))["is_done"] is False
        assert (await data(ben, "forget", user_id="ben", confirm=True))["receipts"] == 1
        assert await said(ben, "history", session="of-ben") == "nothing is remembered of this session"


async def test_a_token_of_a_user_says_that_it_needs_the_http_api(tmp_path: Path) -> None:
    (tmp_path / "tokens.yaml").write_text(json.dumps(TOKENS), "utf-8")
    env = environment(tmp_path / "data", http__tokens=tmp_path / "tokens.yaml")
    with serving(env, tmp_path) as url:
        async with over_http(url, "ada") as ada:
            assert "name it with --api" in await said(ada, "history", session="s")
    with serving(env, tmp_path, "--api", f"http://127.0.0.1:{free_port()}") as url:
        async with over_http(url, "ada") as ada:
            assert "did not answer" in await said(ada, "history", session="s")
