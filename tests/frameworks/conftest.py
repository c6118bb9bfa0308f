"""One service over a real broker for each process of tests, and a model that every framework talks to."""

from collections.abc import Iterator

import anyio._backends._asyncio  # noqa: F401 - imported deep in a run, pytest's rewriting of it may fail (Python 3.11)
import pytest
from openai import OpenAI

from builder.client.sync import SyncClient, connect
from tests.chat_endpoint import ChatEndpoint, endpoint
from tests.frameworks.talk import Model
from tests.running import Broker, Running
from tests.vendor_server import VendorServer, vendor_server


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Without an engine; it may be restarted, its broker goes on."""
    folder = tmp_path_factory.mktemp("frameworks")
    with (
        Broker(folder / "broker") as broker,
        Running(folder / "data", broker.url, embedding__engine="none", worker__tool_timeout_seconds=3600) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def client(service: Running) -> Iterator[SyncClient]:
    with connect(service.env["CONTEXT_BUILDER_NATS__SERVERS"]) as connected:
        yield connected


@pytest.fixture
def chat() -> Iterator[ChatEndpoint]:
    """It must refuse nothing that a framework sends."""
    with endpoint(Model()) as server:
        yield server
        assert server.refusals == []


@pytest.fixture
def server() -> Iterator[VendorServer]:
    """A vendor's endpoint; it refused nothing when the test ends."""
    with vendor_server() as running:
        yield running
        assert running.refusals == []


@pytest.fixture
def vendor(server: VendorServer) -> Iterator[OpenAI]:
    """OpenAI's own client."""
    with OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as plain:
        yield plain
