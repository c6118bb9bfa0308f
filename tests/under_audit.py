"""A process of its own that renders the sample of hostile texts and writes down which files, processes and imports it touched.

Prints JSON: the number of texts and pages, the audit events that nobody expected, and whether a canary was shown.
"""

import asyncio
import json
import sys
from typing import Any

from builder.adapters.templates.folder import TemplateSet
from builder.adapters.templates.fragments import JinjaRendering
from builder.assemble.items.forms import WHOLE
from builder.domain.errors import BuilderError
from tests.factories import make_breadcrumb
from tests.hostile_pages import HARMLESS, breadcrumbs, page_of, session
from tests.payloads import CANARY, PAGES, SAMPLE

OUTSIDE = (
    "open", "os.", "subprocess.", "socket.", "import", "shutil.", "tempfile.", "urllib.", "http.", "ftplib.", "smtplib.",
    "ctypes.", "exec", "compile", "pty.", "mmap.", "sqlite3.", "webbrowser.", "syslog.", "marshal.", "pickle.", "code.",
)  # fmt: skip
"""How the events begin by which a process reaches out or runs code."""
COMPILING = frozenset({"compile", "exec", "code.__new__"})
"""What Jinja does while it reads a template, or tells its mistake; never while one runs."""
state: dict[str, Any] = {"watching": False, "reading": False, "events": []}


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """The hook; it stays for the life of the process."""
    is_reading = state["reading"] and event in COMPILING
    if state["watching"] and event.startswith(OUTSIDE) and not is_reading:
        state["events"].append(f"{event} {arguments!r:.200}")


def read(source: str) -> JinjaRendering | None:
    state["reading"] = True
    try:
        return JinjaRendering(TemplateSet({"generic": "{{ schema }}", "user.message.v1": source}, {}), len)
    except BuilderError:
        return None
    finally:
        state["reading"] = False


def main() -> None:
    crumb = make_breadcrumb("Where does the API key go? " * 5)
    for source in ("{{ '8 May 2026' | day }}", "{{ nothing }}", "{{ body | tojson }}", "{% if %}"):  # loads what is loaded once
        if rendering := read(source):
            rendering.fragment(crumb, WHOLE, "User")
    asyncio.run(page_of(breadcrumbs(session(HARMLESS))))
    sys.addaudithook(watch)
    state["watching"] = True
    open("/dev/null").close()  # noqa: PTH123 - seen, or the hook does not work
    assert state.pop("events") != []
    state.update(watching=False, events=[])
    shown: list[str] = []
    state["watching"] = True
    for payload in SAMPLE:
        if rendering := read(payload.text):
            fragment = rendering.fragment(crumb, WHOLE, "User")
            shown += [fragment.text, fragment.failed]
    state["watching"] = False
    loop = asyncio.new_event_loop()
    for page in PAGES:
        crumbs = breadcrumbs(session(*(payload.short for payload in page)))
        state["watching"] = True
        shown.append(loop.run_until_complete(page_of(crumbs)))
        state["watching"] = False
    loop.close()
    report = {
        "texts": len(SAMPLE),
        "pages": len(PAGES),
        "events": state["events"],
        "canary": any(CANARY in text for text in shown),
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main()
