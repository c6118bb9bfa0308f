"""The chart, rendered without a cluster: variants of its values, and the objects of each."""

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import helm_python as helm
import pytest
import yaml
from pydantic import BaseModel

from builder.app.settings import Settings

Json = dict[str, Any]

ROOT = Path(__file__).parents[1]
CHART = ROOT / "deploy" / "helm" / "context-builder"

EXTERNAL: Json = {"embedded": False, "servers": ["nats://nats-0.bus:4222", "tls://nats-1.bus:4443"]}
PASSWORD: Json = {"existingSecret": "bus", "userKey": "name", "passwordKey": "word"}
TOKEN: Json = {"existingSecret": "bus", "tokenKey": "token"}
FILES: Json = {"existingSecret": "bus", "credentialsKey": "agent.creds", "caKey": "ca.pem"}
INLINE: Json = {
    "hints": {
        "user.message.v1.md.j2": (ROOT / "templates" / "hints" / "user.message.v1.md.j2").read_text(encoding="utf-8"),
        "odd.v1.md.j2": "{{ .Values.x }} {% raw %}'\"`\t — é\n\n  tail without a line end",
    },
    "pages": {"default.md.j2": (ROOT / "templates" / "pages" / "default.md.j2").read_text(encoding="utf-8")},
    "profiles": {"my-agent.yaml": (ROOT / "templates" / "profiles" / "default.yaml").read_text(encoding="utf-8")},
    "phrases": {"de.yaml": "user: Kunde\n"},
    "presets": {"short.yaml": (ROOT / "templates" / "presets" / "minimal.yaml").read_text(encoding="utf-8")},
}
PEER: Json = {"namespaceSelector": {"matchLabels": {"team": "agents"}}}
TESTER: Json = {
    f"app.kubernetes.io/{k}": v for k, v in [("name", "context-builder"), ("instance", "demo"), ("component", "test")]
}
VARIANTS: dict[str, Json] = {
    "default": {},
    "embedded, password": {"nats": {"auth": PASSWORD}},
    "embedded, token": {"nats": {"auth": TOKEN}},
    "embedded, fenced": {"networkPolicy": {"enabled": True, "natsFrom": [PEER]}},
    "external": {"nats": EXTERNAL},
    "external, password": {"nats": EXTERNAL | {"auth": PASSWORD}},
    "external, token": {"nats": EXTERNAL | {"auth": TOKEN}},
    "external, files": {"nats": EXTERNAL | {"auth": FILES}},
    "external, client certificate": {"nats": EXTERNAL | {"auth": FILES | {"certKey": "client.pem", "keyKey": "client.key"}}},
    "reindex": {"reindex": True, "name": "staging"},
    "inline templates": {"templates": INLINE},
    "without persistence": {"persistence": {"enabled": False}, "serviceAccount": {"create": False}},
    "all options": {
        "nats": EXTERNAL | {"replicas": 3, "breadcrumbsMaxAgeHours": 720.5},
        "image": {"repository": "example.org/it", "digest": "sha256:" + "0" * 64, "pullSecrets": [{"name": "registry"}]},
        "networkPolicy": {"enabled": True, "httpFrom": [PEER], "natsTo": [PEER], "extraEgress": [{"to": [PEER]}]},
        "name": "staging",
        "reindex": True,
        "worker": {"purgeHours": 0.5},
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "prometheusRule": {
            "enabled": True,
            "labels": {"release": "prometheus"},
            "alertLabels": {"team": "agents"},
            "runbookUrl": "https://wiki/r",
        },
        "podDisruptionBudget": {"enabled": True},
        "persistence": {"storageClass": "fast", "annotations": {"backup": "daily"}},
        "extraEnv": [{"name": "CONTEXT_BUILDER_WORKER__BATCH", "value": "64"}],
        "service": {"http": {"annotations": {"a": "b"}}},
        "serviceAccount": {"annotations": {"a": "b"}},
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        "podAnnotations": {"a": "b"},
        "podLabels": {"team": "agents"},
    },
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def install(values: Json, release: str = "demo") -> str:
    """The manifest of a client-side dry run: unlike `render`, it checks schema and dependencies too."""
    with helm.Config(namespace="agents", storage_driver="memory") as config:
        return str(config.install(CHART, release, values, dry_run="client")["manifest"])


@functools.cache
def documents(variant: str) -> list[Json]:
    """All objects of a variant, with the pod of `helm test`: a hook is not part of the manifest."""
    with helm.Chart.load(CHART) as chart:
        hook = chart.render(VARIANTS[variant], name="demo", namespace="agents")["context-builder/templates/tests/ready.yaml"]
    return [document for text in (install(VARIANTS[variant]), hook) for document in yaml.safe_load_all(text) if document]


def one(variant: str, kind: str, suffix: str = "") -> Json:
    """The object of this kind and name."""
    (found,) = [d for d in documents(variant) if (d["kind"], d["metadata"]["name"]) == (kind, f"demo-context-builder{suffix}")]
    return found


def pod(variant: str) -> Json:
    """The specification of the service's pod."""
    spec: Json = one(variant, "StatefulSet")["spec"]["template"]["spec"]
    return spec


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
