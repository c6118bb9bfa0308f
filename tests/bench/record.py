"""Run a benchmark and keep what it printed: `python tests/bench/record.py NAME recall people.json …` → `results/NAME.json`.

Paths are kept by their last part only: where the data lies is nobody's business.
"""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results")


def main(name: str, *arguments: str) -> None:
    """Run `context-builder bench` with the arguments and `--json`."""
    command = [sys.executable, "-m", "builder", "bench", *arguments, "--json"]
    before = os.getloadavg()[0]
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    keep(name, arguments, before, json.loads(run.stdout))


def keep(name: str, arguments: tuple[str, ...], load: float, figures: dict[str, Any]) -> None:
    """Write the file. load: average of the machine when the benchmark began."""
    said = " ".join(",".join(Path(part).name for part in argument.split(",")) for argument in arguments)
    if store := os.environ.get("CONTEXT_BUILDER_STORE__URL", ""):
        said += f", CONTEXT_BUILDER_STORE__URL={store.partition(':')[0]}"
    result = {
        "command": f"context-builder bench {said}",
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {"cores": os.cpu_count(), "load_average_before": round(load, 2)},
        "figures": figures,
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, ensure_ascii=False, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
