"""Values of the chart that operators give, by name: every rule of the chart holds for each."""

from pathlib import Path
from typing import Any

Json = dict[str, Any]

ROOT = Path(__file__).parents[1]

EXTERNAL: Json = {"embedded": False, "servers": ["nats://nats-0.bus:4222", "tls://nats-1.bus:4443"]}
PASSWORD: Json = {"existingSecret": "bus", "userKey": "name", "passwordKey": "word"}
TOKEN: Json = {"existingSecret": "bus", "tokenKey": "token"}
FILES: Json = {"existingSecret": "bus", "credentialsKey": "agent.creds", "caKey": "ca.pem"}
NKEY: Json = {"existingSecret": "bus", "nkeyKey": "worker.nk"}
POSTGRESQL: Json = {"postgresql": {"existingSecret": "database", "urlKey": "uri"}}
VERIFIED: Json = {"postgresql": POSTGRESQL["postgresql"] | {"caKey": "ca.pem"}}
ENDPOINT: Json = {
    "engine": "endpoint", "model": "text-embedding-3-small", "url": "https://models.example.com/v1", "dimensions": 1536,
    "existingSecret": "models", "keyKey": "embedding",
}  # fmt: skip
SUMMARIES: Json = {"url": "http://models.local:8000/v1", "model": "small", "existingSecret": "models", "keyKey": "summaries"}
INLINE: Json = {
    "hints": {
        "user.message.v1.md.j2": (ROOT / "templates" / "hints" / "user.message.v1.md.j2").read_text(encoding="utf-8"),
        "odd.v1.md.j2": "{{ .Values.x }} {% raw %}'\"`\t — é\n\n  tail without a line end",
    },
    "pages": {"default.md.j2": (ROOT / "templates" / "pages" / "default.md.j2").read_text(encoding="utf-8")},
    "profiles": {"my-agent.yaml": (ROOT / "templates" / "profiles" / "default.yaml").read_text(encoding="utf-8")},
    "phrases": {"de.yaml": "user: Kunde\n"},
    "presets": {"short.yaml": (ROOT / "templates" / "presets" / "minimal.yaml").read_text(encoding="utf-8")},
    "models": (ROOT / "templates" / "models.yaml").read_text(encoding="utf-8"),
}
PEER: Json = {"namespaceSelector": {"matchLabels": {"team": "agents"}}}
SPREAD: Json = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}
LAG: Json = {"by": "lag", "lag": {"monitoring": "nats-0.bus:8222"}}
FENCED: Json = {"networkPolicy": {"enabled": True}}
WITHOUT_CLAIM: Json = {"persistence": {"enabled": False}}

VARIANTS: dict[str, Json] = {
    "default": {},
    "embedded, password": {"nats": {"auth": PASSWORD}},
    "embedded, token": {"nats": {"auth": TOKEN}},
    "embedded, fenced": {"networkPolicy": {"enabled": True, "natsFrom": [PEER]}},
    "embedded, existing claim": {"persistence": {"existingClaim": "kept"}},
    "embedded, PostgreSQL": {"store": POSTGRESQL, "reindex": True},
    "embedded, budget": {"podDisruptionBudget": {"enabled": True, "maxUnavailable": 0}},
    "external": {"nats": EXTERNAL},
    "external, password": {"nats": EXTERNAL | {"auth": PASSWORD}},
    "external, token": {"nats": EXTERNAL | {"auth": TOKEN}},
    "external, API": {"nats": EXTERNAL, "http": {"existingSecret": "api", "tokensKey": "tokens.yaml"}},
    "external, nkey": {"nats": EXTERNAL | {"auth": NKEY}},
    "external, files": {"nats": EXTERNAL | {"auth": FILES}},
    "external, client certificate": {"nats": EXTERNAL | {"auth": FILES | {"certKey": "client.pem", "keyKey": "client.key"}}},
    "external, existing claim": {"nats": EXTERNAL, "persistence": {"existingClaim": "kept"}},
    "reindex": {"reindex": True, "name": "staging"},
    "inline templates": {"templates": INLINE},
    "without persistence": {"persistence": {"enabled": False}, "serviceAccount": {"create": False}},
    "workers with claims": {"nats": EXTERNAL, "replicas": 3, "persistence": {"annotations": {"backup": "none"}}},
    "workers with claims, kept": {
        "nats": EXTERNAL, "replicas": 3, "persistence": {"retention": {"whenDeleted": "Delete", "whenScaled": "Retain"}},
    },
    "workers without claims": {"nats": EXTERNAL, "replicas": 3, **WITHOUT_CLAIM},
    "workers, reindex": {"nats": EXTERNAL, "replicas": 2, "reindex": True},
    "workers on PostgreSQL": {"nats": EXTERNAL, "replicas": 3, "store": POSTGRESQL},
    "workers on PostgreSQL, verified": {
        "nats": EXTERNAL | {"auth": FILES}, "replicas": 3, "store": VERIFIED, "templates": INLINE,
    },
    "workers on PostgreSQL, reindex": {"nats": EXTERNAL, "replicas": 0, "store": POSTGRESQL, "reindex": True},
    "workers on PostgreSQL, migrated by hand": {"nats": EXTERNAL, "store": POSTGRESQL, "migration": {"enabled": False}},
    "scaled by CPU, claims": {"nats": EXTERNAL, "autoscaling": {"by": "cpu"}},
    "scaled by CPU, PostgreSQL": {
        "nats": EXTERNAL, "store": POSTGRESQL, "autoscaling": {"by": "cpu", "minReplicas": 3, "cpu": {"averageValue": "500m"}},
    },
    "scaled by lag, claims": {"nats": EXTERNAL, "autoscaling": LAG},
    "scaled by lag, PostgreSQL": {"nats": EXTERNAL, "store": POSTGRESQL, "autoscaling": LAG, "name": "staging"},
    "scaled by lag, stopped": {"nats": EXTERNAL, "store": POSTGRESQL, "autoscaling": LAG, "replicas": 0},
    "endpoint of embeddings": {"embedding": ENDPOINT},
    "endpoint of embeddings, fenced": {"embedding": ENDPOINT, "summaries": SUMMARIES, **FENCED},
    "model of a volume": {"embedding": {"model": "own", "modelsVolume": {"persistentVolumeClaim": {"claimName": "models"}}}},
    "without a model": {"embedding": {"engine": "none"}},
    "summaries": {"summaries": SUMMARIES},
    "lifetimes": {"lifetimes": {"note.v1 draft": 12, "*metrics.v1": 0.5}},
    "no lifetimes": {"lifetimes": {}},
    "OpenShift": {"podSecurityContext": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}},
    "another user": {"podSecurityContext": {"runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532}},
    "spread": {
        "nats": EXTERNAL, "replicas": 3, "topologySpreadConstraints": [SPREAD], "priorityClassName": "agents",
        "commonLabels": {"team": "agents", "tier": "bus"}, "podLabels": {"tier": "pod"},
        "envFrom": [{"secretRef": {"name": "otel"}}],
        "podDisruptionBudget": {"enabled": True, "maxUnavailable": "25%"},
    },
    "more volumes": {
        "extraVolumes": [{"name": "more", "configMap": {"name": "more"}}],
        "extraVolumeMounts": [{"name": "more", "mountPath": "/more", "readOnly": True}],
    },
    "workers, fenced": {
        "nats": EXTERNAL, "replicas": 2, "store": POSTGRESQL,
        "networkPolicy": {"enabled": True, "dnsTo": [PEER], "natsTo": [PEER], "postgresqlTo": [PEER], "postgresqlPort": 6432},
    },
    "all options": {
        "nats": EXTERNAL | {"replicas": 3, "breadcrumbsMaxAgeHours": 720.5},
        "image": {"repository": "example.org/it", "digest": "sha256:" + "0" * 64, "pullSecrets": [{"name": "registry"}]},
        "networkPolicy": {"enabled": True, "httpFrom": [PEER], "natsTo": [PEER], "extraEgress": [{"to": [PEER]}]},
        "name": "staging",
        "reindex": True,
        "worker": {"purgeHours": 0.5},
        "http": {"startupSeconds": 601},
        "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
        "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}, "alertLabels": {"team": "agents"}, "runbookUrl": "https://wiki/r"},
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
}  # fmt: skip
