"""Definitions → consumers: the default profile under the values of the records."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import yaml
from cachetools import FIFOCache
from pydantic import BaseModel, ValidationError

from builder.adapters.files import FaultyFiles
from builder.adapters.profiles.layers import DEFAULT, SettingError, laid_over, merged
from builder.adapters.profiles.problems import setting_name
from builder.adapters.profiles.profiles import Library, parse_profile
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.errors import Rejected
from builder.domain.json_text import shape
from builder.domain.lint_finding import LintFinding
from builder.domain.profile import AGENT, CONFIG, Definitions, Profile, RecordConsumers
from builder.extras.rcrt.record_settings import (
    SETTINGS,
    AgentBody,
    ConfigBody,
    Note,
    RecordSettings,
    Values,
    of_agent,
    of_config,
)
from builder.wire.subjects import check_token

Body = TypeVar("Body", bound=BaseModel)
EXTENDS = "extends"
MAX_RESULTS = 256
AGAIN = "publish the next version of the record"


@dataclass(frozen=True, slots=True)
class _Records:
    """One consumer's definitions; at least one."""

    agent: Breadcrumb | None = None
    config: Breadcrumb | None = None

    @property
    def origin(self) -> str:
        return " and ".join(map(origin_of, filter(None, (self.agent, self.config))))


def origin_of(record: Breadcrumb) -> str:
    """A record as people read it."""
    return f"{record.schema} {json.dumps(record.id, ensure_ascii=False)} version {record.version}"


class RecordProfiles:
    """Consumers of a workspace's definitions, cached; files win over records."""

    def __init__(self, library: Library, names: frozenset[str], report: Callable[[LintFinding], None]) -> None:
        """names: profiles of files. report: called once per finding."""
        self._library = library
        self._names = names
        self._report = report
        self._reported: FIFOCache[str, None] = FIFOCache(MAX_RESULTS)
        self._results: FIFOCache[tuple[tuple[object, ...], ...], RecordConsumers] = FIFOCache(MAX_RESULTS)

    def __call__(self, definitions: Definitions) -> RecordConsumers:
        """The consumers that these make."""
        key = tuple((each.workspace, each.id, each.version, each.place) for each in definitions)
        if key not in self._results:
            self._results[key] = self._made_of(definitions)
        return self._results[key]

    def forget(self) -> None:
        """Drop results, after an erasure."""
        self._results.clear()

    def _made_of(self, definitions: Definitions) -> RecordConsumers:
        findings: list[LintFinding] = []
        records = _by_consumer(definitions, findings)
        profiles, origins = [], {}
        for name in sorted(records):
            try:
                profile = self._profile(name, records[name], findings)
            except FaultyFiles as error:
                findings += error.findings
                continue
            if profile is not None:
                profiles.append(profile)
                origins[name] = records[name].origin
        for finding in findings:
            self._tell_once(finding)
        return RecordConsumers(profiles=tuple(profiles), origins=origins, findings=tuple(findings))

    def _tell_once(self, finding: LintFinding) -> None:
        if str(finding) not in self._reported:
            self._reported[str(finding)] = None
            self._report(finding)

    def _profile(self, name: str, records: _Records, findings: list[LintFinding]) -> Profile | None:
        agent, config = _read(records.agent, AgentBody), _read(records.config, ConfigBody)
        if config is None and not (agent and (agent.context_trigger or agent.context_builder)):
            return None
        if name in self._names:
            problem = f"profiles/{name}.yaml makes the consumer {name!r}, so the record does not"
            findings.append(_finding(records.origin, Note("", problem, "take one of them away"), "note"))
            return None
        try:
            values = self._values(records, agent, config, findings)
            text = yaml.safe_dump(values, allow_unicode=True, sort_keys=False)
        except SettingError as error:
            raise FaultyFiles((_finding(records.origin, Note(setting_name(error.path), error.problem, error.fix)),)) from error
        except (ValueError, TypeError, OverflowError, yaml.YAMLError, RecursionError) as error:
            problem, _, fix = str(error).partition("; ")
            raise FaultyFiles((_finding(records.origin, Note("", problem, fix or AGAIN)),)) from error
        # The revision is a hash of this text and of all that is merged, so the versions of the records are part of it.
        return parse_profile(name, f"# {records.origin}\n{text}", self._library, records.origin)

    def _values(
        self, records: _Records, agent: AgentBody | None, config: ConfigBody | None, findings: list[LintFinding]
    ) -> Values:
        bodies = [body for body in (config, agent) if body is not None]
        extended = next((body.context_builder[EXTENDS] for body in bodies if EXTENDS in body.context_builder), DEFAULT)
        base = merged(self._library.layers("", yaml.safe_dump({EXTENDS: extended}), records.origin))
        values: Values = {EXTENDS: extended}
        for record, body in ((records.agent, agent), (records.config, config)):
            if record is not None and body is not None:
                draft = RecordSettings(base)
                of_agent(body, draft) if isinstance(body, AgentBody) else of_config(body, draft)
                settings = {name: value for name, value in body.context_builder.items() if name != EXTENDS}
                values = laid_over(laid_over(values, draft.values), settings)
                findings += (_finding(origin_of(record), note, "note") for note in draft.notes)
        return values


def _by_consumer(definitions: Definitions, findings: list[LintFinding]) -> dict[str, _Records]:
    records: dict[str, _Records] = {}
    for record in definitions:
        name = record.speaker if record.schema == AGENT else _consumer_id(record)
        try:
            check_token(name, "consumer")
        except Rejected as error:
            if record.schema == CONFIG or _is_consumer(record):
                problem, _, fix = str(error).partition("; ")
                findings.append(_finding(origin_of(record), Note("", problem, fix)))
            continue
        there = records.setdefault(name, _Records())
        newest = there.agent if record.schema == AGENT else there.config
        if newest is not None:
            problem = f"{origin_of(newest)} is newer and defines {name!r} too"
            findings.append(_finding(origin_of(record), Note("", problem, "delete one of them"), "note"))
        elif record.schema == AGENT:
            records[name] = _Records(record, there.config)
        else:
            records[name] = _Records(there.agent, record)
    return records


def _consumer_id(record: Breadcrumb) -> str:
    name = json.loads(record.body).get("consumer_id")
    return name if isinstance(name, str) else ""


def _is_consumer(agent: Breadcrumb) -> bool:
    body = json.loads(agent.body)
    return bool(body.get("context_trigger") or body.get(SETTINGS))


def _read(record: Breadcrumb | None, model: type[Body]) -> Body | None:
    """Raises `FaultyFiles`."""
    if record is None:
        return None
    try:
        return model.model_validate_json(record.body)
    except ValidationError as error:
        raise FaultyFiles(tuple(_mistakes(origin_of(record), error))) from error


def _mistakes(origin: str, error: ValidationError) -> Iterator[LintFinding]:
    for each in error.errors(include_url=False, include_context=False):
        path = ".".join(str(step) for step in each["loc"])
        problem = f"{each['msg'][:1].lower()}{each['msg'][1:]}, got {shape(each['input'])}"
        yield _finding(origin, Note(path, problem, AGAIN))


def _finding(origin: str, note: Note, severity: Any = "error") -> LintFinding:
    place = f"`{note.path}`" if note.path else ""
    return LintFinding(file=origin, place=place, problem=note.problem, fix=note.fix, severity=severity)
