"""Mistakes of template authors, as `profiles lint`, `profiles lint default` and `build` tell them.

`mistakes.txt` has the messages, to be read as an author would. UPDATE_GOLDEN=1 writes it anew.
"""

import os
from pathlib import Path

import pytest

from builder.adapters.files import FaultyFiles
from builder.app.config import read_config, template_folders
from builder.app.settings import Settings
from builder.domain.errors import Misconfigured
from builder.extras.workshop.profile_catalog import ProfileCatalog

GOLDEN = Path(__file__).parent / "mistakes.txt"
HINT, PAGE, PROFILE = "hints/tool.response.v1.md.j2", "pages/default.md.j2", "profiles/default.yaml"
RESULT = "- {{ words.result }}: {{ body.output | readable }}\n"
WHOLE_RESULT = "- {{ words.result }}: {{ (body.error or body.output) | readable }}\n"
MISTAKES = {
    "unclosed if": {HINT: RESULT + "{% if failed %}oh\n"},
    "missing brace": {HINT: "- {{ body.output }\n"},
    "unknown filter": {HINT: "- {{ body.output | readabel }}\n"},
    "missing endfor": {HINT: "{% for row in body.output %}\n- {{ row }}\n"},
    "misspelt value": {HINT: RESULT + "- {{ bodi.tool }}\n"},
    "misspelt field": {HINT: RESULT + "- {{ body.toool }}\n"},
    "field that no sender has": {HINT: RESULT + "{% if body.x %}x{% endif %}\n"},
    "misspelt field of a section": {
        PAGE: "{% for section in sections %}\n## {{ section.titel }}\n{% for group in section.groups %}{% for fragment in "
        "group.fragments %}{{ fragment }}\n{% endfor %}{% endfor %}{% endfor %}"
    },
    "no colon": {PROFILE: "language: de\nbudget 4000\nreserve: 10\n"},
    "wrong indentation": {PROFILE: "window:\n  max_units: 20\n trim_to: 10\n"},
    "misspelt setting": {PROFILE: "windows: {max_units: 20}\n"},
    "misspelt setting within another": {PROFILE: "window: {max_units: 20, triger: 10}\n"},
    "misspelt source": {PROFILE: "sections:\n  recent: {}\n  relevant: {source: retreival}\n"},
    "percent for a share": {PROFILE: "sections:\n  recent: {max_share: 70}\n"},
    "misspelt schema of one's own": {
        PROFILE: "retrieval:\n  schemas:\n    - user.message.v1\n    - qestion.v1\n",
        "hints/question.v1.md.j2": "- {{ body.question }}\n",
    },
    "misspelt schema of ours": {PROFILE: "triggers: [user.mesage.v1]\n"},
    "unknown page": {PROFILE: "page: defalt\n"},
    "hint without its version": {"hints/tool.response.md.j2": RESULT},
    "misspelt folder": {"hint/tool.response.v1.md.j2": RESULT},
    "misspelt suffix": {"profiles/default.yml": "language: de\n"},
    "misspelt phrase in a hint": {HINT: "- {{ words.reslt }}: {{ body.output | readable }}\n"},
    "misspelt phrase": {"phrases/de.yaml": "user: Kunde\nasistant: Berater\n"},
    "unknown language": {PROFILE: "language: fr\n"},
    "section that does not exist": {PROFILE: "sections:\n  recnt: {max_share: 0.5}\n"},
    "setting without its profile": {"profiles/mine.yaml": "chat_format: openai\n"},
    "unknown preset": {"profiles/mine.yaml": "extends: [default, coding-agnt]\n"},
    "hint that no profile shows": {"hints/ticket.v1.md.j2": "- Ticket {{ body.title }}\n"},
    "misspelt hint of one's own": {PROFILE: "hints: {tool.response.v1: short-reslt}\n", "hints/short-result.md.j2": RESULT},
    "misspelt schema of a hint of one's own": {PROFILE: "hints: {tool.respones.v1: tool.response.v1}\n"},
    "misspelt field in a hint of one's own": {
        PROFILE: "hints: {tool.response.v1: short-result}\n",
        "hints/short-result.md.j2": RESULT + "- {{ body.toool }}\n",
    },
    "hint of one's own that nobody chose": {"hints/short-result.md.j2": RESULT},
    "misspelt schema of trusted hints": {PROFILE: "trusted_hints: {schemas: [tool.catlog.v1]}\n"},
    "trusted hints of anybody": {PROFILE: "trusted_hints: {sessions: any}\n"},
    "sessions of trusted hints": {PROFILE: "trusted_hints: {sessions: all}\n"},
    "heading of a phrase that does not exist": {PROFILE: 'sections: {recent: {title: "{title_recnt}"}}\n'},
    "statement that loads": {HINT: WHOLE_RESULT + "{% include 'generic.md.j2' %}\n"},
    "statement of an extension": {HINT: WHOLE_RESULT + "{% do body.update(x=1) %}\n"},
    "filter that is not for templates": {HINT: "- {{ words.result }}: {{ body.output | pprint }}\n"},
    "name of Python's internals": {HINT: WHOLE_RESULT + "{{ body.__class__ }}\n"},
    "text of a message as a format": {HINT: WHOLE_RESULT + "{{ text.format(body) }}\n"},
    "nested too deeply": {HINT: WHOLE_RESULT + "{% if " + "(" * 30 + "1" + ")" * 30 + " %}x{% endif %}\n"},
    "clock in a section that stays": {
        PROFILE: "pinned: [{schemas: [note.v1]}]\nretrieval: {schemas: []}\nsections: {relevant: null}\n",
        "hints/note.v1.md.j2": "- Note: {{ text }}\n{% if body.created_at %}\n  of {{ body.created_at }}\n{% endif %}\n",
    },
    "loop within a loop over the same list": {
        "hints/tool.catalog.v1.md.j2": "{% for tool in body.tools %}\n- {{ tool.name }}:\n{% for other in body.tools %}\n"
        "  {{ other.name }}\n{% endfor %}\n{% endfor %}\n"
    },
    "macro without an end": {HINT: WHOLE_RESULT + "{% macro tree(x) %}\n{{ x }} {{ tree(x) }}\n{% endmacro %}\n"},
    "too much emphasis": {HINT: WHOLE_RESULT + "**Note!!** You MUST use it. NEVER guess!! ALWAYS cite. DO NOT EVER forget!!\n"},
    "phrase with a width": {"phrases/de.yaml": 'repeats: " ({number:99999} mal)"\n'},
    "section without a heading": {
        PROFILE: "pinned: [{schemas: [ticket.v1], section: tickets}]\nsections:\n"
        "  - {name: tickets, source: pinned}\n  - {name: current, source: trigger}\n"
    },
}


def messages(folder: Path, files: dict[str, str]) -> dict[str, list[str]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    folders = template_folders(Settings(templates_dir=folder))
    lines: dict[str, list[str]] = {}
    try:
        catalog = ProfileCatalog(folders)
        for command, names in (("profiles lint", ()), ("profiles lint default", ("default",))):
            lines[command] = [str(finding) for finding in catalog.findings(names)]
    except FaultyFiles as error:
        findings = [str(finding) for finding in error.findings]
        lines |= {"profiles lint": findings, "profiles lint default": findings}
    try:
        read_config(folders)
        lines["build"] = lines["profiles lint default"]
    except Misconfigured as error:
        lines["build"] = [f"context-builder: {error}"]
    return lines


def test_every_mistake_is_told_as_reviewed(tmp_path_factory: pytest.TempPathFactory) -> None:
    told = {name: messages(tmp_path_factory.mktemp("templates"), files) for name, files in MISTAKES.items()}
    text = "\n".join(
        f"# {name}\n" + "".join(f"{command}\n" + "".join(f"  {line}\n" for line in lines) for command, lines in by.items())
        for name, by in told.items()
    )
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8")
