"""Bearer tokens: a file says by their SHA-256 whose they are and what they may; `up` makes one of its own on loopback."""

import hmac
import logging
import os
import secrets
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from builder.domain.errors import Misconfigured
from builder.domain.json_text import shape
from builder.extra import Caller, Right
from builder.remember.schemas.base import UserId

log = logging.getLogger("builder.http")

OWN_TOKEN = "http-token"  # noqa: S105 - the name of a file
EVERY_RIGHT: frozenset[Right] = frozenset(("read", "write", "forget", "export"))


class TokenEntry(BaseModel):
    """One token of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str = Field(min_length=1, description="who has it, for receipts and logs")
    sha256: str = Field(pattern="^[0-9a-f]{64}$", description="of the token: printf %s TOKEN | sha256sum")
    workspace: str = Field("default", pattern="^[A-Za-z0-9_-]{1,128}$", description="the only workspace that it opens")
    user: UserId | None = Field(None, description="the only `user_id` that it sees and writes for; none = everybody")
    rights: frozenset[Right] = Field(min_length=1, description="read, write, forget, export")

    @property
    def holder(self) -> "Holder":
        """Whom it stands for."""
        return Holder(
            name=self.name, workspace=self.workspace, user=self.user or "", rights=self.rights, sha256=self.sha256
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder(Caller):
    """A caller by its token: a new token of the same name is another holder."""

    sha256: str = dataclass_field(repr=False)


class Tokens:
    """The tokens of a file, read again when it changes, or that of this machine."""

    def __init__(self, file: Path | None, own: str = "", workspace: str = "default") -> None:
        """own: opens all of the workspace. Raises `Misconfigured`."""
        self._file = file
        self._own = (TokenEntry(name="up", sha256=_digest(own), workspace=workspace, rights=EVERY_RIGHT),) if own else ()
        self._changed = _changed(file) if file else 0
        self._entries = self._own + (_read(file) if file else ())

    def caller(self, token: str) -> Caller | None:
        """None for a forged token. All entries are compared, in constant time."""
        entries, digest = self._read_again(), _digest(token)
        matches = [entry for entry in entries if hmac.compare_digest(entry.sha256, digest)]
        return matches[0].holder if matches else None

    def holders(self) -> frozenset[Caller]:
        """Of all valid tokens."""
        return frozenset(entry.holder for entry in self._read_again())

    def _read_again(self) -> tuple[TokenEntry, ...]:
        if self._file and (changed := _changed(self._file)) != self._changed:
            self._changed = changed
            try:
                self._entries = self._own + _read(self._file)
            except Misconfigured as error:
                log.warning("the tokens before stay in force: %s", error)
        return self._entries


def own_token(folder: Path) -> str:
    """The token of this machine, in a file that only its user may read; made where it is missing."""
    path = folder / OWN_TOKEN
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(32))
    return path.read_text("utf-8").strip()


def local_tokens(file: Path | None, folder: Path, workspace: str) -> Tokens:
    """Those of the file, else that of this machine. Raises `Misconfigured`."""
    if file:
        return Tokens(file.expanduser())
    return Tokens(None, own_token(folder.expanduser()), workspace)


def _digest(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def _changed(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


_ENTRIES: TypeAdapter[tuple[TokenEntry, ...]] = TypeAdapter(Annotated[tuple[TokenEntry, ...], Field(min_length=1)])


def _read(file: Path) -> tuple[TokenEntry, ...]:
    try:
        return _ENTRIES.validate_python(yaml.safe_load(file.read_text("utf-8")))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise Misconfigured(
            f"CONTEXT_BUILDER_HTTP__TOKENS: {where} of {file}: {first['msg']}, got {shape(first['input'])}; it is a list of "
            "name, sha256, workspace, user and rights; the page http.md shows one"
        ) from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Misconfigured(f"CONTEXT_BUILDER_HTTP__TOKENS: {file} cannot be read: {why}; give a YAML or JSON file") from error
