"""Summaries that a blacklist takes off every page are still made once, and once only."""

import json

from tests.factories import make_breadcrumb, make_place
from tests.summarised import BEHIND, Publishing, make_builder, make_summarising, page, remember, summary, summing, talk


async def test_a_blacklist_of_summaries_hides_them_and_does_not_have_them_made_again() -> None:
    builder, profile = make_builder(), summing(cap=200)
    body = json.dumps({"excluded_schemas": [{"schema_name": "summary.v1"}]})
    await remember(builder, talk(8))
    publishing = Publishing(builder, BEHIND)
    await make_summarising(builder, publishing, profile).look("acme", "s42", make_place(8))
    assert "K-4711" in await summary(builder, profile)
    await builder.remember(make_breadcrumb("", 1100, schema="context.blacklist.v1", session="_", role="other", body=body))
    assert "## Summary" not in await page(builder, profile, 1900)
    made = [crumb.id for crumb in publishing.out]
    await make_summarising(builder, publishing, profile).look("acme", "s42", make_place(1200))
    assert [crumb.id for crumb in publishing.out] == made
