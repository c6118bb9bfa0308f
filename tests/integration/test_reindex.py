"""The stream is the truth: the store can be thrown away and made again."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from builder.adapters.nats.topology import BREADCRUMBS, CONTEXTS, DEADLETTERS, Topology, ensure_streams
from builder.app.broker import locate_store
from builder.app.components import open_components
from builder.app.settings import EmbeddingSettings, StoreSettings
from builder.cli.doctor import examine
from builder.domain.breadcrumb import Place
from builder.domain.errors import Misconfigured
from builder.extras.operations.maintenance import rebuild_store, switch_model
from builder.publish.event import encode
from builder.remember.decode import decode
from builder.wire.records import make_record, outgoing
from tests.commands import run
from tests.embedding_server import EmbeddingServer
from tests.factories import make_remembered
from tests.integration.inside import service_here, settings, worker_here
from tests.running import Broker, Running, all_settled, answered, environment, jetstream, remembered, say, until


async def counts(js: JetStreamContext) -> list[int]:
    """Messages ever published in each stream."""
    return [(await js.stream_info(stream)).state.last_seq for stream in (BREADCRUMBS, CONTEXTS, DEADLETTERS)]


async def test_the_store_is_rebuilt_from_the_stream_and_gives_the_same_contexts(
    service: Running, broker: Broker, folder: Path
) -> None:
    data = folder / "service"
    async with jetstream(broker.url) as js:
        for number in range(12):
            await say(js, f"Order {number} is about {('kilns', 'glazes', 'tyres')[number % 3]}.", "s1", f"m{number}")
        await say(js, "", "_", "catalog", schema="tool.catalog.v1", body={"tools": [{"name": "kiln-table"}]})
        await js.publish("breadcrumbs.acme.s1.user.message.v1", b"{", stream=BREADCRUMBS)
        odd = outgoing(make_record("note.v1", "odd", "s1", {"content": "This one has a header of its own."}), "acme")
        await js.publish(odd.subject, odd.data, stream=BREADCRUMBS, headers={"Status": "404"})
        await say(js, "What was the order about kilns?", "s1", "last")
        await all_settled(js)
        published = await counts(js)
        (event,) = (event for event in await answered(js) if event["trigger_event_id"] == "last")

        refused = run("reindex", env=service.env)
        assert refused.returncode == 78
        for words in (
            "stop the service",
            "systemctl stop",
            "docker compose run --rm context-builder reindex",
            "--set reindex=true",
        ):
            assert words in refused.stderr
        assert service.get("/readyz")[0] == 200

        assert service.stop() == 0
        held = remembered(data)
        (data / "store.sqlite3").write_bytes(b"")
        result = run("reindex", "--json", env=service.env)
        assert json.loads(result.stdout) == {"remembered": len(held), "rejected": 1}
        assert remembered(data) == held
        assert await counts(js) == published
        assert await rebuilt(data, broker, event["trigger_seq"]) == event

        async with service_here(settings(data, broker.url)):
            await say(js, "And the one about glazes?", "s1", "next")
            await all_settled(js)
        assert [new for new, old in zip(await counts(js), published, strict=True) if new > old] == [
            published[0] + 1,
            published[1] + 1,
        ]
        content = (await answered(js))[-1]["content"]
        for part in ("What was the order about kilns?", "kiln-table", "And the one about glazes?"):
            assert part in content


async def rebuilt(data: Path, broker: Broker, sequence: int) -> object:
    """The context of a trigger, from the store as it is and without the stream's help."""
    async with worker_here(settings(data, broker.url)) as bench:
        arrival = await bench.stream.get(sequence)
    assert arrival is not None
    breadcrumb = decode(arrival)
    async with open_components(settings(data)) as core:
        (context,) = (await core.builder.build(breadcrumb, core.builder.consumers(breadcrumb))).contexts
    return json.loads(encode(context))


async def test_reindex_refuses_while_older_breadcrumbs_are_only_in_the_store(
    service: Running, broker: Broker, folder: Path
) -> None:
    async with jetstream(broker.url) as js:
        held = remembered(folder / "service")
        await js.purge_stream(BREADCRUMBS, seq=5)
    refused = run("reindex", env=service.env)
    assert refused.returncode == 78
    assert "4 breadcrumbs" in refused.stderr
    assert remembered(folder / "service") == held


def wreck(store: Path) -> None:
    """Overwrite all but the first page, as a failing disk does."""
    data = store.read_bytes()
    store.write_bytes(data[:8192] + b"x" * (len(data) - 8192))


async def test_a_damaged_store_is_told_at_once_and_made_again_beside_the_old_file(tmp_path: Path) -> None:
    with Broker(tmp_path / "broker") as broker, Running(tmp_path / "service", broker.url, embedding__engine="none") as service:
        store = tmp_path / "service" / "store.sqlite3"
        async with jetstream(broker.url) as js:
            for number in range(30):
                await say(js, f"Order {number} is about kilns.", "s1", f"m{number}")
            await all_settled(js)
            assert service.stop() == 0
            held = remembered(tmp_path / "service")

            wreck(store)
            service.launch()  # opens: the first page is whole
            await until(lambda: started(service), "the service")
            if service.running:
                await say(js, "And the glazes?", "s1", "late")
                await until(lambda: is_failing(service), "the part store")
                assert run("reindex", env=service.env).returncode == 78
                service.stop()
            store.write_bytes(b"x" * 4096 + store.read_bytes()[4096:])
            refused = run("up", env=service.env)
            assert refused.returncode == 78
            assert "is damaged (file is not a database); run `context-builder reindex`" in refused.stderr

            done = run("reindex", "--json", env=service.env)
            assert (done.returncode, json.loads(done.stdout)["rejected"]) == (0, 0)
            (aside,) = store.parent.glob("store-damaged-*.sqlite3")
            assert str(aside) in done.stderr
            assert remembered(tmp_path / "service")[: len(held)] == held


async def started(service: Running) -> bool:
    """Whether the service serves, or has ended."""
    return bool(service.http) or not service.running


async def is_failing(service: Running) -> bool:
    """Whether /readyz is 503, because the store is damaged."""
    code, body = service.get("/readyz")
    return code == 503 and "is damaged" in json.loads(body)["parts"]["store"]


async def test_a_store_that_is_newer_than_its_stream_is_refused_and_made_again(tmp_path: Path) -> None:
    data = tmp_path / "service"
    with Running(data, embedding__engine="none") as service:
        async with jetstream(service.url) as js:
            for number in range(3):
                await say(js, "Hello.", "s1", f"m{number}")
            await all_settled(js)
        assert service.stop() == 0
        shutil.copytree(data / "nats" / "jetstream", tmp_path / "older")
        service.start()
        async with jetstream(service.url) as js:
            for number in range(3, 6):
                await say(js, "Hello.", "s1", f"m{number}")
            await all_settled(js)
        assert service.stop() == 0
        shutil.rmtree(data / "nats" / "jetstream")
        shutil.copytree(tmp_path / "older", data / "nats" / "jetstream")

        refused = run("up", env=service.env)
        assert (refused.returncode, "3 breadcrumbs came later" in refused.stderr) == (78, True)
        assert "context-builder reindex" in refused.stderr
        done = run("reindex", "--json", env=service.env)
        assert json.loads(done.stdout) == {"remembered": 3, "rejected": 0}
        assert "3 breadcrumbs" in done.stderr
        service.start()
        async with jetstream(service.url) as js:
            await say(js, "Hello again.", "s1", "new")
            await all_settled(js)
            assert [event["trigger_event_id"] for event in await answered(js)][-1] == "new"


async def test_doctor_says_that_a_store_is_newer_than_its_stream(tmp_path: Path) -> None:
    env = environment(tmp_path / "data", nats__servers="", embedding__engine="none")
    with Broker(tmp_path / "broker") as broker:
        env["CONTEXT_BUILDER_NATS__SERVERS"] = broker.url
        async with jetstream(broker.url) as js:
            incarnation = await ensure_streams(js, Topology())
        async with locate_store(settings(tmp_path / "data")).open() as store:
            await store.remember(make_remembered(place=Place(incarnation, 7)))
        done = run("doctor", env=env)
    assert done.returncode == 1
    assert "the store is newer than its stream, which ends at 0: 1 breadcrumbs came later" in done.stdout


async def test_reindex_with_the_embedded_server_refuses_while_the_service_runs_and_then_works(tmp_path: Path) -> None:
    with Running(tmp_path) as service:
        async with jetstream(service.url) as js:
            await say(js, "Hello.", "s1", "m1")
            await all_settled(js)
            assert run("reindex", env=service.env).returncode == 78
            await say(js, "Hello again.", "s1", "m2")
            await all_settled(js)
            assert len(await answered(js)) == 2
        assert service.stop() == 0
        assert json.loads(run("reindex", "--json", env=service.env).stdout) == {"remembered": 2, "rejected": 0}
        assert len(remembered(tmp_path)) == 2


async def test_a_team_switches_to_the_model_of_an_endpoint_and_no_old_vector_is_read_again(tmp_path: Path) -> None:
    local = settings(tmp_path / "service")
    server = EmbeddingServer()
    async with server.running() as url:
        chosen = {"engine": "endpoint", "model": "many", "url": url, "key": "sk-secret", "dimensions": 128, "batch": 8}
        hosted = local.model_copy(update={"embedding": EmbeddingSettings.model_validate(chosen)})
        async with service_here(local) as service:
            for number in range(20):
                await say(service.js, f"Auftrag {number} betrifft {('Brennöfen', 'Glasuren')[number % 2]}.", "s1", f"m{number}")
            await all_settled(service.js)
        refused = {finding["part"]: finding for finding in await examine(hosted, "")}
        assert not refused["core"]["ok"]
        assert "the engine is many/endpoint/" in refused["core"]["said"]
        assert "run `context-builder reindex`" in refused["core"]["said"]
        assert not server.seen

        assert await rebuild_store(hosted, lambda _sequence, _last: None) == {"remembered": 20, "rejected": 0}
        assert [len(texts) for texts in server.inputs] == [8, 8, 4]
        async with service_here(hosted) as service:
            await say(service.js, "Welche Aufträge betreffen Glasuren?", "s1", "last")
            await all_settled(service.js)
            event = (await answered(service.js))[-1]
            assert await service.core.store.models() == {service.core.embedder.model}
        assert (event["trigger_event_id"], event["assembly"]["flags"]) == ("last", [])
        assert server.inputs[3:] == [["Welche Aufträge betreffen Glasuren?"]]
        findings = await examine(hosted, "")
    assert all(finding["ok"] for finding in findings if finding["part"] in {"core", "model"})
    assert "sk-secret" not in f"{findings} {hosted!r}"


async def test_a_model_is_switched_beside_the_running_service_and_both_are_kept_apart_until_then(tmp_path: Path) -> None:
    local, url = settings(tmp_path / "service"), f"sqlite:{tmp_path / 'other.sqlite3'}"
    async with EmbeddingServer().running() as endpoint:
        chosen = {"engine": "endpoint", "model": "many", "url": endpoint, "dimensions": 128, "batch": 8}
        hosted = local.model_copy(update={"embedding": EmbeddingSettings.model_validate(chosen)})

        def interrupt(sequence: int, _last: int) -> None:
            if sequence > 70:
                raise KeyboardInterrupt

        async with service_here(local) as service:
            for number in range(80):
                await say(
                    service.js, f"Order {number} is about {('kilns', 'glazes')[number % 2]}.", f"s{number % 3}", f"m{number}"
                )
            await all_settled(service.js)
            with pytest.raises(Misconfigured, match="is the store of the service; name a new one for the other model"):
                await switch_model(hosted, service.url, f"sqlite:{tmp_path / 'service' / 'store.sqlite3'}", interrupt)
            with pytest.raises(KeyboardInterrupt):
                await switch_model(hosted, service.url, url, interrupt)
            fields = {"nats__servers": service.url} | {f"embedding__{name}": value for name, value in chosen.items()}
            again = await asyncio.to_thread(run, "models", "switch", url, "--json", env=environment(tmp_path / "empty", **fields))
            assert 0 < json.loads(again.stdout)["remembered"] < 80, "the second run goes on where the first one was"
            await say(service.js, "The last order is about tyres.", "s1", "late")
            later = list[asyncio.Task[int]]()

            def talk(sequence: int, _last: int) -> None:
                assert len(later) < 20, "it goes on for as long as people write"
                later.append(asyncio.create_task(say(service.js, f"Message {sequence} came meanwhile.", "s2", f"l{sequence}")))

            await switch_model(hosted, service.url, url, talk)
            await asyncio.gather(*later)
            await all_settled(service.js)
            assert await service.core.store.models() == {service.core.embedder.model}
        switched = hosted.model_copy(update={"store": StoreSettings(url=url)})
        async with service_here(switched) as service:
            await say(service.js, "Which orders are about glazes?", "s1", "ask")
            await all_settled(service.js)
            event = (await answered(service.js))[-1]
            assert await service.core.store.models() == {service.core.embedder.model}
        assert (event["trigger_event_id"], event["assembly"]["flags"]) == ("ask", [])
    assert "The last order is about tyres." in event["content"]
    assert "Order 1 is about glazes." in event["content"]
