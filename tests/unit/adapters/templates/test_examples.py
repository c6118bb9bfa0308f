"""Bodies that templates are tried on are bodies of their schemas."""

import json

import pytest

from builder.adapters.templates.examples import UNKNOWN_BODY, full, varied
from builder.remember.decode import BODIES


@pytest.mark.parametrize("schema", BODIES)
def test_every_example_is_a_valid_body_of_its_schema(schema: str) -> None:
    for body in (*full(schema), *varied(schema)):
        BODIES[schema].model_validate(body)


def test_variants_are_shorter_and_much_longer_than_the_example() -> None:
    example = len(json.dumps(full("agent.response.v1")[0]))
    smallest, longest = (len(json.dumps(body)) for body in varied("agent.response.v1"))
    assert smallest < example
    assert longest > 20 * example


def test_an_unknown_schema_is_tried_on_a_free_body_and_an_empty_one() -> None:
    assert full("order.placed.v1") == (UNKNOWN_BODY,)
    assert varied("order.placed.v1")[0] == {}
