"""Sources that would take a process which reads or runs them as they are: each asks for more than any message is worth."""

from itertools import pairwise

LOOP = "{% for a in text*3000 %}{% for b in text*3000 %}{% for c in text*3000 %}x{% endfor %}{% endfor %}{% endfor %}"
YAMLS = {
    "aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise("abcdefg"))
    + "extends: *g\n",
    "an alias in a merge": "a: &a {budget: 20}\n<<: *a\n",
    "deep maps": "extends: " + "{a: " * 30_000,
    "deep dashes": "- " * 60_000 + "x",
    "deep questions": "? " * 60_000 + "x",
    "many keys": "".join(f"key{number}: {number}\n" for number in range(8_000)),
    "one long value": "extends: " + "x" * 120_000,
    "a long number": "budget: " + "9" * 120_000,
    "a long number in base 60": "budget: 1" + ":59" * 40_000,
    "many anchors": "".join(f"&a{number} " for number in range(15_000)),
    "many documents": "--- \n" * 20_000,
    "one line of colons": ": " * 60_000,
    "unknown tag": "extends: !!python/object/apply:os.system ['true']",
    "absurd size": "# " + "x" * 5_000_000,
}
"""What a profile, a preset or the table of models must not be."""
