"""What a connection is made with: credentials and TLS of the settings."""

from pathlib import Path

import pytest

from builder.app.broker import client_options
from builder.app.settings import NatsSettings, Settings
from builder.domain.errors import Misconfigured


def options(**nats: object) -> dict[str, object]:
    return client_options("nats://a:4222", Settings(nats=NatsSettings.model_validate(nats)))


def test_without_files_the_url_decides_about_tls() -> None:
    assert "tls" not in options()


def test_certificate_and_key_come_together() -> None:
    with pytest.raises(Misconfigured, match="TLS_CERT and __TLS_KEY; set both, or none"):
        options(tls_cert="client.crt")


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="look at /nowhere/ca"):
        options(tls_ca="/nowhere/ca.crt")
    (tmp_path / "key").write_text("no key", "utf-8")
    with pytest.raises(Misconfigured, match="cannot be used"):
        options(tls_cert=tmp_path / "key", tls_key=tmp_path / "key")
