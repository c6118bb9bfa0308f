"""The model is prepared before any process needs it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models import prepared
from tests.running import Broker


@pytest.fixture(scope="session", autouse=True)
def _model() -> None:
    prepared()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the module."""
    return tmp_path_factory.mktemp("module")


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[Broker]:
    """A nats-server for the module."""
    with Broker(folder / "broker") as running:
        yield running
