"""`bench invariants --mutants`: how many pages it takes to find each small wrong change of assembly."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from multiprocessing import get_context
from typing import Any

from builder.bench.invariants.account import faults
from builder.bench.invariants.check import PROCESSES, pages
from builder.bench.invariants.mutants import MUTANTS, mutated

CONTEXTS_OF_HISTORY = 10
"""Contexts of a history."""


def run(max_pages: int, seed: int, size: int, step: Callable[[], None]) -> dict[str, Any]:
    """Pages until each mutant was found, None for one that `max_pages` pages did not show. step: called after each mutant."""
    pages_by_mutant: dict[str, Any] = {}
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        waiting = {name: pool.submit(_searched, name, max_pages, seed, size) for name in MUTANTS}
        for name, each in waiting.items():
            pages_by_mutant[name] = each.result()
            step()
    return {
        "seed": seed,
        "most": max_pages,
        "found": sum(each is not None for each in pages_by_mutant.values()),
        "pages": pages_by_mutant,
    }


def _searched(name: str, max_pages: int, seed: int, size: int) -> int | None:
    return asyncio.run(pages_until_found(name, max_pages, seed, size))


async def pages_until_found(name: str, max_pages: int, seed: int, size: int, first: int = 0) -> int | None:
    """How many pages, refusals included, were read until one was wrong; None when none of so many was. first: history."""
    read, history = 0, first
    with mutated(MUTANTS[name]):
        while read < max_pages:
            async with aclosing(pages(seed, history, CONTEXTS_OF_HISTORY, size)) as readings:
                async for reading in readings:
                    read += 1
                    if any(faults(reading)):
                        return read
            history += 1
    return None
