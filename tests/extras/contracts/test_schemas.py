"""The schemas on disk are those of the models, and both say the same about the same example."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ValidationError

from builder.app.config import bundled_folder
from builder.domain.page_settings import FORBIDDEN_SCHEMAS
from builder.extras.contracts.schemas import INBOUND, OUTBOUND, schema_files
from builder.remember.decode import BODIES

FILES = schema_files()
MODELS: dict[str, type[BaseModel]] = INBOUND | OUTBOUND
NEVER_SHOWN = FORBIDDEN_SCHEMAS & BODIES.keys()


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILES[f"{name}.json"])
    return found


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name), format_checker=Draft202012Validator.FORMAT_CHECKER)


UNCHECKED = {"knowledge.v1", "tool.code.v1"}
"""Kinds of RCRT that the preset rag finds: shown by hints of their own, taken as they come."""
TIMES = {"created_at", "ttl", "expires_at"}
"""JSON Schema only annotates formats, and the reader also takes numbers."""
EXAMPLES = [(name, example) for name in MODELS for example in schema(name)["examples"]]


def test_the_files_on_disk_are_those_of_the_models() -> None:
    folder = bundled_folder("schemas")
    assert {file.name: file.read_text("utf-8") for file in folder.iterdir()} == FILES


def test_there_is_a_file_for_every_body_the_context_the_record_the_profile_and_asyncapi() -> None:
    assert FILES.keys() == {
        f"{name}.json" for name in (*BODIES, "agent.context.v1", "asyncapi", "context.compacted.v1", "record", "profile")
    }


@pytest.mark.parametrize("name", MODELS)
def test_a_schema_is_valid_and_says_what_it_is(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema(name)["$id"] == f"urn:context-builder:schema:{name}"
    assert schema(name)["title"] == name
    assert schema(name)["description"]
    assert schema(name)["examples"]


@pytest.mark.parametrize("name", MODELS)
def test_a_schema_is_sorted_indented_text_that_ends_with_a_line_end(name: str) -> None:
    assert FILES[f"{name}.json"] == json.dumps(schema(name), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


@pytest.mark.parametrize(("name", "example"), EXAMPLES)
def test_an_example_fits_its_schema_and_its_model_and_what_the_model_writes_fits_the_schema(name: str, example: Any) -> None:
    validator(name).validate(example)
    written = MODELS[name].model_validate(example).model_dump(mode="json", by_alias=True)
    validator(name).validate(written)
    assert MODELS[name].model_validate(written) == MODELS[name].model_validate(example)


@pytest.mark.parametrize(("name", "example"), [(name, example) for name, example in EXAMPLES if name in INBOUND])
def test_whichever_field_is_missing_or_wrong_schema_and_model_agree(name: str, example: dict[str, Any]) -> None:
    for field in example.keys() - TIMES:
        rest = {key: value for key, value in example.items() if key != field}
        for value in (rest, *(rest | {field: problem} for problem in (None, 5, -1, True, "", [], ["text"], {}, {"text": "x"}))):
            assert accepted_by_schema(name, value) == accepted_by_model(name, value), value


def accepted_by_schema(name: str, value: Any) -> bool:
    return bool(validator(name).is_valid(value))


def accepted_by_model(name: str, value: Any) -> bool:
    try:
        MODELS[name].model_validate(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "body",
    [
        {"content": "text"},
        {"message": "text"},
        {"text": "text"},
        {"content": None, "message": "text"},
        {"content": [{"type": "text", "text": "Look:"}, {"type": "image_url"}, "and text"]},
    ],
)
def test_every_way_to_send_a_text_fits_the_schema_of_a_message(body: dict[str, Any]) -> None:
    assert accepted_by_schema("user.message.v1", body)
    assert accepted_by_model("user.message.v1", body)


@pytest.mark.parametrize("body", [{}, {"content": None}, {"speaker": "Maya"}, {"content": 5}, {"content": [5]}])
def test_a_message_without_text_fits_neither_schema_nor_model(body: dict[str, Any]) -> None:
    assert not accepted_by_schema("user.message.v1", body)
    assert not accepted_by_model("user.message.v1", body)


def test_every_body_that_is_shown_has_a_hint_template_and_every_hint_template_has_a_schema() -> None:
    hints = {file.name.removesuffix(".md.j2") for file in (bundled_folder("templates") / "hints").iterdir()}
    assert hints - {"generic", *UNCHECKED} == BODIES.keys() - NEVER_SHOWN
    assert {f"{name}.json" for name in hints - {"generic", *UNCHECKED}} <= FILES.keys()


def test_bundled_profiles_name_schemas_and_pages_that_exist() -> None:
    pages = {file.name.removesuffix(".md.j2") for file in (bundled_folder("templates") / "pages").iterdir()}
    for file in sorted((bundled_folder("templates") / "profiles").glob("*.yaml")):
        named = _profile(file)
        if "extends" not in named:
            assert {*named["triggers"], *named["pinned"], *named["retrieval"]["schemas"]} <= BODIES.keys(), file.name
            assert named["page"] in pages, file.name


PRESETS = sorted((bundled_folder("templates") / "presets").glob("*.yaml"))


@pytest.mark.parametrize("file", PRESETS, ids=lambda file: str(file.stem))
def test_a_file_that_extends_fits_the_schema_of_profiles_with_only_what_it_changes(file: Path) -> None:
    validator("profile").validate(yaml.safe_load(file.read_text("utf-8")))


@pytest.mark.parametrize(
    "changes",
    [
        {"budgett": 1},
        {"budget": "lots"},
        {"retrieval": {"schema": []}},
        {"sections": {"recent": {"min_share": 7}}},
        {"sections": [{"name": "recent"}]},
        {"extends": 7},
    ],
)
def test_a_mistake_in_a_file_that_extends_is_one_for_the_schema_too(changes: dict[str, Any]) -> None:
    assert not accepted_by_schema("profile", {"extends": "default"} | changes)
    assert accepted_by_schema("profile", {"extends": "default", "sections": {"recent": {"min_share": 0.1}, "summary": None}})


def _profile(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    validator("profile").validate(found)
    return found
