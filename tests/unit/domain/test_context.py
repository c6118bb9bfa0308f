"""The id of a context depends on its trigger and its consumer alone."""

from dataclasses import replace

from builder.domain.context import context_id
from tests.factories import make_context, make_remembered


def test_another_consumer_session_or_trigger_is_another_context() -> None:
    ids = {
        context_id("acme", "s42", "m1", "default"),
        context_id("acme", "s42", "m1", "support"),
        context_id("acme", "s42", "m2", "default"),
        context_id("acme", "s43", "m1", "default"),
        context_id("other", "s42", "m1", "default"),
    }
    assert len(ids) == 5


def test_no_revision_is_in_the_id_of_a_context() -> None:
    context = make_context(make_remembered("And now?", 2), ["Hello."])
    assert replace(context, profile_revision="x", template_revision="y", tokens=1).id == context.id
