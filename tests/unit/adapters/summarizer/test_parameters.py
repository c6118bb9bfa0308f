"""Which optional parameters a model takes, learnt from its refusals."""

import json

import pytest

from builder.adapters.summarizer.parameters import THINKING_TOKENS, Parameters


def refusal(**error: str) -> bytes:
    return json.dumps({"error": error}).encode()


def test_the_first_form_is_the_old_one() -> None:
    assert Parameters().values(100) == {"max_tokens": 400, "temperature": 0}


def test_a_refused_temperature_is_left_out() -> None:
    fewer = Parameters().without_refused(refusal(message="Unsupported value", param="temperature"))
    assert fewer == Parameters(cold=False)
    assert fewer.values(100) == {"max_tokens": 400}


def test_a_refused_limit_gives_way_to_the_newer_one_and_that_to_none() -> None:
    newer = Parameters().without_refused(
        refusal(message="max_tokens is not supported, use max_completion_tokens", param="max_tokens")
    )
    assert newer
    assert newer.values(100)["max_completion_tokens"] == 400 + THINKING_TOKENS
    assert newer.without_refused(refusal(message="Unknown", param="max_completion_tokens")) == newer.unlimited()


@pytest.mark.parametrize(
    "data", [b"no json", b"[]", refusal(message="quota exceeded"), refusal(message="unknown user", param="user")]
)
def test_an_error_about_something_else_refuses_nothing(data: bytes) -> None:
    assert Parameters().without_refused(data) is None
