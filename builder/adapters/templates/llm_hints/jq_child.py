"""The process that runs jq queries: `[query, body]` in, an answer out, as JSON lines.

Arguments: folder of jq, seconds per query, bytes of memory, bytes of an answer.
"""

import json
import resource
import signal
import sys
from time import process_time
from types import ModuleType


def main(folder: str, seconds: float, memory: int, longest: int) -> None:
    """Until the input ends. The kernel kills a query that exceeds its time."""
    sys.path.append(folder)
    import jq  # noqa: PLC0415 - its folder is an argument

    jq.compile(".").input_value(None).all()  # whatever it opens, it opens before no file can be opened any more
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_NOFILE, 0), (resource.RLIMIT_FSIZE, 0)):
        resource.setrlimit(kind, (limit, limit))
    for line in sys.stdin:
        query, body = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        start = process_time()
        answer = json.dumps(_answer(jq, query, body) | {"seconds": process_time() - start})
        signal.setitimer(signal.ITIMER_PROF, 0)
        if len(answer) > longest:
            answer = json.dumps({"failure": "the answer is too long"})
        print(answer, flush=True)  # noqa: T201 - the answer


def _answer(jq: ModuleType, query: str, body: object) -> dict[str, object]:
    try:
        program = jq.compile(query)
    except ValueError as error:
        return {"syntax": str(error)}
    try:
        return {"values": program.input_value(body).all()}
    except ValueError as error:
        return {"failure": str(error)}


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
