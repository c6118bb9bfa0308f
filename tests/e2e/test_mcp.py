"""The MCP door, asked by the official client over standard input and over HTTP, as the page mcp.md configures it."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent

from builder import __version__
from builder.client import connect
from builder.extras.mcp.server import mcp_server
from tests.commands import COMMAND
from tests.mcp_clients import data, over_http, said, serving
from tests.running import Broker, Running

PAGE = (Path(__file__).parents[2] / "builder" / "docs" / "mcp.md").read_text("utf-8")
TOOLS = ["build_context", "search", "list_omitted", "fetch_omitted", "history", "remember", "forget"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service without a model."""
    with Running(tmp_path_factory.mktemp("mcp"), nats__port=0, embedding__engine="none") as running:
        yield running


def configuration(mark: str) -> dict[str, object]:
    """The server that the block of this mark configures."""
    (block,) = re.findall(rf"<!-- {mark}: [^\n]*-->\n```json\n(.*?)```", PAGE, re.DOTALL)
    servers = json.loads(block)
    return dict((servers.get("mcpServers") or servers["servers"])["context-builder"])


@asynccontextmanager
async def connected(env: dict[str, str], mark: str = "claude") -> AsyncIterator[Client]:
    """The official client on the server of a configuration."""
    server = configuration(mark)
    assert server["command"] == "context-builder"
    arguments = [str(each) for each in server["args"]]  # type: ignore[attr-defined]
    async with Client(StdioServerParameters(command=COMMAND, args=arguments, env=env)) as client:
        yield client


def inside(url: str) -> Client:
    """The official client on the same server in this process: what tools do hangs on no pipe. url: of the broker."""
    return Client(mcp_server(lambda: connect(url)))


@pytest.mark.parametrize("mark", ["claude", "vscode"])
async def test_a_configuration_of_the_page_starts_a_server_with_a_stable_list_of_tools(service: Running, mark: str) -> None:
    async with connected(service.env, mark) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        assert all(tool.description for tool in (await client.list_tools()).tools)
        assert client.server_info is not None
        assert client.server_info.version == __version__
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["context://{consumer}/{session}"]


async def test_a_message_is_remembered_found_shown_and_forgotten(service: Running) -> None:
    async with connected(service.env) as client:
        assert (
            (await said(client, "build_context", text="The kiln is K-4711.", session="s1"))
            .rstrip()
            .endswith("The kiln is K-4711.")
        )
        note = await said(client, "remember", note="The kiln needs two cones.")
        page = await said(client, "build_context", text="Which kiln is it?", session="s1", user_id="ada")
        assert "The kiln is K-4711." in page
        resource = await client.read_resource("context://default/s1")
        assert [getattr(each, "text", "") for each in resource.contents] == [page]
        found = await said(client, "search", text="Which kiln is it?", session="s1")
        (identity,) = re.findall(r"^\[(\S+)\] .*: The kiln is K-4711\.$", found, re.MULTILINE)
        assert "two cones" in await said(client, "search", text="What does the kiln need?")
        assert (await said(client, "history", session="s1", limit=1)).endswith("User: Which kiln is it?")
        assert "this would be erased for ever; call again with confirm=true" in await said(client, "forget", id=identity)
        assert await said(client, "forget", id=identity, confirm=True) == "1 receipts"
        assert "K-4711" not in await said(client, "search", text="Which kiln is it?")
        assert note in await said(client, "search", text="What does the kiln need?")
        assert (await said(client, "forget", session="s1")).startswith("1 messages of session 's1'\nthis would be erased")
        assert await said(client, "forget", session="s1", confirm=True) == "1 receipts"
        assert await said(client, "forget", user_id="ada", confirm=True) == "it was forgotten before"
        assert "name one of id, session and user_id" in await said(client, "forget", confirm=True)


async def test_each_tool_says_what_it_may_change_and_what_its_data_are(service: Running) -> None:
    async with inside(service.url) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    hints = {name: tool.annotations for name, tool in tools.items() if tool.annotations}
    assert {name for name, each in hints.items() if each.read_only_hint} == {"search", "list_omitted", "fetch_omitted", "history"}
    assert {name for name, each in hints.items() if each.destructive_hint} == {"forget"}
    assert all(tool.title and tool.output_schema for tool in tools.values())


async def test_results_are_data_with_ids_and_what_is_left_out_is_listed_and_read(service: Running) -> None:
    async with inside(service.url) as client:
        for number in range(60):
            note = f"Number {number}: " + f"the weather of day {number} was fine and nobody came by the yard. " * 6
            await client.call_tool("build_context", {"text": note, "session": "long"})
        page = await data(client, "build_context", text="When was the weather of day 3 fine?", session="long")
        assert page["missing"] > 0 < page["missing_tokens"]
        assert page["tokens"] <= page["budget"]
        omissions = await data(client, "list_omitted", session="long")
        assert (omissions["trigger"], omissions["count"], omissions["tokens"]) == (
            page["trigger"], page["missing"], page["missing_tokens"],
        )  # fmt: skip
        first = omissions["omitted"][0]
        text = await said(client, "list_omitted", session="long")
        assert text.startswith(f"{page['missing']} breadcrumbs are not on the page (")
        assert f"[{first['id']}] {first['tokens']} tokens" in text
        piece = await data(client, "fetch_omitted", id=first["id"], session="long")
        assert (piece["id"], "the weather" in piece["text"]) == (first["id"], True)
        newest = (await data(client, "history", session="long", limit=2))["messages"]  # a summary may have come meanwhile
        assert (page["trigger"], "long") in [(each["id"], each["session"]) for each in newest]
        passages = (await data(client, "search", text="the weather of day 3", session="long"))["passages"]
        assert {"id", "session", "probability"} <= passages[0].keys()
        kept = await data(client, "remember", note="Bring an umbrella.")
        assert await data(client, "forget", id=kept["id"]) == {"id": kept["id"], "is_done": False, "receipts": 0}
        assert await data(client, "forget", id=kept["id"], confirm=True) == {"id": kept["id"], "is_done": True, "receipts": 1}


async def test_the_prompt_has_the_last_page_and_the_question_and_says_what_is_missing(service: Running) -> None:
    async with inside(service.url) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert (prompt.name, [each.name for each in prompt.arguments or ()]) == (
            "answer_from_page", ["session", "question", "consumer"],
        )  # fmt: skip
        page = await data(client, "build_context", text="The kiln is K-9.", session="prompt")
        (message,) = (await client.get_prompt(prompt.name, {"session": "prompt", "question": "Which kiln?"})).messages
        assert isinstance(message.content, TextContent)
        assert page["content"].rstrip() in message.content.text
        assert "Question: Which kiln?" in message.content.text
        with pytest.raises(MCPError, match="no context of 'default' in session 'nowhere'"):
            await client.get_prompt(prompt.name, {"session": "nowhere", "question": "Which kiln?"})


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("history", {"session": "s", "limit": 1000}, "limit is 1000; send a whole number from 1 to 100, most messages"),
        ("search", {}, "text is missing; send a text, the words"),
        ("forget", {"id": 7}, "id is 7; send a text, id of a message, as a page or a result names it"),
        (
            "forget",
            {"id": "m", "confirm": "perhaps"},
            "confirm is a text of 7 characters; send true or false, as forget describes it",
        ),
    ],
)
async def test_wrong_arguments_are_refused_in_our_own_sentences(
    service: Running, tool: str, arguments: dict[str, object], sentence: str
) -> None:
    async with inside(service.url) as client:
        assert await said(client, tool, **arguments) == f"error: Error executing tool {tool}: {sentence}"


async def test_errors_are_content_in_the_sentences_of_the_client(service: Running, tmp_path: Path) -> None:
    async with inside(service.url) as client:
        assert "there is no breadcrumb 'nothing'" in await said(client, "forget", id="nothing")
        assert "no profile of the service names the consumer 'nobody'" in await said(
            client, "build_context", text="Hello", session="s", consumer="nobody"
        )
        assert "limit" in await said(client, "history", session="s", limit=1000)
    with Broker(tmp_path / "broker") as broker:
        async with inside(broker.url) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS, "without a service, too"
            assert "is the service up on this broker?" in await said(client, "search", text="Hello")


async def test_streamable_http_serves_the_same_tools(service: Running, tmp_path: Path) -> None:
    with serving(service.env, tmp_path) as url:
        token = Path(service.env["CONTEXT_BUILDER_DATA_DIR"], "http-token").read_text("utf-8")
        async with over_http(url, token) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
            assert "nothing is remembered" in await said(client, "history", session="nowhere")
