"""A violation of permissions names what has to be granted."""

import pytest

from builder.client.connecting import permission, refusal


@pytest.mark.parametrize(
    ("subject", "granted"),
    [
        ("$js.api.stream.info.breadcrumbs", "$JS.API.STREAM.INFO.BREADCRUMBS"),
        ("$js.api.stream.msg.get.contexts", "$JS.API.STREAM.MSG.GET.CONTEXTS"),
        ("$js.api.stream.info.kv_staging-workers", "$JS.API.STREAM.INFO.KV_staging-workers"),
        ("$js.api.consumer.create.staging-breadcrumbs.staging.breadcrumbs.>", "$JS.API.CONSUMER.CREATE.staging-BREADCRUMBS.>"),
        ("$js.api.consumer.msg.next.breadcrumbs.context-builder", "$JS.API.CONSUMER.MSG.NEXT.BREADCRUMBS.>"),
        ("$js.ack.breadcrumbs.context-builder.1.2.3", "$JS.ACK.BREADCRUMBS.>"),
        ("$kv.context-builder-workers.ab12", "$KV.context-builder-workers.>"),
        ("_inbox.abc.*", "_INBOX.>"),
        ("$srv.*", "$SRV.>"),
        ("$srv.*.context-builder.x", "$SRV.>"),
        ("contexts.acme.default.s1.id", "contexts.>"),
        ("staging.contexts.acme.default.s1.id", "staging.contexts.>"),
        ("probes.context-builder", "probes.>"),
    ],
)
def test_a_subject_needs_the_permission_for_everything_of_its_kind(subject: str, granted: str) -> None:
    assert permission(subject) == granted


def test_only_violations_of_permissions_are_refusals() -> None:
    error = Exception('nats: permissions violation for subscription to "requests.*.*" using queue "context-builder"')
    assert "refuses the permission subscribe 'requests.>'; grant it" in refusal(error)
    assert refusal(Exception("nats: timeout")) == refusal(None) == ""
