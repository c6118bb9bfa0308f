"""Schemas of the custom resources that the chart uses; what they do not name is refused, as Kubernetes does with a strict client.

Read from the definitions of prometheus-operator (monitoring.coreos.com/v1) and of KEDA (keda.sh/v1alpha1, and the page of its
scaler nats-jetstream): the fields that the chart may use, not all that there are.
"""

from typing import Any

import jsonschema

Json = dict[str, Any]

TEXT: Json = {"type": "string", "minLength": 1}
COUNT: Json = {"type": "integer", "minimum": 0}
TEXTS: Json = {"type": "object", "additionalProperties": {"type": "string"}}
DURATION: Json = {
    "type": "string",
    "pattern": "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$",
}


def closed(required: dict[str, Json], optional: dict[str, Json] | None = None) -> Json:
    """An object of these fields and no others."""
    fields = required | (optional or {})
    return {"type": "object", "additionalProperties": False, "required": list(required), "properties": fields}


def many(item: Json) -> Json:
    """A list that is not empty."""
    return {"type": "array", "minItems": 1, "items": item}


def resource(kind: str, version: str, spec: Json) -> Json:
    """A custom resource. version: with its group."""
    metadata = closed({"name": TEXT, "labels": TEXTS}, {"annotations": TEXTS})
    return closed({"apiVersion": {"const": version}, "kind": {"const": kind}, "metadata": metadata, "spec": spec})


ENDPOINT = closed(
    {"port": TEXT}, {"path": TEXT, "interval": DURATION, "scrapeTimeout": DURATION, "scheme": {"enum": ["http", "https"]}}
)
RULE = closed(
    {"alert": TEXT, "expr": TEXT}, {"for": DURATION, "keep_firing_for": DURATION, "labels": TEXTS, "annotations": TEXTS}
)
LAG_OF_A_DURABLE = closed(
    {
        "natsServerMonitoringEndpoint": TEXT,
        "account": TEXT,
        "stream": TEXT,
        "consumer": TEXT,
        "lagThreshold": {"pattern": "^[0-9]+$"},
    },
    {"activationLagThreshold": {"pattern": "^[0-9]+$"}, "useHttps": {"enum": ["true", "false"]}},
)
SCHEMAS: dict[str, Json] = {
    "ServiceMonitor": resource(
        "ServiceMonitor",
        "monitoring.coreos.com/v1",
        closed(
            {"selector": closed({"matchLabels": TEXTS}), "endpoints": many(ENDPOINT)}, {"namespaceSelector": {"type": "object"}}
        ),
    ),
    "PrometheusRule": resource(
        "PrometheusRule",
        "monitoring.coreos.com/v1",
        closed({"groups": many(closed({"name": TEXT, "rules": many(RULE)}, {"interval": DURATION}))}),
    ),
    "ScaledObject": resource(
        "ScaledObject",
        "keda.sh/v1alpha1",
        closed(
            {
                "scaleTargetRef": closed({"name": TEXT}, {"apiVersion": TEXT, "kind": TEXT}),
                "triggers": many(closed({"type": {"const": "nats-jetstream"}, "metadata": LAG_OF_A_DURABLE})),
            },
            {"minReplicaCount": COUNT, "maxReplicaCount": COUNT, "pollingInterval": COUNT, "cooldownPeriod": COUNT},
        ),
    ),
}


def check(document: Json) -> None:
    """Raises `ValidationError` unless the document is a custom resource as its operator takes it."""
    jsonschema.validate(document, SCHEMAS[document["kind"]])
