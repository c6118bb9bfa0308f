"""The page postgresql.md, followed line by line."""

import asyncio
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from builder.app.broker import location
from tests.commands import COMMAND, DEADLINE
from tests.factories import make_remembered
from tests.postgres import psql, superuser
from tests.running import ROOT, Broker, environment

PAGE = (ROOT / "builder" / "docs" / "postgresql.md").read_text("utf-8")


def block(name: str) -> str:
    """The block behind this mark, with the address of the test's server."""
    (text,) = re.findall(rf"<!-- {name}: [^\n]*-->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    return str(text).replace("@127.0.0.1:5432/context_builder", f"@/context_builder?host={folder()}")


def folder() -> str:
    return superuser().partition("host=")[2]


def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, check=False, **options)


def shell(script: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    path = f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-ec", script], env=env | {"PATH": path}, capture_output=True, text=True, timeout=300, check=False
    )


async def remember(path: Path) -> None:
    async with location(f"sqlite:{path}").open() as store:
        assert await store.remember(make_remembered())


def test_compose_makes_the_database_of_the_page() -> None:
    compose = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    assert compose["services"]["postgres"]["configs"] == [
        {"source": "database", "target": "/docker-entrypoint-initdb.d/database.sql"}
    ]
    assert compose["configs"]["database"]["content"] == block("database").replace(
        "change-me", "${POSTGRES_PASSWORD:-context-builder}"
    )


def test_the_page_makes_a_database_and_moves_a_store_there(tmp_path: Path) -> None:
    made = run([str(psql()), superuser(), "--set=ON_ERROR_STOP=1"], input=block("database"))
    assert made.returncode == 0, made.stderr
    home = tmp_path / "home"
    store = home / ".local/share/context-builder/store.sqlite3"
    store.parent.mkdir(parents=True)
    asyncio.run(remember(store))
    with Broker(tmp_path / "broker") as broker:
        env = environment(tmp_path / "data", nats__servers=broker.url, embedding__engine="none") | {"HOME": str(home)}
        done = shell(block("commands") + block("move"), env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the schema of postgresql://" in done.stderr
    assert "lack vectors" in done.stdout
    assert "1 breadcrumbs, " in done.stderr
