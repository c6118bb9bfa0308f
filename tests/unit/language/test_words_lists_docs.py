"""The docs list what is set aside when two texts are compared: the lists are closed, and whoever reads a merged find may ask."""

import os
import tomllib
from importlib.resources import files
from pathlib import Path

PAGE = Path(__file__).parents[3] / "builder" / "docs" / "page.md"
BEGIN = "<!-- set aside: UPDATE_DOCS=1 writes it, tests/unit/language/test_lists_docs.py -->\n"
END = "<!-- end of set aside -->"
COLUMNS = {"politeness": "anywhere", "asides": "in front, set off by a mark", "behind_comma": "behind a comma"}


def table() -> str:
    lines = ["", f"| language | {' | '.join(COLUMNS.values())} |", "|---" * (1 + len(COLUMNS)) + "|"]
    for file in sorted((files("builder.language") / "data").iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".toml"):
            lists = tomllib.loads(file.read_text("utf-8"))
            cells = (", ".join(lists.get(name, ())) for name in COLUMNS)
            lines.append(f"| {file.name.removesuffix('.toml')} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", ""])


def test_the_docs_list_what_is_set_aside() -> None:
    head, rest = PAGE.read_text("utf-8").split(BEGIN)
    _, tail = rest.split(END)
    made = f"{head}{BEGIN}{table()}{END}{tail}"
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(made, "utf-8")
    assert PAGE.read_text("utf-8") == made
