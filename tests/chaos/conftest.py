"""The model is prepared before any process needs it."""

import pytest

from tests.models import prepared


@pytest.fixture(scope="session", autouse=True)
def _model() -> None:
    prepared()
