"""The model is prepared before any process needs it."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.models import prepared
from tests.running import Broker, Running


@pytest.fixture(scope="session", autouse=True)
def _model() -> None:
    prepared()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("module")


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[Broker]:
    with Broker(folder / "broker") as running:
        yield running


@pytest.fixture(scope="module")
def service(folder: Path, broker: Broker) -> Iterator[Running]:
    """The service, for modules that change nothing of its settings."""
    with Running(folder / "service", broker.url) as running:
        yield running


@pytest.fixture
def workspace() -> str:
    """A workspace of the test alone."""
    return f"w{uuid4().hex[:12]}"
