"""A context is explained as it was built, also when no engine was there for its trigger."""

import pytest

from builder.domain.context import DEGRADED
from builder.domain.errors import Rejected
from builder.publish.event import encode
from tests.factories import HashingEmbedder, make_breadcrumb, make_profile
from tests.unit.service.test_service import make_builder

PROFILE = make_profile(budget=400)
QUESTION = make_breadcrumb("Where does the blue kiln stand?", 90)


async def test_a_context_that_was_built_without_an_engine_is_the_same_when_the_engine_is_back() -> None:
    embedder = HashingEmbedder()
    builder = make_builder(embedder)
    for number in range(1, 60):
        await builder.remember(make_breadcrumb(f"Number {number}: the blue kiln stands in shed {number % 7}.", number))
    embedder.away = True
    (published,) = (await builder.build(QUESTION, (PROFILE,))).contexts
    embedder.away = False
    assert DEGRADED in published.flags
    again, explanation = await builder.explain(QUESTION, PROFILE, degraded=True)
    assert encode(again) == encode(published)
    assert not explanation.receipt().question.has_vector
    now, _ = await builder.explain(QUESTION, PROFILE)
    assert DEGRADED not in now.flags


async def test_a_trigger_that_gives_no_context_says_why() -> None:
    builder = make_builder(HashingEmbedder())
    small = make_profile(consumer="small", budget=12)
    with pytest.raises(Rejected, match="raise `budget` in the profile 'small'"):
        await builder.explain(QUESTION, small)
