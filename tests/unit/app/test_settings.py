"""Settings, and the table that documents them."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from builder.app.settings import EmbeddingSettings, Settings, check_names
from builder.domain.errors import Misconfigured

PAGE = Path(__file__).resolve().parents[3] / "builder" / "docs" / "operations.md"
BEGIN = "<!-- settings: UPDATE_DOCS=1 writes it, tests/unit/app/test_settings.py -->\n"
END = "<!-- end of settings -->"


def rows(model: type[BaseModel], prefix: str = "CONTEXT_BUILDER_") -> Iterator[str]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from rows(field.annotation, f"{prefix}{name.upper()}__")
        else:
            yield f"| `{prefix}{name.upper()}` | {shown(field.default)} | {field.description} |"


def shown(default: Any) -> str:
    text = "" if default is None or hasattr(default, "get_secret_value") else str(default)
    return f"`{text}`" if text else ""


def test_the_table_of_settings_is_generated_from_the_model() -> None:
    table = "\n".join(["", "| variable | default | meaning |", "|---|---|---|", *rows(Settings), "", ""])
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(f"{head}{BEGIN}{table}{END}{tail}", "utf-8")
    assert PAGE.read_text("utf-8") == f"{head}{BEGIN}{table}{END}{tail}"


def test_settings_come_from_nested_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_BUILDER_NATS__SERVERS", "nats://a:4222,nats://b:4222")
    monkeypatch.setenv("CONTEXT_BUILDER_WORKER__BATCH", "8")
    settings = Settings()
    assert settings.nats.servers == "nats://a:4222,nats://b:4222"
    assert settings.worker.batch == 8


def test_lifetimes_are_given_as_json_in_the_place_of_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_BUILDER_LIFETIMES", '{"note.v1 draft": 12}')
    assert Settings().lifetimes == {"note.v1 draft": 12}
    monkeypatch.setenv("CONTEXT_BUILDER_LIFETIMES", '{"note.v1": 0}')
    with pytest.raises(ValidationError, match="greater than 0"):
        Settings()


def test_an_unknown_nested_setting_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXT_BUILDER_NATS__SERVER", "nats://a:4222")
    with pytest.raises(ValidationError, match="extra"):
        Settings()


def test_a_password_is_never_printed() -> None:
    settings = Settings.model_validate({"nats": {"password": "swordfish"}})
    assert "swordfish" not in repr(settings)


@pytest.mark.parametrize(
    ("variable", "near"),
    [
        ("WROKER__BATCH", "WORKER__BATCH"),
        ("WORKER_BATCH", "WORKER__BATCH"),
        ("NATS__USRE", "NATS__USER"),
        ("DATADIR", "DATA_DIR"),
        ("HTTP_PORT", "HTTP__PORT"),
    ],
)
def test_a_variable_that_no_setting_reads_is_refused_with_the_nearest_name(variable: str, near: str) -> None:
    with pytest.raises(Misconfigured, match=f"CONTEXT_BUILDER_{variable} is no setting; did you mean CONTEXT_BUILDER_{near}"):
        check_names({"PATH": "/bin", f"CONTEXT_BUILDER_{variable}": "9000"})


def test_settings_and_the_variables_of_service_links_are_taken() -> None:
    links = {
        "SERVICE_HOST": "10.0.0.1", "SERVICE_PORT": "8080", "SERVICE_PORT_HTTP": "8080", "PORT": "tcp://10.0.0.1:8080",
        "PORT_8080_TCP": "tcp://10.0.0.1:8080", "PORT_8080_TCP_ADDR": "10.0.0.1", "NATS_SERVICE_HOST": "10.0.0.2",
        "NATS_PORT": "tcp://10.0.0.2:4222", "NATS_PORT_4222_TCP_PROTO": "tcp", "MY_NATS_SERVICE_PORT_CLIENT": "4222",
    }  # fmt: skip
    ours = {"NAME": "a", "nats__servers": "nats://h", "NATS": '{"user": "u"}', "LIFETIMES": "{}", "WORKER__BATCH": "3"}
    check_names({f"CONTEXT_BUILDER_{name}": value for name, value in (links | ours).items()})


def test_the_settings_in_models_md_exist() -> None:
    text = (Path(__file__).parents[3] / "builder" / "docs" / "models.md").read_text("utf-8")
    names = set(re.findall(r"CONTEXT_BUILDER_EMBEDDING__(\w+)=", text))
    assert names
    assert {name.lower() for name in names} <= EmbeddingSettings.model_fields.keys()
