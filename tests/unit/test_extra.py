"""What the installed extras bring, found by kind and name."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from builder.app.address import broker_address, configured_servers
from builder.app.settings import NatsSettings, Settings
from builder.domain.errors import Misconfigured
from builder.domain.page_format import PageFormat
from builder.extra import BrokerStarter, Extra, StartedBroker, additions, broker_starter


def start(url: str, data: Path, port: int) -> AbstractAsyncContextManager[StartedBroker]:
    raise NotImplementedError(url, data, port)


STARTER = BrokerStarter(start=start, program=lambda: "toy-broker")


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Extra]:
    """The extras of the test; it may add some."""
    extras = {"toy": Extra(brokers={"toy": STARTER})}
    monkeypatch.setattr("builder.extra.extras", lambda: extras)
    return extras


@pytest.mark.usefixtures("installed")
def test_a_broker_is_started_by_the_extra_of_its_scheme_and_others_run_already() -> None:
    assert broker_starter("toy://here") is STARTER
    assert [broker_starter(servers) for servers in ("nats://a:4222", "a:4222", "tls://a:4222,tls://b:4222")] == [None] * 3
    with pytest.raises(Misconfigured, match="no installed extra starts a broker; set CONTEXT_BUILDER_NATS__SERVERS"):
        broker_starter("")


@pytest.mark.usefixtures("installed")
def test_commands_look_for_the_service_where_it_starts_the_broker_itself(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, nats=NatsSettings(servers="toy://here"))
    assert configured_servers(settings) == ""
    assert broker_address(settings, "").guess.startswith("no servers are configured and no service runs on")
    assert broker_address(settings, "nats://a:4222").servers == "nats://a:4222"
    assert broker_address(Settings(nats=NatsSettings(servers="nats://b:4222")), "").is_configured


def test_no_extra_takes_a_scheme_that_every_client_connects_to(installed: dict[str, Extra]) -> None:
    installed["rival"] = Extra(brokers={"nats": STARTER})
    with pytest.raises(Misconfigured, match="the extra 'rival' brings 'nats' to the brokers, which has it already"):
        broker_starter("nats://a:4222")


def test_the_settings_take_every_installed_engine_and_name_them(installed: dict[str, Extra]) -> None:
    installed["dice"] = Extra(engines={"dice": print})
    assert Settings.model_validate({"embedding": {"engine": "dice"}}).embedding.engine == "dice"
    with pytest.raises(ValueError, match="Input should be 'onnx', 'dice' or 'none'"):
        Settings.model_validate({"embedding": {"engine": "endpoint"}})


def test_an_extra_that_cannot_make_what_it_brings_is_named(installed: dict[str, Extra]) -> None:
    def formats() -> dict[str, PageFormat]:
        raise ImportError("no module named 'vendor'")

    installed["vendor"] = Extra(page_formats=formats)
    with pytest.raises(Misconfigured, match="the extra 'vendor' cannot make its page_formats: no module named 'vendor'; update"):
        additions("page_formats")
