"""Alerts and dashboard beside the metrics of a running service, and alerts that fire."""

from pathlib import Path

from builder.adapters.nats.topology import BREADCRUMBS
from builder.client import connect
from tests.alerts import RULES, absent_names, dashboard_expressions, firing, series_of
from tests.integration.profiles import with_profiles
from tests.running import Broker, Running, all_settled, jetstream, say, wait_for


async def test_every_expression_of_alerts_and_dashboard_selects_what_a_service_exposes(service: Running) -> None:
    async with jetstream(service.url) as js, connect(service.url) as client:
        await say(js, "Where do I set the API key?", "s1", "m1", "default")
        await all_settled(js)
        await client.context(session="s1")
        metrics = service.get("/metrics")[1]
    expressions = [rule["expr"] for rule in RULES] + dashboard_expressions()
    assert len(expressions) > 40
    missing = {expression: absent_names(expression, series_of(metrics)) for expression in expressions}
    assert {expression: names for expression, names in missing.items() if names} == {}
    assert firing(metrics) == set()


async def test_a_metric_or_label_that_nobody_exposes_is_noticed(service: Running) -> None:
    series = series_of(service.get("/metrics")[1])
    assert absent_names("context_builder_ready == 0", series) == set()
    assert absent_names("context_builder_peers == 0", series) == {"context_builder_peers[]"}
    assert absent_names('context_builder_part_ok{part="disk"}', series) == {"context_builder_part_ok[('part', 'disk')]"}
    assert absent_names("sum by (session) (context_builder_ready)", series) == {"session"}


async def test_dead_letters_and_refused_templates_fire_until_they_are_mended(tmp_path: Path, broker: Broker) -> None:
    templates = with_profiles(tmp_path, {"usual": "extends: default\ntriggers: []\n"})
    with Running(tmp_path / "service", broker.url, templates_dir=templates, name="alerting") as service:
        async with jetstream(service.url) as js:
            await js.publish("alerting.breadcrumbs.acme.s1.user.message.v1", b"no JSON", stream=f"alerting-{BREADCRUMBS}")
        bad = templates / "profiles" / "default.yaml"
        bad.write_text("budget: much\n", "utf-8")
        both = {"ContextBuilderDeadLetters", "ContextBuilderTemplatesRefused"}
        wait_for(lambda: alerts_of(service) == both, "both alerts")
        bad.unlink()
        wait_for(lambda: alerts_of(service) == {"ContextBuilderDeadLetters"}, "one alert")


def alerts_of(service: Running) -> set[str]:
    """With a fresh look at all parts, for which a scrape alone would wait."""
    service.get("/readyz")
    return firing(service.get("/metrics")[1])
