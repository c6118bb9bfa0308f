"""Benchmarks as commands: what they print is what the README quotes."""

from collections.abc import Mapping

from builder.extra import Commands, Extra


def _groups() -> Mapping[str, tuple[str, Commands]]:
    from builder.bench.commands import finding, pages, speed

    commands: Commands = {
        "recall": finding.recall,
        "latency": speed.latency,
        "tokens": pages.tokens,
        "prefix": pages.prefix,
        "rcrt": pages.rcrt,
        "answers": pages.answers,
        "pages": pages.pages,
        "fidelity": pages.fidelity,
        "invariants": pages.invariants,
        "fit": finding.fit,
        "search": finding.search,
        "vectors": finding.vectors,
        "workspaces": finding.workspaces,
        "convert": finding.convert,
        "plot": finding.plot,
        "explain": speed.explain,
        "load": speed.load,
        "memory": speed.memory,
        "http": speed.http,
        "plan": speed.plan,
        "store": speed.store,
        "sandbox": speed.sandbox,
    }
    about = "Measure recall, speed, memory, the store, tokens, prefix, fidelity, summaries, the sandbox; convert public data."
    return {"bench": (about, commands)}


extra = Extra(groups=_groups)
