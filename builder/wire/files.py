"""Files that people write: read up to a size, YAML without what makes a small file a large value."""

from pathlib import Path
from typing import Any

import yaml

from builder.domain.errors import Misconfigured

LONGEST_NUMBER = 30
LONGEST_FILE = 131_072
"""Bytes of a profile, a preset, the table of models or a template."""


def read_source(file: Path) -> str:
    """Its text. Raises `Misconfigured` when it is too long, `OSError`, `UnicodeDecodeError`."""
    with file.open("rb") as opened:
        data = opened.read(LONGEST_FILE + 1)
    if len(data) > LONGEST_FILE:
        raise Misconfigured(f"{file} has more than {LONGEST_FILE:,} bytes; make it smaller")
    return data.decode("utf-8")


class _Plain(yaml.SafeLoader):
    """Plain YAML: an alias would repeat what it names, and an alias of aliases that a billion times."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            alias: yaml.AliasEvent = self.peek_event()  # type: ignore[no-untyped-call]
            raise yaml.YAMLError(f"the alias *{alias.anchor} is not taken; write out what it stands for")
        return super().compose_node(parent, index)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        """No setting needs a number that would not fit into one line of a message."""
        if len(node.value) > LONGEST_NUMBER:
            raise yaml.YAMLError(f"a whole number of {len(node.value):,} digits; write a smaller one")
        return int(super().construct_yaml_int(node))


_Plain.add_constructor("tag:yaml.org,2002:int", _Plain.construct_yaml_int)


def parse_yaml(source: str) -> Any:
    """The value. Raises `yaml.YAMLError` and `ValueError`."""
    try:
        return yaml.load(source, _Plain)  # noqa: S506 - a SafeLoader
    except RecursionError as error:
        raise yaml.YAMLError("it is nested too deeply; write it flatter") from error
