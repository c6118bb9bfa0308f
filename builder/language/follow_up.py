"""Questions that say too little to be searched for: "and the second one?", "why?", "¿y el otro?"."""

import re
from collections.abc import Callable

from builder.language.words import is_filler

MOST_WORDS = 12
"""A longer question says what it is about."""
HAN_A_WORD = 3
"""Characters of a script without spaces that say as much as a word and its grammar."""

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_JOINS = re.compile(
    r"^\W*(?:ok(?:ay)?\W+|hm+\W+|ah\W+|oh\W+)*(?:and|but|so|or|then|also|what about|how about|what if|und|aber|oder|also|dann|was ist mit|"
    r"y|pero|o|entonces|también|qué tal|et|mais|ou|alors|и|а|но|или|тогда|что насчёт|e|ma)\b"
    r"|^\W*(?:那|那么|而|还有|では|じゃあ|それで)",
    re.IGNORECASE,
)
_WONDERS = re.compile(
    r"^\W*(?:why|how come|how so|which(?: one)?|warum|wieso|weshalb|welche[rsn]?|por qué|cuál|pourquoi|le(?:quel|s?quels?)|laquelle|почему|"
    r"зачем|как[оа][йяе]|perché)\b|^\W*(?:为什么|为何|怎么会|哪一?个|なぜ|どうして)",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|he|she|him|her|one|ones|there|then|first|second|third|other|another|same|last|else|"
    r"more|dies|diese[rsnm]?|das|er|sie|es|ihn|ihm|der|andere[rnms]?|erste[rn]?|zweite[rn]?|dort|"
    r"eso|esto|ese|esa|aquel|él|ella|otr[oa]s?|primer[oa]?|segund[oa]|allí|ça|cela|celui|celle|autre|"
    r"это|этот|эта|он|она|они|его|её|их|друг(?:ой|ая|ое|ие)|втор(?:ой|ая|ое)|перв(?:ый|ая|ое)|там)\b"
    r"|那个|这个|它|他|她|另|第[一二三]|それ|これ|あれ",
    re.IGNORECASE,
)


def is_follow_up(text: str, terms: Callable[[str], str]) -> bool:
    """Whether the text needs what was said before to be understood. terms: text → stemmed terms joined by spaces.

    Thanks and "okay" ask for nothing and are none.
    """
    if len(text.split()) > MOST_WORDS or is_filler(text):
        return False
    unspaced = len(_UNSPACED.findall(text))
    content = unspaced // HAN_A_WORD if unspaced else len(set(terms(_POINTS.sub(" ", text)).split()))
    return content <= (2 if _JOINS.search(text) else 1 if _WONDERS.search(text) or _POINTS.search(text) else -1)
