"""What the chart promises to installations of several workers: stores, scaling, Jobs, and a broker that comes later."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from builder.adapters.nats.topology import BREADCRUMBS
from builder.connection.names import Installation
from tests.chart import CHART, documents, environment, every_variant, one, pod, workload
from tests.chart_values import PEER, SPREAD, VARIANTS, Json
from tests.commands import DEADLINE
from tests.running import Broker, Process, wait_for

WORKERS = {f"app.kubernetes.io/{k}": v for k, v in [("name", "context-builder"), ("instance", "demo"), ("component", "service")]}
TESTER = WORKERS | {"app.kubernetes.io/component": "test"}
WAIT = CHART / "files" / "wait.py"


def volume(variant: str, name: str = "data") -> Json:
    """The source of a volume of the service's pod; none when a claim template gives it."""
    found = [each for each in pod(variant)["volumes"] if each["name"] == name]
    return {key: source for each in found for key, source in each.items() if key != "name"}


def kinds(variant: str) -> set[str]:
    """The kinds of a variant's objects."""
    return {document["kind"] for document in documents(variant)}


@pytest.mark.parametrize(
    ("variant", "kind", "data"),
    [
        ("default", "StatefulSet", {"persistentVolumeClaim": {"claimName": "demo-context-builder"}}),
        ("embedded, existing claim", "StatefulSet", {"persistentVolumeClaim": {"claimName": "kept"}}),
        ("embedded, PostgreSQL", "StatefulSet", {"persistentVolumeClaim": {"claimName": "demo-context-builder"}}),
        ("without persistence", "StatefulSet", {"emptyDir": {}}),
        ("external, existing claim", "StatefulSet", {"persistentVolumeClaim": {"claimName": "kept"}}),
        ("workers with claims", "StatefulSet", {}),
        ("workers without claims", "Deployment", {"emptyDir": {}}),
        ("workers on PostgreSQL", "Deployment", {"emptyDir": {}}),
    ],
)
def test_a_worker_that_owns_a_volume_is_of_a_stateful_set_and_one_that_owns_nothing_of_a_deployment(
    variant: str, kind: str, data: Json
) -> None:
    assert workload(variant)["kind"] == kind
    assert workload(variant)["spec"]["replicas"] == VARIANTS[variant].get("replicas", 1)
    assert volume(variant) == data


def test_each_worker_with_a_store_of_its_own_gets_a_claim_that_goes_when_it_goes() -> None:
    spec = workload("workers with claims")["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "data"
    assert "PersistentVolumeClaim" not in kinds("workers with claims")
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Delete"}
    assert spec["podManagementPolicy"] == "Parallel"
    kept = workload("workers with claims, kept")["spec"]
    assert kept["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Delete", "whenScaled": "Retain"}


def test_a_claim_template_has_nothing_that_changes_with_a_release_of_the_chart() -> None:
    (claim,) = workload("workers with claims")["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["labels"] == WORKERS
    assert claim["metadata"]["annotations"] == {"backup": "none"}


def test_a_rollout_of_a_deployment_starts_the_new_worker_first() -> None:
    strategy = workload("workers on PostgreSQL")["spec"]["strategy"]
    assert strategy["rollingUpdate"] == {"maxSurge": 1, "maxUnavailable": 0}


@pytest.mark.parametrize("variant", ["scaled by CPU, claims", "scaled by CPU, PostgreSQL"])
def test_an_autoscaler_by_cpu_counts_cores_and_owns_the_number_of_workers(variant: str) -> None:
    spec = one(variant, "HorizontalPodAutoscaler")["spec"]
    wanted = VARIANTS[variant]["autoscaling"]
    assert spec["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": workload(variant)["kind"], "name": "demo-context-builder"}
    assert (spec["minReplicas"], spec["maxReplicas"]) == (wanted.get("minReplicas", 2), 6)
    target = spec["metrics"][0]["resource"]["target"]
    assert target == {"type": "AverageValue", "averageValue": wanted.get("cpu", {}).get("averageValue", "700m")}
    assert "replicas" not in workload(variant)["spec"]
    assert "ScaledObject" not in kinds(variant)


@pytest.mark.parametrize(
    ("variant", "name"), [("scaled by lag, claims", "context-builder"), ("scaled by lag, PostgreSQL", "staging")]
)
def test_an_autoscaler_by_lag_asks_for_the_stream_and_the_durable_of_the_installation(variant: str, name: str) -> None:
    spec, installation = one(variant, "ScaledObject")["spec"], Installation(name)
    assert spec["triggers"] == [
        {
            "type": "nats-jetstream",
            "metadata": {
                "natsServerMonitoringEndpoint": "nats-0.bus:8222",
                "account": "$G",
                "stream": installation.stream(BREADCRUMBS),
                "consumer": installation.name,
                "lagThreshold": "100",
                "useHttps": "false",
            },
        }
    ]
    assert spec["scaleTargetRef"]["kind"] == workload(variant)["kind"]
    assert "replicas" not in workload(variant)["spec"]
    assert "HorizontalPodAutoscaler" not in kinds(variant)


def test_no_replicas_stop_all_workers_whatever_scales_them() -> None:
    assert workload("scaled by lag, stopped")["spec"]["replicas"] == 0
    annotations = one("scaled by lag, stopped", "ScaledObject")["metadata"]["annotations"]
    assert annotations == {"autoscaling.keda.sh/paused-replicas": "0"}


@every_variant
def test_the_store_is_rebuilt_once_behind_the_broker_and_before_the_service_with_the_settings_of_the_service(
    variant: str,
) -> None:
    values, spec = VARIANTS[variant], pod(variant)
    jobs = [document for document in documents(variant) if document["kind"] == "Job"]
    here = [each for each in spec.get("initContainers", []) if each["name"] == "reindex"]
    there = [each for job in jobs for each in job["spec"]["template"]["spec"]["containers"] if each["name"] == "reindex"]
    assert len(here + there) == (1 if values.get("reindex") else 0)
    for rebuild in here:
        service = spec["containers"][0]
        assert spec["initContainers"][-1] == rebuild
        assert (rebuild["args"], rebuild["env"], rebuild["volumeMounts"]) == (
            ["reindex"],
            service["env"],
            service["volumeMounts"],
        )
        assert "restartPolicy" not in rebuild
    assert bool(there) == (variant == "workers on PostgreSQL, reindex")


@every_variant
def test_postgresql_is_brought_to_the_release_before_anything_of_it_starts(variant: str) -> None:
    jobs = {document["metadata"]["name"]: document for document in documents(variant) if document["kind"] == "Job"}
    values = VARIANTS[variant]
    assert ("demo-context-builder-migrate" in jobs) == ("store" in values and "migration" not in values)
    for job in jobs.values():
        notes, spec = job["metadata"]["annotations"], job["spec"]
        assert notes["helm.sh/hook"] == "pre-install,pre-upgrade"
        (container,) = spec["template"]["spec"]["containers"]
        assert spec["podFailurePolicy"]["rules"][0]["onExitCodes"] == {
            "containerName": container["name"], "operator": "In", "values": [78],
        }  # fmt: skip
        assert environment(container)["CONTEXT_BUILDER_STORE__URL"] == {"name": "database", "key": "uri"}
    weights = [int(job["metadata"]["annotations"]["helm.sh/hook-weight"]) for _, job in sorted(jobs.items())]
    assert weights == sorted(weights)


@every_variant
def test_a_job_needs_no_object_of_the_release_that_it_comes_before(variant: str) -> None:
    hooks = [document for document in documents(variant) if document["kind"] == "Job"]
    made = {d["metadata"]["name"] for d in documents(variant) if d not in hooks}
    for job in hooks:
        spec = job["spec"]["template"]["spec"]
        assert "serviceAccountName" not in spec
        assert "CONTEXT_BUILDER_TEMPLATES_DIR" not in environment(spec["containers"][0])
        for each in spec["volumes"]:
            assert each.get("secret", {}).get("secretName") not in made
            assert set(each) - {"name"} <= {"emptyDir", "secret"}


def test_a_job_and_the_service_wait_for_what_they_need() -> None:
    assert waits(pod("default")) == []
    assert waits(pod("external")) == ["CONTEXT_BUILDER_NATS__SERVERS"]
    assert waits(pod("embedded, PostgreSQL")) == ["CONTEXT_BUILDER_STORE__URL"]
    assert waits(pod("workers on PostgreSQL")) == ["CONTEXT_BUILDER_NATS__SERVERS", "CONTEXT_BUILDER_STORE__URL"]
    migrate, reindex = (
        one("workers on PostgreSQL, reindex", "Job", f"-{name}")["spec"]["template"]["spec"] for name in ("migrate", "reindex")
    )
    assert waits(migrate) == ["CONTEXT_BUILDER_STORE__URL"]
    assert waits(reindex) == ["CONTEXT_BUILDER_NATS__SERVERS", "CONTEXT_BUILDER_STORE__URL"]
    assert [each["name"] for each in pod("embedded, PostgreSQL")["initContainers"]] == ["nats", "wait", "reindex"]


def waits(spec: Json) -> list[str]:
    """The variables whose addresses a pod waits for."""
    for each in [each for each in spec.get("initContainers", []) if each["name"] == "wait"]:
        program, *variables = map(str, each["args"])
        assert program.strip() == WAIT.read_text("utf-8").strip()
        assert set(variables) == set(environment(each))
        return variables
    return []


def waiting(log: Path, **urls: str) -> Process:
    """The program of the init container."""
    return Process([sys.executable, "-c", WAIT.read_text("utf-8"), *urls], dict(os.environ) | urls, log)


def test_a_pod_that_starts_before_its_broker_waits_says_so_and_goes_on_when_it_is_there(tmp_path: Path) -> None:
    broker = Broker(tmp_path / "broker")
    with broker:
        url = broker.url
        broker.stop()
        with waiting(tmp_path / "log", SERVERS=f"nats://127.0.0.1:1,{url}") as program:
            wait_for(lambda: url.removeprefix("nats://") in program.said(), "the program to say whom it waits for")
            assert program.running
            broker.start()
            assert program.wait() == 0


def test_a_pod_that_waits_ends_at_once_when_it_is_stopped(tmp_path: Path) -> None:
    with waiting(tmp_path / "log", SERVERS="nats://127.0.0.1:1") as program:
        wait_for(program.said, "the program to wait")
        assert program.stop() == 143


def test_a_pod_that_waits_reads_the_hosts_of_a_database_and_tells_no_password(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        hosts = f"127.0.0.1:1,127.0.0.1:{port}"
        for url in (
            f"postgresql://me:pa,ss@{hosts}/store?sslmode=disable",
            f"postgresql://{hosts}/store",
            "postgresql:///local",
            "?",
        ):
            command = [sys.executable, str(WAIT), "URL"]
            environ = dict(os.environ) | {"URL": url}
            ended = subprocess.run(command, env=environ, check=True, capture_output=True, timeout=DEADLINE)
            assert ended.stdout == b""
    with waiting(tmp_path / "log", URL="postgresql://me:secret@127.0.0.1:1/store") as program:
        wait_for(program.said, "the program to wait")
        assert "127.0.0.1:1" in program.said()
        assert "secret" not in program.said()


def test_the_network_policy_lets_in_http_and_clients_and_out_what_the_service_needs() -> None:
    dns = {"ports": [{"port": 53, "protocol": p} for p in ("UDP", "TCP")]}
    tester = {"podSelector": {"matchLabels": TESTER}}
    inside, outside = (one(variant, "NetworkPolicy")["spec"] for variant in ("embedded, fenced", "all options"))
    assert inside["policyTypes"] == outside["policyTypes"] == ["Ingress", "Egress"]
    http, clients, *others = ([{"port": port, "protocol": "TCP"}] for port in (8080, 4222, 6432, 443, 8000))
    brokers = [*clients, {"port": 4443, "protocol": "TCP"}]
    assert inside["ingress"] == [{"ports": http}, {"ports": clients, "from": [PEER, tester]}]
    assert inside["egress"] == [dns]
    assert outside["ingress"] == [{"ports": http, "from": [PEER, tester]}]
    assert outside["egress"] == [dns, {"ports": brokers, "to": [PEER]}, {"to": [PEER]}]
    database, models, summaries = ({"ports": ports} for ports in others)
    assert one("workers, fenced", "NetworkPolicy")["spec"]["egress"] == [
        dns | {"to": [PEER]}, {"ports": brokers, "to": [PEER]}, database | {"to": [PEER]},
    ]  # fmt: skip
    assert one("endpoint of embeddings, fenced", "NetworkPolicy")["spec"]["egress"] == [dns, models, summaries]
    assert one("all options", "Pod", "-test")["metadata"]["labels"].items() >= TESTER.items()


def test_the_network_policy_is_for_the_workers_and_the_jobs() -> None:
    spec = one("workers, fenced", "NetworkPolicy")["spec"]["podSelector"]
    (among,) = spec["matchExpressions"]
    job = one("workers, fenced", "Job", "-migrate")["spec"]["template"]["metadata"]["labels"]
    for labels in (job, workload("workers, fenced")["spec"]["template"]["metadata"]["labels"]):
        assert labels.items() >= spec["matchLabels"].items()
        assert labels[among["key"]] in among["values"]
    assert job.items() >= (WORKERS | {"app.kubernetes.io/component": "job"}).items(), "a Service must not route to it"


def test_workers_are_spread_over_zones_and_a_drain_takes_a_share_of_them() -> None:
    spec = pod("spread")
    assert spec["topologySpreadConstraints"] == [SPREAD | {"labelSelector": {"matchLabels": WORKERS}}]
    assert spec["priorityClassName"] == "agents"
    assert one("spread", "PodDisruptionBudget")["spec"]["maxUnavailable"] == "25%"
    assert spec["containers"][0]["envFrom"] == [{"secretRef": {"name": "otel"}}]


def test_labels_of_the_operator_are_on_every_object_and_pod() -> None:
    for document in documents("spread"):
        assert document["metadata"]["labels"]["team"] == "agents"
    labels = workload("spread")["spec"]["template"]["metadata"]["labels"]
    assert (labels["team"], labels["tier"]) == ("agents", "pod")
    assert workload("spread")["spec"]["selector"]["matchLabels"] == WORKERS


def test_models_of_a_volume_and_more_volumes_are_mounted_where_the_service_looks() -> None:
    container = pod("model of a volume")["containers"][0]
    (mount,) = [each for each in container["volumeMounts"] if each["name"] == "models"]
    assert environment(container)["CONTEXT_BUILDER_EMBEDDING__MODELS_DIR"] == mount["mountPath"]
    assert mount["readOnly"]
    assert volume("model of a volume", "models") == {"persistentVolumeClaim": {"claimName": "models"}}
    assert volume("more volumes", "more") == {"configMap": {"name": "more"}}
    assert "/more" in {each["mountPath"] for each in pod("more volumes")["containers"][0]["volumeMounts"]}


def test_the_authority_of_the_database_is_a_file_that_its_driver_reads() -> None:
    container = pod("workers on PostgreSQL, verified")["containers"][0]
    (mount,) = [each for each in container["volumeMounts"] if each["name"] == "postgresql-ca"]
    (item,) = volume("workers on PostgreSQL, verified", "postgresql-ca")["secret"]["items"]
    assert item["key"] == "ca.pem"
    assert environment(container)["PGSSLROOTCERT"] == f"{mount['mountPath']}/{item['path']}"
