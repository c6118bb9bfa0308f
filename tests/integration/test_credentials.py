"""A broker that asks for credentials takes the service that has them, and no other."""

import asyncio
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import nkeys  # type: ignore[import-untyped]
import pytest

from builder.client import Unavailable, connect
from tests.commands import NOBODY_LISTENS, run
from tests.integration.profiles import with_profiles
from tests.operators import operator_mode
from tests.running import Broker, Running, environment


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate that signs itself, for 127.0.0.1, and its key."""
    certificate, key = folder / "node.crt", folder / "node.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=node", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")
def test_a_client_certificate_opens_a_broker_that_asks_for_one(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    config = f'tls {{cert_file: "{certificate}", key_file: "{key}", ca_file: "{certificate}", verify: true}}\n'
    files: dict[str, Any] = {"nats__tls_ca": certificate, "nats__tls_cert": certificate, "nats__tls_key": key}
    with Broker(tmp_path / "broker", configuration=config) as broker:
        url = broker.url.replace("nats://", "tls://")
        with Running(tmp_path / "data", url, **files) as service:
            sent = run("send", "Hello.", "--wait", "default", env=service.env)
            assert (sent.returncode, "Hello." in sent.stdout) == (0, True)
        without = run("send", "Hello.", env=environment(tmp_path / "other", nats__servers=url, nats__tls_ca=certificate))
        assert (without.returncode, "CONTEXT_BUILDER_NATS__TLS_CERT and __TLS_KEY" in without.stderr) == (69, True)
        strange = run("send", "Hello.", env=environment(tmp_path / "other", nats__servers=url))
        assert (strange.returncode, "in CONTEXT_BUILDER_NATS__TLS_CA" in strange.stderr) == (69, True)
        assert "eof_received" not in sent.stderr + without.stderr + strange.stderr
        half = run("send", "Hello.", env=environment(tmp_path / "other", nats__servers=url, nats__tls_cert=certificate))
        assert half.returncode == 78
        assert "set both, or none" in half.stderr


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        ("authorization {user: builder, password: secret}\n", {"nats__user": "builder", "nats__password": "secret"}),
        ("authorization {token: secret}\n", {"nats__token": "secret"}),
    ],
)
def test_service_and_commands_use_the_credentials_of_the_settings(config: str, settings: dict[str, Any], tmp_path: Path) -> None:
    with Broker(tmp_path / "broker", configuration=config) as broker:
        with Running(tmp_path / "data", broker.url, **settings) as service:
            sent = run("send", "Hello.", "--wait", "default", env=service.env)
            assert (sent.returncode, sent.stderr) == (0, NOBODY_LISTENS)
        refused = run("send", "Hello.", env=environment(tmp_path / "other", nats__servers=broker.url))
        assert refused.returncode == 69
        assert refused.stderr.startswith(f"context-builder: the NATS server at {broker.url} refuses the login: ")
        assert "CONTEXT_BUILDER_NATS__USER and __PASSWORD, __TOKEN" in refused.stderr


async def test_a_wrong_password_is_told_as_such_to_the_service_to_doctor_and_to_an_agent(tmp_path: Path) -> None:
    users = "authorization {user: builder, password: secret}\n"
    with Broker(tmp_path / "broker", configuration=users) as broker, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        silent = f"nats://127.0.0.1:{taken.getsockname()[1]}"
        login: dict[str, Any] = {"user": "builder", "password": "hunter2"}
        settings = {f"nats__{name}": value for name, value in login.items()}
        wrong = environment(tmp_path / "data", nats__servers=broker.url, **settings)
        told = f"the NATS server at {broker.url} refuses the login: "
        up, doctor = run("up", env=wrong), run("doctor", env=wrong)
        assert (up.returncode, doctor.returncode) == (69, 1)
        assert all(told in said and "start it" not in said.partition(told)[2] for said in (up.stderr, doctor.stdout))
        assert "hunter2" not in up.stderr + doctor.stdout
        with pytest.raises(Unavailable, match=r"refuses the login: .*connect\(url, user=…, password=…\)"):
            async with connect(f"{broker.url},{silent}", **login):
                raise AssertionError


def test_an_nkey_opens_a_broker_that_knows_its_public_half(tmp_path: Path) -> None:
    seed = tmp_path / "user.nk"
    seed.write_bytes(nkeys.encode_seed(bytes(range(32)), nkeys.PREFIX_BYTE_USER) + b"\n")
    public = nkeys.from_seed(bytearray(seed.read_bytes().strip())).public_key.decode()
    with Broker(tmp_path / "broker", configuration=f"authorization {{users: [{{nkey: {public}}}]}}\n") as broker:
        with Running(tmp_path / "data", broker.url, nats__nkey=seed) as service:
            sent = run("send", "Hello.", "--wait", "default", env=service.env)
            assert (sent.returncode, sent.stderr) == (0, NOBODY_LISTENS)
        assert run("send", "Hello.", env=environment(tmp_path / "other", nats__servers=broker.url)).returncode == 69


async def test_a_credentials_file_opens_an_operator_mode_server_for_the_service_and_for_an_agent(tmp_path: Path) -> None:
    lines, files = operator_mode(tmp_path)
    templates = with_profiles(tmp_path, {"weather": "extends: default\n"})
    options: dict[str, Any] = {"embedding__engine": "none", "templates_dir": templates, "workspace": "acme"}
    with Broker(tmp_path / "broker", configuration=lines) as broker:
        with Running(tmp_path / "data", broker.url, nats__credentials=files["service"], **options) as service:
            agent = connect(broker.url, "acme", user_credentials=str(files["weather"]), inbox_prefix="_INBOX.weather")
            async with agent as client, client.subscribed("weather") as contexts:
                sent = await asyncio.to_thread(run, "send", "Is it raining?", "-s", "s1", env=service.env)
                assert sent.returncode == 0, sent.stderr
                assert "Is it raining?" in (await anext(contexts)).content
            assert run("export", "s1", env=service.env).stdout.count("\n") == 1
        refused = run("send", "Hello.", env=environment(tmp_path / "other", nats__servers=broker.url))
        assert refused.returncode == 69
        assert "__CREDENTIALS or __NKEY" in refused.stderr


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")
def test_a_certificate_of_an_authority_of_one_s_own_is_enough_for_a_broker_that_asks_for_none(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    config = f'tls {{cert_file: "{certificate}", key_file: "{key}"}}\nauthorization {{token: secret}}\n'
    with Broker(tmp_path / "broker", configuration=config) as broker:
        url = broker.url.replace("nats://", "tls://")
        with Running(tmp_path / "data", url, nats__tls_ca=certificate, nats__token="secret") as service:  # noqa: S106 - of this test
            sent = run("send", "Hello.", "--wait", "default", env=service.env)
            assert (sent.returncode, "Hello." in sent.stdout) == (0, True)


SEED = "SUAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
JWT = "-----BEGIN NATS USER JWT-----\na.b.c\n------END NATS USER JWT------\n"


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("nats__credentials", SEED),
        ("nats__credentials", f"-----BEGIN USER NKEY SEED-----\n{SEED}\n------END USER NKEY SEED------\n"),
        ("nats__credentials", JWT),
        ("nats__nkey", JWT),
        ("nats__nkey", ""),
    ],
)
def test_a_file_that_lacks_keys_is_refused_before_it_is_read_without_end(setting: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(text, "utf-8")
    done = run("send", "Hello.", env=environment(tmp_path, nats__servers="nats://127.0.0.1:1", **{setting: file}))
    assert done.returncode == 78
    assert f"CONTEXT_BUILDER_{setting.upper()} is {file}, which cannot be read or lacks keys" in done.stderr


def test_a_credentials_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    done = run("doctor", env=environment(tmp_path, nats__servers="nats://127.0.0.1:1", nats__credentials="/nowhere/user.creds"))
    assert "/nowhere/user.creds" in done.stdout
    assert "Traceback" not in done.stderr
