"""Files of authors and operators: bounded in size, and YAML without aliases, by which a small file becomes a large value."""

from pathlib import Path
from typing import Any

import yaml

from builder.domain.errors import Misconfigured

MAX_DIGITS = 30
"""Of a whole number."""
MAX_FILE_BYTES = 131_072
"""Of a profile, a preset, the table of models or a template."""


def read_source(file: Path) -> str:
    """Its text. Raises `Misconfigured` when it is too long, `OSError`, `UnicodeDecodeError`."""
    with file.open("rb") as opened:
        data = opened.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise Misconfigured(f"{file} has more than {MAX_FILE_BYTES:,} bytes; make it smaller")
    return data.decode("utf-8")


class _Plain(yaml.SafeLoader):
    """Plain YAML: an alias would repeat what it names, and an alias of aliases that a billion times."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            alias: yaml.AliasEvent = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"the alias *{alias.anchor} is not taken; write out what it stands for")
        return super().compose_node(parent, index)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """A longer number than any setting has would not fit into one line of a message."""
        if len(node.value) > MAX_DIGITS:
            raise yaml.YAMLError(f"a whole number of {len(node.value):,} digits; write a smaller one")
        return int(super().construct_yaml_int(node))


_Plain.add_constructor("tag:yaml.org,2002:int", _Plain.construct_yaml_int)


def parse_yaml(source: str) -> Any:
    """The value. Raises `yaml.YAMLError` and `ValueError`."""
    try:
        return yaml.load(source, _Plain)  # noqa: S506 - a SafeLoader
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply; write it flatter") from error
