"""The endpoint of the settings: opened where one is configured, refused with what to do where it cannot be."""

import sys

import pytest

from builder.app.settings import SummariesSettings
from builder.domain.errors import Misconfigured
from builder.extras.summaries.opening import open_endpoint


async def test_without_an_address_there_is_none_and_with_one_it_has_the_name_of_its_model() -> None:
    async with open_endpoint(SummariesSettings(), len) as endpoint:
        assert endpoint is None
    async with open_endpoint(SummariesSettings(url="http://127.0.0.1:9/v1", model="mini"), len) as endpoint:
        assert endpoint
        assert endpoint.name == "mini"


@pytest.mark.parametrize(
    "summaries", [SummariesSettings(url="127.0.0.1:9", model="mini"), SummariesSettings(url="http://127.0.0.1:9/v1")]
)
async def test_an_address_without_a_scheme_or_a_model_is_refused(summaries: SummariesSettings) -> None:
    with pytest.raises(Misconfigured, match="give a URL like https://host/v1 and the name of a model"):
        async with open_endpoint(summaries, len):
            pass


async def test_without_the_sdk_an_endpoint_is_refused_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "builder.extras.endpoints.summarizer", raising=False)
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Misconfigured, match=r"'openai' is not installed; run pip install '.\[service,openai\]'"):
        async with open_endpoint(SummariesSettings(url="http://127.0.0.1:9/v1", model="mini"), len):
            pass
