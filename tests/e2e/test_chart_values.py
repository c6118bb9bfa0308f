"""What the chart promises to whoever writes values: each is documented, a wrong one is refused, the README works as it stands."""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

import builder
from builder.adapters.files import read_files
from builder.app.config import KINDS, bundled_folder, parse_config
from tests import custom_resources
from tests.chart import CHART, helm, install, read, schema_paths, setting_names, value_paths
from tests.chart_values import ENDPOINT, EXTERNAL, FILES, PASSWORD, ROOT, TOKEN, VARIANTS, Json

VALUES = (CHART / "values.yaml").read_text("utf-8")
README = CHART / "README.md"
BEGIN = "<!-- values: UPDATE_DOCS=1 writes it, tests/e2e/test_chart_values.py -->\n"
END = "<!-- end of values -->"


def rows() -> Iterator[str]:
    """A row of the table for each value, and for each group of values that has a comment."""
    comment: list[str] = []
    path: list[str] = []
    for line in VALUES.splitlines():
        text = line.strip()
        if text.startswith("#"):
            comment.append(text.removeprefix("# "))
            continue
        name, _, default = text.partition(":")
        if text:
            path = [*path[: (len(line) - len(line.lstrip())) // 2], name]
        if comment or default:
            meaning = " ".join(comment).replace("|", "\\|")
            yield f"| `{'.'.join(path)}` | {f'`{default.strip()}`' if default else ''} | {meaning} |"
        comment = []


def parts() -> tuple[str, str, str]:
    """The README before, in and behind the table of values."""
    head, rest = README.read_text("utf-8").split(BEGIN)
    table, tail = rest.split(END)
    return head, table, tail


def blocks(language: str) -> list[str]:
    """The fenced blocks of the README."""
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    """The words of each command of helm in the README."""
    lines = [line for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True) for line in lines if line.startswith("helm ")]


def assignments(command: list[str]) -> list[str]:
    """What it sets."""
    return [word for flag, word in pairwise(command) if flag == "--set"]


def nested(assigned: list[str]) -> Json:
    """What `--set` of these makes of the values."""
    values: Json = {}
    for assignment in assigned:
        path, _, text = assignment.partition("=")
        *groups, name = path.split(".")
        group: dict[str, Any] = values
        for each in groups:
            group = group.setdefault(each, {})
        group[name] = yaml.safe_load(text)
    return values


def test_the_table_of_values_is_generated_from_their_comments() -> None:
    head, _, tail = parts()
    table = "\n".join(["", "| value | default | meaning |", "|---|---|---|", *rows(), "", ""])
    if os.environ.get("UPDATE_DOCS"):
        README.write_text(f"{head}{BEGIN}{table}{END}{tail}", "utf-8")
    assert parts()[1] == table


@pytest.mark.parametrize("example", blocks("yaml"))
def test_every_example_of_the_readme_is_strictly_valid(example: str) -> None:
    for document in read(install(yaml.safe_load(example))):
        if document["kind"] in custom_resources.SCHEMAS:
            custom_resources.check(document)
        else:
            kubernetes_validate.validate(document, "1.33", strict=True)


def test_the_service_takes_the_templates_of_the_readme() -> None:
    (given,) = [example["templates"] for example in map(yaml.safe_load, blocks("yaml")) if "templates" in example]
    files = {f"{folder}/{name}": text for folder, texts in given.items() for name, text in texts.items()}
    config = parse_config((read_files(bundled_folder("templates"), KINDS), files))
    assert {"my-agent"} <= {profile.consumer for profile in config.profiles}


def test_every_helm_command_of_the_readme_sets_values_that_there_are() -> None:
    known = set(value_paths(yaml.safe_load(VALUES)))
    flags = {"--set", "-f", "-n", "--create-namespace", "--reset-then-reuse-values", "--values"}
    assert len(commands()) >= 5
    for command in commands():
        assert {word for word in command if word.startswith("-")} <= flags
        for assignment in assignments(command):
            assert "/" + assignment.partition("=")[0].replace(".", "/") in known, assignment


def test_the_first_command_of_the_readme_installs_one_pod() -> None:
    first = commands()[0]
    assert first[:2] == ["helm", "install"]
    kinds = [document["kind"] for document in read(install(nested(assignments(first))))]
    assert kinds.count("StatefulSet") == 1


def test_every_link_and_file_of_the_readme_is_there() -> None:
    text = README.read_text("utf-8")
    for target in re.findall(r"\]\((?!http|#)([^)#]+)", text):
        assert (CHART / target).exists(), target
    for name in re.findall(r"(?<![\w/])deploy/[\w/.-]+\w", text):
        assert (ROOT / name).exists(), name


def test_no_setting_that_the_chart_sets_is_taken_a_second_time() -> None:
    """Kubernetes would take the last one, and the value would be silently wrong."""
    manifests = "\n".join(install(values) for values in VARIANTS.values())
    own = set(re.findall(r"name: (CONTEXT_BUILDER_\w+|PGSSLROOTCERT)", manifests)) - {"CONTEXT_BUILDER_WORKER__BATCH"}
    for name in own:
        with pytest.raises(helm().HelmReleaseError, match="'/extraEnv/0/name': 'not' failed"):
            install({"extraEnv": [{"name": name, "value": ""}]})
    others = sorted(name for name in set(setting_names()) - own if "NATS__" not in name and "HTTP__" not in name)
    install({"extraEnv": [{"name": name, "value": ""} for name in others]})


def test_the_embedded_broker_is_refused_where_kubernetes_has_no_sidecars(tmp_path: Path) -> None:
    """The SDK renders for its newest Kubernetes alone, so a copy of the chart is given an older one."""
    older = shutil.copytree(CHART, tmp_path / "context-builder")
    asked = older / "templates" / "nats-configmap.yaml"
    asked.write_text(asked.read_text("utf-8").replace(".Capabilities.KubeVersion.Version", '"v1.28.15-eks-1"'), "utf-8")
    with (
        helm().Config(namespace="agents", storage_driver="memory") as config,
        pytest.raises(
            helm().HelmReleaseError, match=re.escape("needs Kubernetes 1.29, this is v1.28.15-eks-1; set nats.embedded=false")
        ),
    ):
        config.install(older, "demo", {}, dry_run="client")


def test_chart_and_package_have_one_version() -> None:
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"] == builder.__version__


def test_every_value_has_a_default_a_comment_and_a_schema() -> None:
    text, schema = (CHART / "values.yaml").read_text(), json.loads((CHART / "values.schema.json").read_text())
    assert set(value_paths(yaml.safe_load(text))) == set(schema_paths(schema, schema)) - {"/global"}
    for before, line in zip(text.splitlines(), text.splitlines()[1:], strict=False):
        assert before.lstrip().startswith("#") or not re.match(r"\s*(?!requests|limits)\w+: ", line), line


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (
            {"replicas": 2},
            "'/replicas': value must be one of 1, 'more or fewer than 1 worker: set nats.embedded=false and nats.servers, for",
        ),
        (
            {"nats": EXTERNAL, "replicas": 2, "persistence": {"existingClaim": "kept"}},
            "'/replicas': value must be one of 1, 'more or fewer than 1 worker: leave persistence.existingClaim empty, for",
        ),
        (
            {"autoscaling": {"by": "cpu"}},
            "'/autoscaling/by': value must be one of '', 'to scale: set nats.embedded=false and nats.servers, and",
        ),
        ({"nats": EXTERNAL, "autoscaling": {"by": "both"}}, "'/autoscaling/by': value must be one of '', 'cpu', 'lag'"),
        ({"nats": EXTERNAL, "autoscaling": {"by": "lag"}}, "'/autoscaling/lag/monitoring': minLength: got 0, want 1"),
        (
            {"nats": EXTERNAL, "autoscaling": {"by": "cpu", "minReplicas": 4, "maxReplicas": 3}},
            "autoscaling.maxReplicas is 3 and below autoscaling.minReplicas, which is 4; raise it",
        ),
        ({"http": {"tokensKey": "tokens.yaml"}}, "'/http/existingSecret': minLength: got 0, want 1"),
        ({"store": {"postgresql": {"existingSecret": "pg"}}}, "'/store/postgresql/urlKey': minLength: got 0, want 1"),
        ({"store": {"postgresql": {"caKey": "ca"}}}, "'/store/postgresql/existingSecret': minLength: got 0, want 1"),
        ({"store": {"url": "postgresql://me:pw@pg"}}, "'/store': additional properties 'url' not allowed"),
        ({"embedding": {"engine": "endpoint"}}, "'/embedding/url': minLength: got 0, want 1"),
        ({"embedding": {"url": "https://h/v1"}}, "'/embedding/url': maxLength: got 12, want 0"),
        ({"embedding": ENDPOINT | {"url": "https://me:pw@h/v1"}}, "'/embedding/url': 'https://me:pw@h/v1' does not match"),
        ({"embedding": ENDPOINT | {"existingSecret": ""}}, "'/embedding/existingSecret': minLength: got 0, want 1"),
        ({"summaries": {"url": "https://h/v1"}}, "'/summaries/model': minLength: got 0, want 1"),
        ({"lifetimes": {"note.v1": 0}}, "'/lifetimes/note.v1': exclusiveMinimum: got 0, want 0"),
        ({"commonLabels": {"app.kubernetes.io/name": "mine"}}, "invalid propertyName 'app.kubernetes.io/name'"),
        ({"podDisruptionBudget": {"maxUnavailable": "many"}}, "'/podDisruptionBudget/maxUnavailable': 'many' does not match"),
        ({"podSecurityContext": {"runAsUser": 0}}, "'/podSecurityContext/runAsUser': minimum: got 0, want 1"),
        ({"nats": {"embedded": False}}, "'/nats/servers': minItems: got 0, want 1"),
        ({"nats": {"servers": ["nats://bus:4222"]}}, "'/nats/servers': maxItems: got 1, want 0"),
        ({"nats": {"replicas": 3}}, "'/nats/replicas': maximum: got 3, want 1"),
        (
            {"nats": EXTERNAL | {"servers": ["nats://me:pw@bus:4222"]}},
            "'/nats/servers/0': 'nats://me:pw@bus:4222' does not match",
        ),
        ({"nats": {"auth": {"password": "word"}}}, "'/nats/auth': additional properties 'password' not allowed"),
        ({"nats": {"auth": {"existingSecret": "bus"}}}, "'/nats/auth/tokenKey': minLength: got 0, want 1"),
        ({"nats": {"auth": {"tokenKey": "token"}}}, "'/nats/auth/existingSecret': minLength: got 0, want 1"),
        ({"nats": {"auth": {"existingSecret": "bus", "userKey": "u"}}}, "'/nats/auth/passwordKey': minLength: got 0, want 1"),
        ({"nats": {"auth": PASSWORD | TOKEN}}, "'/nats/auth/tokenKey': maxLength: got 5, want 0"),
        ({"nats": {"auth": FILES}}, "'/nats/auth/caKey': maxLength: got 6, want 0"),
        (
            {"nats": EXTERNAL | {"auth": {"existingSecret": "bus", "certKey": "c"}}},
            "'/nats/auth/keyKey': minLength: got 0, want 1",
        ),
        ({"nameOverride": "A_B"}, "'/nameOverride': 'A_B' does not match pattern"),
        ({"fullnameOverride": "My_CB"}, "'/fullnameOverride': 'My_CB' does not match pattern"),
        ({"fullnameOverride": "9-cb"}, "'/fullnameOverride': '9-cb' does not match pattern"),
        ({"persistence": {"existingClaim": "My_Claim"}}, "'/persistence/existingClaim': 'My_Claim' does not match pattern"),
        ({"serviceAccount": {"name": "-cb"}}, "'/serviceAccount/name': '-cb' does not match pattern"),
        ({"name": "Staging"}, "'/name': 'Staging' does not match pattern"),
        ({"name": "requests"}, "'/name': 'not' failed"),
        ({"unknown": 1}, "'': additional properties 'unknown' not allowed"),
        ({"image": {"unknown": 1}}, "'/image': additional properties 'unknown' not allowed"),
        ({"templates": {"hints": {"x.txt": ""}}}, "'/templates/hints': additional properties 'x.txt' not allowed"),
        ({"extraEnv": [{"name": "CONTEXT_BUILDER_NATS__PASSWORD", "value": "word"}]}, "'/extraEnv/0/name': 'not' failed"),
    ],
)
def test_the_schema_refuses_a_wrong_value_and_says_where(values: Json, complaint: str) -> None:
    with pytest.raises(helm().HelmReleaseError, match=re.escape(complaint)):
        install(values)
