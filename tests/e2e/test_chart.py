"""What the chart promises: it renders, every object is strictly valid, the pods are restricted. No cluster, no network."""

import ast
import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
from kubernetes_validate import utils as validation

from builder.adapters.nats.server import binary
from builder.app.settings import Settings
from builder.remember.lifetimes import LIFETIMES
from tests import custom_resources
from tests.alerts import RULES
from tests.chart import (
    CHART,
    distinct_documents,
    documents,
    environment,
    every_variant,
    helm,
    install,
    one,
    pod,
    pods,
    read,
    setting_names,
    workload,
)
from tests.chart_values import ENDPOINT, INLINE, PASSWORD, ROOT, TOKEN, VARIANTS, Json
from tests.free_ports import free_port
from tests.running import Process, wait_for


@every_variant
def test_lint_finds_nothing_even_when_strict(variant: str) -> None:
    assert helm().lint(CHART, VARIANTS[variant], strict=True)["messages"] == []


@pytest.mark.parametrize("kubernetes", ["1.28", kubernetes_validate.latest_version()])
def test_every_object_of_forty_variants_is_strictly_valid(kubernetes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(VARIANTS) >= 40
    monkeypatch.setattr(validation, "schema_contents", functools.cache(validation.schema_contents))
    for document in distinct_documents():
        if document["kind"] not in custom_resources.SCHEMAS:
            kubernetes_validate.validate(document, kubernetes, strict=True)


def test_every_custom_resource_has_only_what_its_operator_knows() -> None:
    found = [document for document in distinct_documents() if document["kind"] in custom_resources.SCHEMAS]
    assert {document["kind"] for document in found} == {"ServiceMonitor", "PrometheusRule", "ScaledObject"}
    for document in found:
        custom_resources.check(document)


@every_variant
def test_no_object_comes_twice(variant: str) -> None:
    names = [(document["kind"], document["metadata"]["name"]) for document in documents(variant)]
    assert len(set(names)) == len(names)


@every_variant
def test_all_pods_keep_the_restricted_standard(variant: str) -> None:
    identities = VARIANTS[variant].get("podSecurityContext", dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup"), 10001))
    expected = {name: number for name, number in identities.items() if number}
    for spec in pods(variant):
        assert not {"hostNetwork", "hostPID", "hostIPC", "ephemeralContainers"} & set(spec)
        assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False)
        assert spec["securityContext"] == expected | ({"fsGroupChangePolicy": "OnRootMismatch"} if expected else {}) | {
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        for volume in spec.get("volumes", []):
            assert set(volume) <= {"name", "configMap", "emptyDir", "projected", "secret", "persistentVolumeClaim"}
        for container in [*spec.get("initContainers", []), *spec["containers"]]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "runAsNonRoot": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert not re.search('"host(Port|IP)?":', json.dumps(container))
            assert container["resources"]["limits"]["memory"]


@every_variant
def test_the_service_understands_all_that_the_chart_sets(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(re.findall(r"CONTEXT_BUILDER_\w+", json.dumps(documents(variant)))) <= set(setting_names())
    for name in setting_names():
        monkeypatch.delenv(name, raising=False)
    for name, value in environment(pod(variant)["containers"][0]).items():
        monkeypatch.setenv(name, value if isinstance(value, str) else f"{value['name']}/{value['key']}")
    settings, nats, values = Settings(), VARIANTS[variant].get("nats", {}), VARIANTS[variant]
    assert (settings.http.host, str(settings.data_dir)) == ("0.0.0.0", "/data")  # noqa: S104 - probes come from outside the pod
    assert settings.nats.servers == ",".join(nats.get("servers", ["nats://127.0.0.1:4222"]))
    assert (settings.nats.user, settings.nats.password.get_secret_value()) == (
        ("bus/name", "bus/word") if nats.get("auth") == PASSWORD else ("", "")
    )
    assert settings.nats.token.get_secret_value() == ("bus/token" if nats.get("auth") == TOKEN else "")
    assert settings.store.url == ("database/uri" if "store" in values else "")
    assert settings.lifetimes == values.get("lifetimes", LIFETIMES)
    assert settings.embedding.key.get_secret_value() == ("models/embedding" if values.get("embedding") == ENDPOINT else "")
    assert settings.embedding.engine == values.get("embedding", {}).get("engine", "onnx")
    assert settings.summaries.url == values.get("summaries", {}).get("url", "")
    assert settings.summaries.key.get_secret_value() == ("models/summaries" if "summaries" in values else "")


def test_image_and_compose_set_nothing_but_settings() -> None:
    for name in ("Dockerfile", "compose.yaml"):
        assert set(re.findall(r"CONTEXT_BUILDER_\w+", (ROOT / "deploy" / name).read_text())) <= set(setting_names()), name


def test_credential_files_are_mounted_where_the_settings_point() -> None:
    spec = pod("external, files")
    names = ("CONTEXT_BUILDER_NATS__CREDENTIALS", "CONTEXT_BUILDER_NATS__TLS_CA")
    paths = [environment(spec["containers"][0])[name] for name in names]
    (mount,) = [m["mountPath"] for m in spec["containers"][0]["volumeMounts"] if m["name"] == "nats-credentials"]
    (secret,) = [v["secret"] for v in spec["volumes"] if v["name"] == "nats-credentials"]
    assert [f"{mount}/{item['path']}" for item in secret["items"]] == paths
    assert [item["key"] for item in secret["items"]] == ["agent.creds", "ca.pem"]


def test_the_tokens_of_the_api_are_mounted_where_the_setting_points() -> None:
    spec = pod("external, API")
    (secret,) = [volume["secret"] for volume in spec["volumes"] if volume["name"] == "http-tokens"]
    (mount,) = [each["mountPath"] for each in spec["containers"][0]["volumeMounts"] if each["name"] == "http-tokens"]
    assert secret["items"] == [{"key": "tokens.yaml", "path": "tokens.yaml"}]
    assert environment(spec["containers"][0])["CONTEXT_BUILDER_HTTP__TOKENS"] == f"{mount}/tokens.yaml"


def test_a_client_certificate_is_mounted_where_the_settings_point() -> None:
    spec = pod("external, client certificate")
    names = ("CONTEXT_BUILDER_NATS__TLS_CERT", "CONTEXT_BUILDER_NATS__TLS_KEY")
    (secret,) = [v["secret"] for v in spec["volumes"] if v["name"] == "nats-credentials"]
    paths = {f"/etc/context-builder/nats/{item['path']}": item["key"] for item in secret["items"]}
    assert [paths[environment(spec["containers"][0])[name]] for name in names] == ["client.pem", "client.key"]


@pytest.mark.parametrize(
    ("release", "values"),
    [
        ("1st.of-two", {}),
        ("a" * 53, {"nameOverride": "x-" * 40 + "x"}),
        ("demo", {"fullnameOverride": "a" * 51 + "--b"}),
        ("context-builder.9", {"templates": INLINE}),
    ],
)
def test_every_name_is_one_that_kubernetes_takes(release: str, values: Json) -> None:
    names = [document["metadata"]["name"] for document in read(install(values, release))]
    assert len(names) >= 5
    for name in names:
        assert re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", name), name


@pytest.mark.parametrize("folder", INLINE)
def test_each_kind_of_inline_template_is_mounted_where_the_service_reads_it(folder: str) -> None:
    manifest = read(install({"templates": {folder: INLINE[folder]}}))
    (spec,) = [d["spec"]["template"]["spec"] for d in manifest if d["kind"] == "StatefulSet"]
    (mount,) = [each for each in spec["containers"][0]["volumeMounts"] if each["name"] == "templates"]
    assert environment(spec["containers"][0])["CONTEXT_BUILDER_TEMPLATES_DIR"] == mount["mountPath"]
    assert "templates" in {volume["name"] for volume in spec["volumes"]}


def test_the_alerts_of_the_chart_are_those_of_the_file() -> None:
    rules = one("all options", "PrometheusRule")["spec"]["groups"][0]["rules"]
    assert [rule["alert"] for rule in rules] == [rule["alert"] for rule in RULES]
    for rendered, rule in zip(rules, RULES, strict=True):
        in_chart = rule["expr"].replace('job="context-builder"', 'service="demo-context-builder",namespace="agents"')
        assert rendered["expr"] == in_chart.replace('name="context-builder"', 'name="staging",namespace="agents"')
        assert rendered["for"] == rule["for"]
        assert rendered["labels"] == rule["labels"] | {"team": "agents"}
        assert rendered["annotations"]["summary"] == rule["annotations"]["summary"]
        assert rendered["annotations"]["runbook_url"] == f"https://wiki/r#{rule['alert'].lower()}"
    assert not [document for document in documents("default") if document["kind"] == "PrometheusRule"]


def test_the_values_of_alerts_take_the_place_of_those_of_the_file() -> None:
    values = {"prometheusRule": {"enabled": True, "maxQueueAgeSeconds": 7, "minFreeBytes": 12345678901, "workers": 3}}
    (rendered,) = [each for each in read(install(values)) if each["kind"] == "PrometheusRule"]
    rules = {rule["alert"]: rule["expr"] for rule in rendered["spec"]["groups"][0]["rules"]}
    assert rules["ContextBuilderLate"].endswith("} > 7")
    assert rules["ContextBuilderDiskLow"].endswith("} < 12345678901")
    assert rules["ContextBuilderWorkerGone"].endswith('namespace="agents"}) < 3')
    assert "ContextBuilderWorkersDiffer" not in rules


@pytest.mark.parametrize(
    ("values", "expected"),
    [({"replicas": 4}, 4), ({"autoscaling": {"by": "cpu", "minReplicas": 5, "maxReplicas": 9}}, 5)],
    ids=["replicas", "autoscaler"],
)
def test_a_worker_is_gone_when_there_are_fewer_than_the_release_has(values: Json, expected: int) -> None:
    broker = {"embedded": False, "servers": ["nats://nats:4222"]}
    manifest = read(install({"nats": broker, "prometheusRule": {"enabled": True}} | values))
    (rendered,) = [each for each in manifest if each["kind"] == "PrometheusRule"]
    rules = {rule["alert"]: rule["expr"] for rule in rendered["spec"]["groups"][0]["rules"]}
    assert rules["ContextBuilderWorkerGone"].endswith(f'namespace="agents"}}) < {expected}')


def test_inline_templates_arrive_unchanged_in_one_folder() -> None:
    texts = {f"{folder}/{name}": text for folder, files in INLINE.items() if folder != "models" for name, text in files.items()}
    maps = {d["metadata"]["name"]: d["data"] for d in documents("inline templates") if d["kind"] == "ConfigMap"}
    (sources,) = [v["projected"]["sources"] for v in pod("inline templates")["volumes"] if v["name"] == "templates"]
    parts = [source["configMap"] for source in sources]
    arrived = {item["path"]: maps[part["name"]][item["key"]] for part in parts for item in part["items"]}
    assert arrived == texts | {"models.yaml": INLINE["models"]}


def test_a_start_may_take_as_long_as_the_operator_says() -> None:
    probes = [pod(variant)["containers"][0]["startupProbe"] for variant in ("default", "all options")]
    assert [probe["periodSeconds"] * probe["failureThreshold"] for probe in probes] == [180, 602]


@pytest.mark.parametrize("graceful", [0, 0.5, 25, 90])
def test_the_pod_is_given_more_time_than_the_drain_takes(graceful: float) -> None:
    manifest = install({"worker": {"gracefulSeconds": graceful}})
    assert int(re.findall(r"terminationGracePeriodSeconds: (\d+)", manifest)[0]) >= graceful + 10


def test_the_broker_starts_before_the_service_and_outlives_its_drain() -> None:
    for variant in ("default", "embedded, password", "embedded, token"):
        (broker,) = pod(variant)["initContainers"]
        assert broker["restartPolicy"] == "Always"
        demanded = {f"$({name})" for name in environment(broker)}
        assert {arg.partition("=")[2] for arg in broker["args"]} == demanded | {"/etc/nats/nats.conf"}
    port = one("default", "Service", "-nats")["spec"]["ports"][0]["targetPort"]
    assert port == 4222, "a Service finds no named port of a sidecar before Kubernetes 1.32"


def test_the_real_server_takes_the_rendered_configuration_and_its_probes_ask_it_on_loopback(tmp_path: Path) -> None:
    text, (broker,) = one("default", "ConfigMap", "-nats")["data"]["nats.conf"], pod("default")["initContainers"]
    assert re.findall(r'http: "(.*)"', text) == ["127.0.0.1:8222"]
    probes = [broker[name]["exec"]["command"] for name in ("startupProbe", "livenessProbe")]
    assert ["/healthz" in probe[-1] for probe in probes] == [True, True]
    port = str(free_port())
    text = text.replace("/data/nats", str(tmp_path / "data")).replace("0.0.0.0:4222", "127.0.0.1:-1").replace("8222", port)
    (tmp_path / "nats.conf").write_text(text)

    def healthy() -> list[bool]:
        here = ([sys.executable, "-c", probe[-1].replace("8222", port)] for probe in probes)
        return [subprocess.run(command, capture_output=True, check=False).returncode == 0 for command in here]

    assert healthy() == [False, False]
    with Process([str(binary()), "-c", str(tmp_path / "nats.conf")], dict(os.environ), tmp_path / "log"):
        wait_for(lambda: healthy() == [True, True], "the broker to be healthy")


@pytest.mark.parametrize("variant", ["default", "workers with claims", "workers on PostgreSQL"])
def test_the_notes_name_the_workload_that_there_is(variant: str) -> None:
    notes = install(VARIANTS[variant], part="notes")
    assert f"rollout status {workload(variant)['kind'].lower()}/demo-context-builder" in notes
    assert ("-c wait" in notes) == (variant != "default")
    assert "[" not in notes, "a value that is missing"


def test_the_test_pod_asks_the_services_that_there_are() -> None:
    for variant in ("default", "external"):
        program = ast.parse(one(variant, "Pod", "-test")["spec"]["containers"][0]["args"][0])
        asked = {node.value for node in ast.walk(program) if isinstance(node, ast.Constant) and "demo" in str(node.value)}
        assert asked == {d["metadata"]["name"] for d in documents(variant) if d["kind"] == "Service"}


def test_prometheus_finds_the_metrics_behind_the_service() -> None:
    spec, service = (one("all options", kind) for kind in ("ServiceMonitor", "Service"))
    assert spec["spec"]["endpoints"] == [{"port": "http", "path": "/metrics", "interval": "30s"}]
    assert spec["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
