"""Credentials and TLS as FastStream takes them: an object, where nats-py takes arguments."""

from typing import Any

from faststream.nats.security import NatsCredentials, NatsNKey, NatsSecurity, NatsToken, NatsUserPassword
from faststream.security import BaseSecurity

ARGUMENTS = frozenset({"user", "password", "token", "user_credentials", "nkeys_seed", "tls"})
"""Arguments of nats-py's connect that FastStream has in an object."""


def broker_arguments(connection: dict[str, Any]) -> dict[str, Any]:
    """Arguments of FastStream's broker. connection: of nats-py's connect."""
    others = {name: value for name, value in connection.items() if name not in ARGUMENTS}
    return others | {"security": _security(connection)}


def _security(connection: dict[str, Any]) -> BaseSecurity | None:
    tls = connection.get("tls")
    if "user" in connection:
        return NatsUserPassword(connection["user"], connection.get("password", ""), ssl_context=tls)
    if "token" in connection:
        return NatsToken(connection["token"], ssl_context=tls)
    if "user_credentials" in connection:
        return NatsCredentials.from_file(connection["user_credentials"], ssl_context=tls)
    if "nkeys_seed" in connection:
        return NatsNKey.from_file(connection["nkeys_seed"], ssl_context=tls)
    return NatsSecurity(ssl_context=tls) if tls else None
