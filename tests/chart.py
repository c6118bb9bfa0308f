"""The chart, rendered without a cluster: the objects of each variant of its values."""

import functools
import importlib
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Literal

import pytest
import yaml
from pydantic import BaseModel

from builder.app.settings import Settings
from tests.chart_values import ROOT, VARIANTS, Json

CHART = ROOT / "deploy" / "helm" / "context-builder"
HOOKS = ("jobs.yaml", "tests/ready.yaml")
"""A hook is not part of the manifest."""
every_variant = pytest.mark.parametrize("variant", VARIANTS)


class _OnceLoader(yaml.CSafeLoader):
    """Refuses a key that comes twice, as Kubernetes does."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        assert len(set(keys)) == len(keys), keys
        return super().construct_mapping(node, deep)


@functools.cache
def helm() -> ModuleType:
    """The SDK. It is imported by the process that uses it: its threads would be lost in a fork."""
    return importlib.import_module("helm_python")


def read(text: str) -> list[Json]:
    """The documents of a manifest."""
    return [document for document in yaml.load_all(text, _OnceLoader) if document]


def install(values: Json, release: str = "demo", part: Literal["manifest", "notes"] = "manifest") -> str:
    """The manifest, or the notes, of a client-side dry run: unlike `render`, it checks schema and dependencies too."""
    with helm().Config(namespace="agents", storage_driver="memory") as config:
        return str(config.install(CHART, release, values, dry_run="client")[part])


@functools.cache
def documents(variant: str) -> list[Json]:
    """All objects of a variant, hooks included."""
    with helm().Chart.load(CHART) as chart:
        rendered = chart.render(VARIANTS[variant], name="demo", namespace="agents")
    hooks = [rendered[f"context-builder/templates/{hook}"] for hook in HOOKS]
    return [document for text in (install(VARIANTS[variant]), *hooks) for document in read(text)]


def distinct_documents() -> list[Json]:
    """All objects of all variants, each once."""
    return list({json.dumps(document, sort_keys=True): document for name in VARIANTS for document in documents(name)}.values())


def one(variant: str, kind: str, suffix: str = "") -> Json:
    """The object of this kind and name."""
    (found,) = [d for d in documents(variant) if (d["kind"], d["metadata"]["name"]) == (kind, f"demo-context-builder{suffix}")]
    return found


def workload(variant: str) -> Json:
    """The StatefulSet or the Deployment."""
    (found,) = [document for document in documents(variant) if document["kind"] in ("StatefulSet", "Deployment")]
    return found


def pod(variant: str) -> Json:
    """The specification of the service's pod."""
    spec: Json = workload(variant)["spec"]["template"]["spec"]
    return spec


def pods(variant: str) -> list[Json]:
    """The specifications of all pods: of the service, of the Jobs, of `helm test`."""
    jobs = [document["spec"]["template"]["spec"] for document in documents(variant) if document["kind"] == "Job"]
    return [pod(variant), *jobs, one(variant, "Pod", "-test")["spec"]]


def environment(container: Json) -> dict[str, Any]:
    """Name to value, or to the key of the Secret."""
    return {e["name"]: e["value"] if "value" in e else e["valueFrom"]["secretKeyRef"] for e in container.get("env", [])}


def setting_names(model: type[BaseModel] = Settings, prefix: str = "CONTEXT_BUILDER_") -> Iterator[str]:
    """Every environment variable that the settings know."""
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from setting_names(field.annotation, f"{prefix}{name.upper()}__")
        else:
            yield prefix + name.upper()


def value_paths(values: Json, prefix: str = "") -> Iterator[str]:
    """The path of every key of values.yaml."""
    for key, value in values.items():
        yield f"{prefix}/{key}"
        yield from value_paths(value, f"{prefix}/{key}") if isinstance(value, dict) and key not in ("requests", "limits") else ()


def schema_paths(schema: Json, node: Json, prefix: str = "") -> Iterator[str]:
    """The path of every property of values.schema.json."""
    for key, value in node.get("properties", {}).items():
        yield f"{prefix}/{key}"
        shared = schema["$defs"].get(value.get("$ref", "").removeprefix("#/$defs/"), value)
        yield from schema_paths(schema, shared, f"{prefix}/{key}")
