"""Random sessions as a disorderly bus would bring them: the input of `bench invariants`."""

from datetime import UTC, datetime, timedelta, timezone
from random import Random
from typing import Any

from builder.bench.invariants.random_texts import AGENT_IDS, AGENTS, PEOPLE, Texts

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SESSION, OTHER, NOWHERE = "s42", "s43", "_"
SMALL_TALK = ("okay", "thanks", "👍", "sure", "да", "yes", "no")
WISHES = ("Always answer in English.", "Never use emojis.", "Keep your answers under 90 words.", "From now on answer in German.")
OPENINGS = ("Assistant: ", "User: ", "System:\n", "Call bash: ", "Call bash\n", "Tool bash answered: ", "Result: ", "so ")
"""Beginnings of texts, most of which are labels of a page."""
TOOLS = ("search", "bash", "file_read")
OFFSETS = (None, None, 0, 120, -300, 345)
"""Minutes of the sender's clock from UTC; None = no offset."""
PAUSES = ((0, 3), (0, 3), (5, 600), (600, 3000))
"""Minutes between two records."""
KINDS = (
    ("message", 26), ("answered", 16), ("exchange", 22), ("stray", 6), ("edit", 5), ("late edit", 2), ("tombstone", 3),
    ("small talk", 6), ("repeat", 4), ("wish", 3), ("note", 3), ("image", 2), ("catalog", 1), ("blacklist", 1), ("summary", 3),
    ("elsewhere", 3), ("loop", 6), ("monologue", 5), ("chore", 1),
)  # fmt: skip
ROUNDS = (1, 1, 1, 2, 2, 3, 5, 8, 13, 40)
"""Of a loop of calls."""
Record = dict[str, Any]


class RandomSession:
    """Grows by random events."""

    def __init__(self, rng: Random, recipe: str) -> None:
        """recipe: of the summaries of the consumer."""
        self.records: list[Record] = []
        """As a sender writes them, in stream order; the last one is a trigger."""
        self._rng = rng
        self._recipe = recipe
        self._texts = Texts(rng)
        self._people = rng.sample(PEOPLE, rng.randint(1, len(PEOPLE)))
        self._agents = rng.sample(AGENT_IDS, rng.choice((0, 1, 1, 2)))
        self._has_user_ids = rng.random() < 1 / 3
        self._pause = rng.choice(PAUSES)
        self._clock = START
        self._waiting: list[Record] = []
        self._head = ""
        self._calls = 0
        self._covered = 0
        self._number = 0

    def grow(self, size: int) -> None:
        """Until it has so many records and every late result has come."""
        kinds, weights = zip(*KINDS, strict=True)
        while len(self.records) < size:
            if self._waiting and self._rng.random() < 1 / 3:
                self._put(self._waiting.pop(self._rng.randrange(len(self._waiting))))
            else:
                getattr(self, f"_{self._rng.choices(kinds, weights)[0].replace(' ', '_')}")()

    def ask(self) -> None:
        """A person's message that triggers."""
        content = self._texts.written(self._rng.choice((0, 1, 1, 2, 3, 30))) or "?"
        record = self._record("user.message.v1", {"content": content}, plain=True)
        self._put(record | {"tags": ["task:kiln"] if self._rng.random() < 1 / 3 else []})

    def _message(self) -> None:
        self._add("user.message.v1", {"content": self._texts.written(self._rng.choice((1, 1, 2, 3, 12)))} | self._person())

    def _answered(self) -> None:
        self._add("agent.response.v1", {"message": self._texts.written(self._rng.choice((1, 2, 3, 9)))} | self._by())

    def _exchange(self) -> None:
        """An agent's calls with a mark on each request and result, in any order, some of it late or never."""
        calls = [self._call() for _ in range(self._rng.choice((1, 1, 1, 2, 4)))]
        calls_made = [{"tool": self._of(TOOLS), "input": self._texts.arguments(), "requestId": call} for call in calls if call]
        body = {"message": self._texts.written(self._rng.choice((0, 1, 1, 2))), "tool_requests": calls_made} | self._by()
        parts = [self._record("agent.response.v1", body)] if self._rng.random() < 9 / 10 else []
        requests = {call["requestId"]: call for call in calls_made}
        for call in calls:
            parts += [self._request(call, requests.get(call))] if self._rng.random() < 1 / 3 else []
        for call in self._rng.sample(calls, len(calls)):
            parts += [self._result(call, requests.get(call)) for _ in range(self._rng.choice((0, 1, 1, 1, 1, 2)))]
        if self._rng.random() < 1 / 4:
            self._rng.shuffle(parts)
        for part in parts:
            self._waiting.append(part) if self._rng.random() < 1 / 5 else self._put(part)

    def _loop(self) -> None:
        """A question, and the rounds of calls that an agent makes for it: one to three at once, all answered, in any order."""
        self._message()
        by = self._by()
        for _ in range(self._of(ROUNDS)):
            names = [f"r{self._calls + number}" for number in range(1, self._rng.randint(1, 3) + 1)]
            self._calls += len(names)
            calls = [{"tool": self._of(TOOLS), "input": self._texts.arguments(), "requestId": name} for name in names]
            body = {"message": self._texts.prose(self._of((0, 0, 1))), "tool_requests": calls} | by
            self._put(self._record("agent.response.v1", body, plain=True))
            for call in self._rng.sample(calls, len(calls)):
                output = self._texts.log() if self._rng.random() < 1 / 2 else self._texts.output()
                body = {"tool": call["tool"], "output": output, "request_id": call["requestId"]}
                self._put(self._record("tool.response.v1", body, plain=True))

    def _monologue(self) -> None:
        """One speaker in a row, who sometimes says what begins like a label of the page."""
        schema, by = self._of((("user.message.v1", self._person()), ("agent.response.v1", self._by())))
        for _ in range(self._rng.randint(2, 5)):
            opening = self._of(OPENINGS) if self._rng.random() < 1 / 4 else ""
            self._put(self._record(schema, {"content": opening + self._texts.prose(1)} | by, plain=True))

    def _chore(self) -> None:
        """A call that is made again and again with the same words, and nothing else between."""
        by, words, tool = self._by(), self._of(SMALL_TALK), self._of(TOOLS)
        for number in range(self._rng.choice((3, 13, 20))):
            self._calls += 1
            name = f"r{self._calls}"
            call = {
                "tool": tool,
                "input": {"path": f"/kiln/{self._of(('log', 'plan of the week', number))}.txt"},
                "requestId": name,
            }
            self._put(self._record("agent.response.v1", {"message": words, "tool_requests": [call]} | by, plain=True))
            body = {"tool": tool, "output": self._texts.prose(1), "request_id": name}
            self._put(self._record("tool.response.v1", body, plain=True))

    def _stray(self) -> None:
        """Half an exchange under an id that others have used, or under none."""
        call = f"r{self._rng.randint(1, self._calls)}" if self._calls and self._rng.random() < 2 / 3 else ""
        self._put(self._result(call) if self._rng.random() < 1 / 2 else self._request(call))

    def _call(self) -> str:
        """A new request id; sometimes one that was given before, sometimes none."""
        self._calls += 1
        if self._rng.random() < 1 / 20:
            return ""
        return f"r{self._rng.randint(1, self._calls) if self._rng.random() < 1 / 25 else self._calls}"

    def _request(self, call: str, passed: Record | None = None) -> Record:
        """passed: the call that it passes on; seldom it calls something else under the same id."""
        if passed and self._rng.random() < 9 / 10:
            return self._record("tool.request.v1", passed)
        request = {"tool": self._of(TOOLS), "input": self._texts.arguments(), "requestId": call or None}
        return self._record("tool.request.v1", request)

    def _result(self, call: str, passed: Record | None = None) -> Record:
        """In the session or in none."""
        where = self._of((SESSION, SESSION, NOWHERE))
        tool = passed["tool"] if passed else self._of(TOOLS)
        joined = {self._of(("request_id", "requestId")): call} if call else {}
        if self._rng.random() < 1 / 8:
            body = {"tool_name": tool, "error_message": self._texts.prose(2)}
            return self._record("tool.error.v1", body | joined, where)
        return self._record("tool.response.v1", {"tool": tool, "output": self._texts.output()} | joined, where)

    def _edit(self) -> None:
        """A later version of a message; of an exchange it may have other calls, or none."""
        candidates = [record for record in self.records if record["schema_name"] in {"user.message.v1", "agent.response.v1"}]
        if candidates:
            older = self._of(candidates)
            body = older["context"] | {"content": self._texts.written(2)}
            body.pop("message", None)
            if self._rng.random() < 1 / 4:
                body["tool_requests"] = []
            self._put(older | {"version": len(self.records) + 2, "context": body, "expires_at": None})

    def _late_edit(self) -> None:
        """An older version of what was edited, which comes after the newer one."""
        edited = [record for record in self.records if record["version"] > 2]  # noqa: PLR2004 - there is one between it and the first
        if edited:
            newer = self._of(edited)
            versions = {record["version"] for record in self.records if record["id"] == newer["id"]}
            free = [version for version in range(2, newer["version"]) if version not in versions]
            body = newer["context"] | {"content": self._texts.prose(2)}
            self._put(newer | {"version": self._of(free), "context": body}) if free else None

    def _tombstone(self) -> None:
        if self.records:
            body = {"breadcrumb_id": self._of(self.records)["id"]}
            self._put(self._record("breadcrumb.deleted.v1", body, session=self._of((SESSION, SESSION, NOWHERE))))

    def _small_talk(self) -> None:
        self._add(self._of(("user.message.v1", "agent.response.v1")), {"content": self._of(SMALL_TALK)}, plain=True)

    def _repeat(self) -> None:
        """A repeated message, but no pinned one: those are shown in any case."""
        messages = (record for record in self.records if record["schema_name"] == "user.message.v1" and record["version"] == 1)
        candidates = [record for record in messages if "pinned" not in record["tags"]]
        if candidates:
            self._add("user.message.v1", self._of(candidates)["context"], plain=True)

    def _wish(self) -> None:
        self._add("user.message.v1", {"content": f"{self._texts.prose(1)} {self._of(WISHES)}"} | self._person())

    def _note(self) -> None:
        session = self._of((SESSION, NOWHERE))
        self._put(self._record("note.v1", {"content": self._texts.prose(3), "title": "Glaze"}, session=session))

    def _image(self) -> None:
        image = {"type": "image", "name": "kiln.png", "data": "data:image/png;base64,iVBORw0KGgo=", "caption": "hot"}
        self._add("user.message.v1", {"content": self._texts.prose(1), "attachments": [image]})

    def _catalog(self) -> None:
        tools = [{"name": f"tool-{n}", "description": self._texts.prose(1)} for n in range(self._rng.choice((1, 5, 40)))]
        self._put(self._record("tool.catalog.v1", {"tools": tools}, session=NOWHERE))

    def _blacklist(self) -> None:
        ids = [record["id"] for record in self._rng.sample(self.records, min(3, len(self.records)))]
        body = {"excluded_tags": ["draft"], "excluded_ids": ids, "excluded_schemas": []}
        if self._rng.random() < 1 / 4:
            body["excluded_schemas"] = [{"schema_name": self._of(("note.v1", "tool.error.v1", "tool.response.v1"))}]
        self._put(self._record("context.blacklist.v1", body, session=NOWHERE))

    def _summary(self) -> None:
        """The next of a chain, made from the oldest messages that none covers yet."""
        messages = [record for record in self.records if record["schema_name"] in {"user.message.v1", "agent.response.v1"}]
        batch = [record for record in messages if record["session"] == SESSION][self._covered : self._covered + 6]
        if not batch:
            return
        record = self._record("summary.v1", {})
        lines = [{"text": self._texts.prose(1), "ids": [one["id"]], "versions": [one["version"]]} for one in batch]
        record["context"] = {
            "lines": lines, "covered": [one["id"] for one in batch], "previous": self._head, "last": batch[-1]["id"],
            "recipe": self._recipe,
        }  # fmt: skip
        self._covered += len(batch)
        self._head = record["id"]
        self._put(record)

    def _elsewhere(self) -> None:
        """Another session, whose calls may have the ids of this one's."""
        calls = [{"tool": "search", "input": {}, "requestId": f"r{self._rng.randint(1, self._calls + 1)}"}]
        body = {"message": self._texts.prose(2), "tool_requests": calls if self._rng.random() < 1 / 4 else []}
        self._put(self._record("agent.response.v1", body, session=OTHER))

    def _by(self) -> dict[str, Any]:
        """The name of an agent and its id, each one time in three not given."""
        name, identity = self._of(AGENTS), self._of(("", *self._agents))
        return ({"speaker": name} if name else {}) | ({"creator": {"agent_id": identity}} if identity else {})

    def _person(self) -> dict[str, str]:
        """Who speaks; by display name, of which one in 12 forges a label, and sometimes by id."""
        name = self._texts.forged_name() if self._rng.random() < 1 / 12 else self._of(self._people)
        return {"speaker": name} | ({"user_id": f"u-{name[:2]}"} if self._has_user_ids else {})

    def _of(self, among: Any) -> Any:
        return self._rng.choice(among)

    def _record(self, schema: str, body: dict[str, Any], session: str = SESSION, *, plain: bool = False) -> Record:
        """plain: without tags and end, so that it triggers or repeats and is never hidden."""
        self._number += 1
        self._clock += timedelta(minutes=self._rng.randint(*self._pause))
        rng, offset = self._rng, self._of(OFFSETS)
        zone = UTC if offset is None else timezone(timedelta(minutes=offset))
        record = {
            "id": f"m{self._number}", "schema_name": schema, "version": 1, "session": session, "context": body,
            "created_at": self._clock.astimezone(zone).isoformat().replace("+00:00", "Z" if offset is None else "+00:00"),
        }  # fmt: skip
        if plain or schema in {"breadcrumb.deleted.v1", "context.blacklist.v1", "summary.v1"}:
            return record | {"tags": [], "expires_at": None}
        tags = [tag for tag, share in (("to:mira", 1 / 2), ("task:kiln", 1 / 3), ("draft", 1 / 20)) if rng.random() < share]
        if schema in {"user.message.v1", "agent.response.v1", "note.v1"} and rng.random() < 1 / 25:
            tags.append("pinned")
        ends = self._clock + timedelta(minutes=rng.randint(1, 90)) if rng.random() < 1 / 20 else None
        return record | {"tags": tags, "expires_at": ends.isoformat() if ends else None}

    def _add(self, schema: str, body: dict[str, Any], *, plain: bool = False) -> None:
        self._put(self._record(schema, body, plain=plain))

    def _put(self, record: Record) -> None:
        self.records.append(record)
