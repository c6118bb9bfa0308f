"""The table of known models, `templates/models.yaml`: their windows, and how their tokens are counted."""

from collections.abc import Iterable, Mapping
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from builder.domain.lint_finding import faulty
from builder.wire.files import parse_yaml


class ModelFacts(BaseModel):
    """What is known of a language model: `templates/models.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    window: int = Field(gt=0, description="tokens that it reads at once")
    encoding: Literal["o200k_base", "cl100k_base"] = Field("o200k_base", description="its tokenizer, or the nearest public one")
    margin: float = Field(0, ge=0, lt=1, description="share kept free because its own tokenizer is not public")


UNKNOWN_MODEL = ModelFacts(window=128_000, encoding="o200k_base", margin=0.1)
"""Of a model that is not in the table."""
_SEPARATORS = "-:@"
"""Between a model's name and its date or size."""


def parse_models(source: str) -> dict[str, ModelFacts]:
    """Read the table of known models. Raises `FaultyFiles`."""
    try:
        return {name: ModelFacts.model_validate(facts) for name, facts in (parse_yaml(source) or {}).items()}
    except (yaml.YAMLError, ValueError, AttributeError, TypeError) as error:
        raise faulty("models.yaml", f"it is not readable: {error}; map a name to window, encoding and margin") from error


def facts_of(model: str, models: Mapping[str, ModelFacts]) -> ModelFacts:
    """The facts of a model: by its name without a provider in front, or by the name of which it is a dated or sized version."""
    return models.get(known_name(model, models), UNKNOWN_MODEL)


def known_name(model: str, names: Iterable[str]) -> str:
    """The longest of the names that is the model's, or of which it is a dated or sized version; "" = none is.

    A provider in front of the model does not count.
    """
    bare = model.rpartition("/")[2]
    matches = (name for name in names if bare == name or bare.startswith(tuple(f"{name}{mark}" for mark in _SEPARATORS)))
    return max(matches, key=len, default="")
