"""Which consumers there are, of files and of records."""

import json
from typing import Any

from builder.app.config import bundled_folder, load_library, read_layers
from builder.domain.breadcrumb import StreamMessage
from builder.domain.lint_finding import LintFinding
from builder.extras.rcrt.record_consumers import RecordProfiles
from builder.worker.consumers import Consumers
from tests.conversations import message_of
from tests.factories import MORNING, make_profile
from tests.ports import MemoryStream, make_log
from tests.stores import durable_store
from tests.summarised import make_builder


def consumers_over(*messages: StreamMessage) -> Consumers:
    """One of a file, called default, and those of these messages."""
    stream, store = MemoryStream(messages), durable_store()
    findings: list[LintFinding] = []
    library = load_library(read_layers((bundled_folder("templates"),)))
    builder = make_builder(store, (make_profile(),))
    builder.record_consumers = RecordProfiles(library, frozenset({"default"}), findings.append)

    return Consumers(lambda: builder, make_log(stream, store, now=lambda: MORNING))


def agent(sequence: int, name: str, **body: Any) -> StreamMessage:
    return message_of(sequence, "agent.def.v1", {"agent_id": name, **body}, "_", id=f"def-{name}")


TRIGGER = {"schema_name": "tool.response.v1", "any_tags": ["chat"]}


async def test_consumers_say_what_makes_them_and_records_that_make_none_say_why() -> None:
    consumers = consumers_over(agent(1, "support", context_trigger=TRIGGER), agent(2, "broken", context_trigger=[]))
    answer = json.loads(json.dumps(await consumers.listed("acme")))
    assert [(each["name"], each["origin"], each["triggers"]) for each in answer["consumers"]] == [
        ("default", "profiles/default.yaml", ["user.message.v1"]),
        ("support", 'agent.def.v1 "def-support" version 1', [{"schemas": ["tool.response.v1"], "any_tags": ["chat"]}]),
    ]
    (finding,) = answer["findings"]
    assert finding["file"] == 'agent.def.v1 "def-broken" version 1'


async def test_what_was_read_last_is_known_without_reading() -> None:
    consumers = consumers_over(agent(1, "support", context_trigger=TRIGGER))
    assert [profile.consumer for profile in consumers.in_memory()] == ["default"]
    assert [profile.consumer for profile in await consumers.of("acme")] == ["default", "support"]
    assert [profile.consumer for profile in consumers.in_memory("acme")] == ["default", "support"]
    assert [profile.waits_for_tools for profile in consumers.in_memory()] == [False, True]
    assert [profile.consumer for profile in consumers.in_memory("rival")] == ["default"]
    consumers.log.drop("acme")
    assert [profile.consumer for profile in consumers.in_memory()] == ["default"]
