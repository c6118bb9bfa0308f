"""Random sessions as a disorderly bus would bring them: the input of `bench invariants`.

Every sentence begins with a mark that no other sentence has ("q17x"), so that whoever reads a page knows what stands on it
without asking who put it there.
"""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
SESSION, OTHER, NOWHERE = "s42", "s43", "_"
SCRIPTS = (
    "the kiln is hot and Ana met Bob in Delft on Friday at 5, not 6; glaze them twice",
    "печь горячая и Анна встретила Борю в Дельфте в пятницу, не в субботу",
    "窑很热。 安娜 在代尔夫特 见到了鲍勃， 星期五 不是 星期六 使用Python",  # noqa: RUF001 - Han
    "الفرن ساخن والتقت آنا بوب في دلفت يوم الجمعة ليس السبت ٥",  # noqa: RUF001 - Arabic
    "👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️ 😀😀😀 5️⃣ ok 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🔥",
)
WORDS = tuple(script.split() for script in SCRIPTS)
PEOPLE, AGENTS = ("Ana", "Bob", "Анна", "小明"), ("", "Scribe", "Cook")
SMALL_TALK = ("okay", "thanks", "👍", "sure", "да")
WISHES = ("Always answer in English.", "Never use emojis.", "Keep your answers under 90 words.", "From now on answer in German.")
ARGUMENTS = ({"query": "kiln"}, {"query": "clay"}, {"path": "a.py"}, {"n": 7})
TOOLS = ("search", "bash", "file_read")
KINDS = (
    ("said", 26), ("answered", 16), ("exchange", 22), ("stray", 6), ("edit", 5), ("tombstone", 3), ("small talk", 4),
    ("repeat", 4), ("wish", 3), ("note", 3), ("image", 2), ("catalog", 1), ("blacklist", 1), ("summary", 3), ("elsewhere", 3),
)  # fmt: skip
Record = dict[str, Any]


class MadeSession:
    """Grows by whatever may happen next. records: as a sender writes them, in stream order; the last may ask."""

    def __init__(self, rng: Random, recipe: str) -> None:
        """recipe: of the summaries that the consumer would be shown."""
        self.records: list[Record] = []
        self._rng = rng
        self._recipe = recipe
        self._words = rng.choice(WORDS)
        self._mixed = rng.random() < 1 / 4
        self._waiting: list[Record] = []
        self._head = ""
        self._calls = 0
        self._covered = 0
        self._sentence = 0
        self._number = 0

    def grow(self, size: int) -> None:
        """Until it has so many records and every late result has come."""
        kinds, weights = zip(*KINDS, strict=True)
        while len(self.records) < size:
            if self._waiting and self._rng.random() < 1 / 3:
                self._late()
            else:
                getattr(self, f"_{self._rng.choices(kinds, weights)[0].replace(' ', '_')}")()

    def ask(self) -> None:
        """A person's message that wants a context."""
        record = self._made("user.message.v1", {"content": self._text(self._rng.randint(0, 3)) or "?"}, plain=True)
        self._put(record | {"tags": ["task:kiln"] if self._rng.random() < 1 / 3 else []})

    def _said(self) -> None:
        self._add("user.message.v1", {"content": self._text(self._rng.choice((1, 1, 2, 3, 12))), "speaker": self._of(PEOPLE)})

    def _answered(self) -> None:
        self._add("agent.response.v1", {"message": self._text(self._rng.choice((1, 2, 3, 9)))} | self._by())

    def _exchange(self) -> None:
        """An agent's calls with a mark on each request and result, in any order, some of it late or never."""
        calls = [self._call() for _ in range(self._rng.choice((1, 1, 1, 2, 4)))]
        asked = [{"tool": self._of(TOOLS), "input": self._of(ARGUMENTS), "requestId": call} for call in calls if call]
        body = {"message": self._text(self._rng.choice((1, 1, 2))), "tool_requests": asked} | self._by()
        parts = [self._made("agent.response.v1", body)] if self._rng.random() < 9 / 10 else []
        for call in calls:
            parts += [self._request(call)] if self._rng.random() < 1 / 2 else []
            parts += [self._result(call) for _ in range(self._rng.choice((0, 1, 1, 1, 1, 2)))]
        if self._rng.random() < 1 / 4:
            self._rng.shuffle(parts)
        for part in parts:
            self._waiting.append(part) if self._rng.random() < 1 / 5 else self._put(part)

    def _late(self) -> None:
        self._put(self._waiting.pop(self._rng.randrange(len(self._waiting))))

    def _stray(self) -> None:
        """Half an exchange under an id that others have used, or under none."""
        call = f"r{self._rng.randint(1, self._calls)}" if self._calls and self._rng.random() < 2 / 3 else ""
        self._put(self._result(call) if self._rng.random() < 1 / 2 else self._request(call))

    def _call(self) -> str:
        """A new request id; sometimes one that was given before, sometimes none."""
        self._calls += 1
        if self._rng.random() < 1 / 12:
            return ""
        return f"r{self._rng.randint(1, self._calls) if self._rng.random() < 1 / 12 else self._calls}"

    def _request(self, call: str) -> Record:
        return self._made(
            "tool.request.v1", {"tool": self._of(TOOLS), "input": {"query": self._text(1)}, "requestId": call or None}
        )

    def _result(self, call: str) -> Record:
        """In the session or in none."""
        where = self._of((SESSION, SESSION, NOWHERE))
        tool, joined = self._of(TOOLS), {self._of(("request_id", "requestId")): call} if call else {}
        if self._rng.random() < 1 / 8:
            body = {"tool_name": tool, "error_message": self._text(2)}
            return self._made("tool.error.v1", body | joined, where)
        rows = [{"title": self._text(1), "n": n} for n in range(self._rng.randint(2, 9))]
        outputs = (self._text(1), self._text(12), rows, {"results": rows, "total": 90}, {"log": self._text(3)})
        return self._made("tool.response.v1", {"tool": tool, "output": self._of(outputs)} | joined, where)

    def _edit(self) -> None:
        """A later version of anything that somebody said; of an exchange it may say other calls, or none."""
        known = [record for record in self.records if record["schema_name"] in {"user.message.v1", "agent.response.v1"}]
        if known:
            older = self._of(known)
            body = older["context"] | {"content": self._text(2)}
            body.pop("message", None)
            if self._rng.random() < 1 / 4:
                body["tool_requests"] = []
            self._put(older | {"version": len(self.records) + 2, "context": body, "expires_at": None})

    def _tombstone(self) -> None:
        if self.records:
            body = {"breadcrumb_id": self._of(self.records)["id"]}
            self._put(self._made("breadcrumb.deleted.v1", body, session=self._of((SESSION, SESSION, NOWHERE))))

    def _small_talk(self) -> None:
        self._add(self._of(("user.message.v1", "agent.response.v1")), {"content": self._of(SMALL_TALK)}, plain=True)

    def _repeat(self) -> None:
        """Somebody says again what was said, but nothing that is pinned: it stands whatever the conversation says."""
        said = (record for record in self.records if record["schema_name"] == "user.message.v1" and record["version"] == 1)
        known = [record for record in said if "pinned" not in record["tags"]]
        if known:
            self._add("user.message.v1", self._of(known)["context"], plain=True)

    def _wish(self) -> None:
        self._add("user.message.v1", {"content": f"{self._text(1)} {self._of(WISHES)}", "speaker": self._of(PEOPLE)})

    def _note(self) -> None:
        session = self._of((SESSION, NOWHERE))
        self._put(self._made("note.v1", {"content": self._text(3), "title": "Glaze"}, session=session))

    def _image(self) -> None:
        image = {"type": "image", "name": "kiln.png", "data": "data:image/png;base64,iVBORw0KGgo=", "caption": "hot"}
        self._add("user.message.v1", {"content": self._text(1), "attachments": [image]})

    def _catalog(self) -> None:
        tools = [{"name": f"tool-{n}", "description": self._text(1)} for n in range(self._rng.choice((1, 5, 40)))]
        self._put(self._made("tool.catalog.v1", {"tools": tools}, session=NOWHERE))

    def _blacklist(self) -> None:
        ids = [record["id"] for record in self._rng.sample(self.records, min(3, len(self.records)))]
        body = {"excluded_tags": ["draft"], "excluded_ids": ids, "excluded_schemas": []}
        if self._rng.random() < 1 / 4:
            body["excluded_schemas"] = [{"schema_name": self._of(("note.v1", "tool.error.v1", "tool.response.v1"))}]
        self._put(self._made("context.blacklist.v1", body, session=NOWHERE))

    def _summary(self) -> None:
        """The next of a chain, made from the oldest messages that none covers yet."""
        said = [record for record in self.records if record["schema_name"] in {"user.message.v1", "agent.response.v1"}]
        batch = [record for record in said if record["session"] == SESSION][self._covered : self._covered + 6]
        if not batch:
            return
        record = self._made("summary.v1", {})
        lines = [{"text": self._text(1), "ids": [one["id"]], "versions": [one["version"]]} for one in batch]
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
        body = {"message": self._text(2), "tool_requests": calls if self._rng.random() < 1 / 4 else []}
        self._put(self._made("agent.response.v1", body, session=OTHER))

    def _by(self) -> dict[str, str]:
        name = self._of(AGENTS)
        return {"speaker": name} if name else {}

    def _of(self, among: Any) -> Any:
        return self._rng.choice(among)

    def _text(self, sentences: int) -> str:
        """Marked sentences."""
        words = self._of(WORDS) if self._mixed else self._words
        first = self._sentence
        self._sentence += sentences
        said = (" ".join(self._rng.choices(words, k=self._rng.choice((2, 4, 9, 18)))) for _ in range(sentences))
        return ". ".join(f"q{number}x {text}" for number, text in enumerate(said, first))

    def _made(self, schema: str, body: dict[str, Any], session: str = SESSION, *, plain: bool = False) -> Record:
        """plain: nothing but the words, so that it asks or repeats and is never hidden."""
        self._number += 1
        rng, record = (
            self._rng,
            {"id": f"m{self._number}", "schema_name": schema, "version": 1, "session": session, "context": body},
        )
        if plain or schema in {"breadcrumb.deleted.v1", "context.blacklist.v1", "summary.v1"}:
            return record | {"tags": [], "expires_at": None}
        tags = [tag for tag, share in (("to:mira", 1 / 2), ("task:kiln", 1 / 3), ("draft", 1 / 20)) if rng.random() < share]
        if schema in {"user.message.v1", "agent.response.v1", "note.v1"} and rng.random() < 1 / 25:
            tags.append("pinned")
        ends = START + timedelta(minutes=rng.randint(1, 90)) if rng.random() < 1 / 20 else None
        return record | {"tags": tags, "expires_at": ends.isoformat() if ends else None}

    def _add(self, schema: str, body: dict[str, Any], *, plain: bool = False) -> None:
        self._put(self._made(schema, body, plain=plain))

    def _put(self, record: Record) -> None:
        self.records.append(record)
