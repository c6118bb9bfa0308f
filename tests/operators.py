"""An operator-mode server: an operator, its accounts and users, each signed by the one above. Source: NATS JWT version 2."""

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nkeys  # type: ignore[import-untyped]

CONNECTIONS: dict[str, Any] = dict.fromkeys(("subs", "data", "payload", "imports", "exports", "conn", "leaf"), -1)
JETSTREAM: dict[str, Any] = dict.fromkeys(("mem_storage", "disk_storage", "streams", "consumer"), -1)
PREFIXES = {"operator": nkeys.PREFIX_BYTE_OPERATOR, "account": nkeys.PREFIX_BYTE_ACCOUNT, "user": nkeys.PREFIX_BYTE_USER}

AGENT_PUBLISHES = [
    "requests.acme.durable.weather",
    "$JS.API.CONSUMER.INFO.CONTEXTS.acme=weather",
    "$JS.API.CONSUMER.MSG.NEXT.CONTEXTS.acme=weather",
    "$JS.ACK.CONTEXTS.acme=weather.>",
]


@dataclass(frozen=True, slots=True)
class Identity:
    """Key pair of an operator, an account or a user."""

    seed: bytes
    public: str


def identity(kind: str, number: int) -> Identity:
    """number: others have others."""
    seed = nkeys.encode_seed(bytes([number]) * 32, PREFIXES[kind])
    return Identity(seed, nkeys.from_seed(bytearray(seed)).public_key.decode())


def token(kind: str, name: str, subject: Identity, issuer: Identity, **claims: Any) -> str:
    """A signed JWT. claims: of its kind."""
    payload = {
        "jti": name, "iat": 1_700_000_000, "iss": issuer.public, "name": name, "sub": subject.public,
        "nats": {"type": kind, "version": 2, **claims},
    }  # fmt: skip
    head = f"{encoded({'typ': 'JWT', 'alg': 'ed25519-nkey'})}.{encoded(payload)}"
    signature = nkeys.from_seed(bytearray(issuer.seed)).sign(head.encode())
    return f"{head}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def encoded(part: dict[str, Any]) -> str:
    """As JWTs have it."""
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def operator_mode(folder: Path) -> tuple[str, dict[str, Path]]:
    """Lines of a server's configuration, and .creds files: `service` may do all, `weather` hears its own contexts."""
    operator, system, account = identity("operator", 1), identity("account", 2), identity("account", 3)
    accounts = {
        system.public: token("account", "SYS", system, operator, limits=CONNECTIONS | {"wildcards": True}),
        account.public: token("account", "APP", account, operator, limits=CONNECTIONS | JETSTREAM | {"wildcards": True}),
    }
    preload = "\n".join(f"  {public}: {jwt}" for public, jwt in accounts.items())
    lines = (
        f"operator: {token('operator', 'O', operator, operator)}\nsystem_account: {system.public}\nresolver: MEMORY\n"
        f"resolver_preload: {{\n{preload}\n}}\n"
    )
    files = {}
    users: tuple[tuple[str, dict[str, Any]], ...] = (
        ("service", {"pub": {}, "sub": {}}),
        ("weather", {"pub": {"allow": AGENT_PUBLISHES}, "sub": {"allow": ["_INBOX.weather.>"]}}),
    )
    for number, (name, permissions) in enumerate(users, 4):
        user = identity("user", number)
        jwt = token("user", name, user, account, subs=-1, data=-1, payload=-1, **permissions)
        files[name] = folder / f"{name}.creds"
        files[name].write_text(
            f"-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------\n",
            "utf-8",
        )
    return lines, files
