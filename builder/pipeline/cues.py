"""How people give standing instructions and take them back, language by language: patterns, no decisions.

A cue counts where a clause begins, because "always answer briefly" instructs and "I always liked Paris" tells. Every pattern
reads one sentence (`builder.pipeline.instructions`).
"""

import re

OPENING = (
    r"^\W*|[,;:—–(]\s*|(?<=\s)[-–—]\s+|\b(?:and|but|so|also|then|please|kindly|just|oh|hey|ok|okay|well|yes|und|aber|bitte|y|pero|"
    r"por favor|и|а|но|пожалуйста|et|mais)\s+"
)
"""Where a clause may begin."""
JOINED = r"(?:and|but|so|then|und|aber|y|pero|и|а|но|et|mais)\s"
"""An opening that joins a clause to the one in front of it."""
_NOT_A_VERB = (
    r"(?!(?:a|an|the|i|i'm|he|she|it|they|we|you|my|your|his|her|their|this|that|there|mind|ever|again|before|been|was|were|is|are|"
    r"am|had|has|have|did|does|happy|nice|good|great|glad|fun|best|better|knew|thought|saw|seen|heard|went|said|in|on|at|too|"
    r"so|more|less|once|enough|sure|wondered|been|works?|almost|somewhere|late|early|here|wrong|right|hungry|tired|full|"
    r"ready|available|possible|true|remember|give up|give in|stop (?:learning|dreaming|believing))\b)"
    r"(?!\w*(?:(?<!ne)(?<!fe)(?<!ee)ed|ing|[^s'u]s)\b)"
)
_STYLE = (
    r"(?:emojis?|smileys?|exclamation (?:marks|points)|tables?|bullet(?: point|ed list)?s?|lists?|markdown|headings?|jargon|"
    r"abbreviations|acronyms|footnotes|comments|type hints|tabs|spaces|semicolons|metric|imperial|celsius|fahrenheit|units?|"
    r"small talk|apologies|disclaimers|greetings|first names?|nicknames?|slang|passive voice|sentences|paragraphs|examples|"
    r"code blocks|syntax highlighting|english|german|french|spanish|italian|dutch|portuguese|polish|russian|chinese|japanese)"
)
_MANNER = (
    r"(?:short|brief|concise|simple|formal|informal|casual|polite|detailed|under \d+|below \d+|at most \d+|to the point|plain)"
)
_ANSWERS = r"(?:answers?|repl(?:y|ies)|responses?|messages?|e?mails?|explanations?|summar(?:y|ies)|it|them|things|everything)"
_LATER = r"(?:from now on|from here on(?: out)?|from today on|going forward|henceforth)\b,?"
_WHENEVER = r"(?:whenever|every time|each time|any time|anytime|when)\s+(?:i|we|someone|somebody|a customer|anyone)\b"

BEGINS = (
    # English
    rf"(?:you\s+(?:must|should|shall|have to|need to|are to)\s+)?(?:always|never)\s+{_NOT_A_VERB}[a-z]\w*\s+\w",
    r"(?:can|could|will|would)\s+you\s+(?:please\s+)?(?:always|never|stop\s+\w+ing|from now on)\b",
    rf"{_LATER}(?!\s*(?:i|i'm|i'll|we|we'll|he|she|it|they|there|the|my)\b(?!\s+(?:want|need|prefer|expect|would|'d))).*\w",
    r"if\s+i\s+ask\b[^,]*,\s*\w",
    r"(?:make|be)\s+sure\s+(?:to|you|that\s+you)\s+(?:always|never)\b",
    rf"be\s+(?:more\s+|less\s+|always\s+)?{_MANNER}\b",
    r"(?:answer|reply|respond|write|speak)\s+only\b|prefer\s+\w+",
    r"in (?:the )?future,\s+(?!i\b|we\b|he\b|she\b|it\b|they\b|there\b|people\b|the\b)\w",
    rf"(?:use|call|write|answer|reply|respond|speak|keep|send|add|put|make|sign|do|say|give|format|be|only)\b.+\b(?:{_LATER}|in future)\W*$",
    (
        r"(?:remember|keep in mind|note|bear in mind),?\s+that\s+i(?:'m|\s+(?:am|have|don't|do not|can't|cannot|only|prefer|hate|never|"
        r"always))\b"
    ),
    (
        rf"{_WHENEVER}[^,]*,\s*(?:please\s+|always\s+|never\s+|just\s+|then\s+)*(?!(?:let|i|i'm|i'll|we|he|she|it|they|there|that|my|our|"
        r"the|what|how|why|where|who|which|is|are|do|does|can|could|would|should|will)\b)(?:don't|do not|[a-z]+)\b"
    ),
    (
        r"(?:please\s+)?(?:use|include|add|give|show|write|answer|reply|respond|keep|ask|remind|tell|send|avoid|skip|format|provide|cite)\b"
        rf".*\b(?:{_WHENEVER}|when\s+i\s+ask)\b"
    ),
    (
        r"(?:don't|do\s+not)\s+(?:ever\b|(?:use|include|add|send|call|write|mention|repeat|apologi[sz]e|sign|sugarcoat|start|end|email|"
        r"text|message|answer|reply|put|ask|address|remind|suggest|recommend)\w*\s+(?!it\b|this\b|that\b|the\b)\w)"
    ),
    r"stop\s+(?!being\s+(?:silly|ridiculous))(?!(?:worrying|kidding|joking|crying|laughing)\b)\w{2,}ing\s+\w",
    rf"(?:no|no more|avoid|skip)\s+(?:\w+\s+)?{_STYLE}\b",
    rf"(?:only\s+)?use\s+(?:\w+\s+)?{_STYLE}\b",
    rf"(?:only\s+)?(?:answer|reply|respond|speak|write|talk|explain)\b[^,]*\bin\s+(?:\w+\s+)?{_STYLE}\b",
    rf"(?:keep|make)\s+(?:\w+\s+)?{_ANSWERS}\s+(?:\w+\s+)?{_MANNER}\b",
    r"(?:call|address|refer to)\s+me\s+(?:as\s+|by\s+)?(?-i:[A-ZÀ-ÞА-Я]|my (?:first|last))",
    # German
    r"(?:immer|stets|nie|niemals)\s+(?!(?:wieder|noch|mehr|gut|gern|im|in)\b)[^,]*\w+en\b[^,]*$",
    (
        r"(?:(?:bitte|also|und|oh|ok)[,\s]+)*[A-ZÄÖÜ]?[a-zäöü]+(?:e|st|t|b|d|g|h|k|m|n|r|z|s|x)\s+(?:mir\s+|mich\s+|uns\s+|dich\s+|dir\s+|"
        r"bitte\s+|dabei\s+|das\s+|die\s+|den\s+|meine[nr]?\s+)*(?:immer|stets|nie|niemals)\b(?!\s+(?:wieder|noch|mehr)\b)"
    ),
    (
        r"(?:ab\s+(?:jetzt|sofort|heute)|von\s+nun\s+an|künftig|zukünftig|in\s+zukunft)\b"
        r"(?!\s+(?:bin|werde|habe|will|muss|kann|gehe|ist|wird|war|arbeite|wohne)\b)"
    ),
    (
        r"(?:benutze?|verwende|nutze?|nimm|schreibe?|antworte|sprich|sag|mach|formuliere|halte|schicke?)\b[^,]*"
        r"\b(?:kein|keine|keinen|nur|nicht mehr|ohne|auf (?:deutsch|englisch|französisch|spanisch)|kurz|knapp)\b"
    ),
    r"bitte\s+(?:\w+\s+){0,2}(?:keine?n?|nur|immer|nie|nicht\s+mehr)\s+\w",
    r"(?:bitte\s+)?(?:nenne?\s+mich|duze?\s+mich|sieze?\s+mich|sprich\s+mich\s+mit)\b",
    (
        r"(?:wenn|immer\s+wenn|jedes\s+mal,?\s+wenn)\s+ich\b[^,]*,\s*(?:dann\s+)?(?!(?:ich|bin|habe|war|ist|muss|gehe|geht|kommt)\b)"
        r"[a-zäöü]+(?:e|b|g|m|ch|k)\b\s"
    ),
    r"hör(?:e)?\s+(?:bitte\s+)?(?:auf|damit\s+auf)\b",
    # Spanish
    (
        r"(?:siempre\s+(?:usa|utiliza|responde|contesta|escribe|incluye|pon|haz|di|da|dame|añade|habla|trátame|llámame|muestra|cita|"
        r"explica|mantén|firma)\b|(?:nunca|jamás)\s+(?:me\s+|le\s+|les\s+|lo\s+)?\w{2,}(?:(?<!mo)[aeé]s)\b)"
    ),
    (
        r"(?:(?:por favor|y|pero)[,\s]+)*(?:usa|utiliza|responde|respóndeme|contesta|escribe|incluye|pon|haz|di|añade|habla|muestra|cita|"
        r"explica|mantén|firma|envía)\w*\s+(?:\w+\s+){0,3}(?:siempre|solo|sólo|únicamente)\b"
    ),
    (
        r"(?:a\s+partir\s+de\s+(?:ahora|hoy)|de\s+ahora\s+en\s+adelante|desde\s+ahora|en\s+adelante|en\s+el\s+futuro)\b,?"
        r"(?!\s*(?:yo|voy|soy|estoy|vivo|trabajo|tengo)\b)"
    ),
    (
        r"no\s+(?:me\s+|le\s+|les\s+)?(?:uses|utilices|escribas|envíes|mandes|llames|pongas|incluyas|repitas|añadas|trates|respondas|"
        r"contestes|menciones|hables)\b"
    ),
    r"(?:cada\s+vez\s+que|cuando|siempre\s+que)\s+(?:te\s+)?(?:yo\s+)?(?:pregunte|pida|hable|escriba)\b[^,]*,",
    r"(?:llámame|trátame\s+de)\s+\w",
    r"(?:recuerda|ten\s+en\s+cuenta)\s+que\s+(?:soy|no|prefiero|tengo|solo|siempre)\b",
    r"deja\s+de\s+\w+[aei]r",
    # Russian
    r"(?:всегда|никогда\s+не|больше\s+не|только)\s+\w+(?:й|йте|ите|ьте|(?<!л)и|ь)\b",
    r"(?:пожалуйста,?\s+)?\w+(?:й|йте|ите|ьте|(?<!л)и)(?:\s+мне)?\s+(?:всегда|только|исключительно)\b",
    r"(?:с\s+этого\s+момента|с\s+сегодняшнего\s+дня|отныне|впредь|теперь\s+всегда|в\s+дальнейшем|с\s+этих\s+пор)\b(?!,?\s+(?:я|мы|он)\b)",
    r"не\s+(?:используй|пиши|отправляй|присылай|называй|добавляй|повторяй|отвечай|упоминай)(?:те)?\b",
    r"(?:каждый\s+раз,?\s+когда|когда|если)\s+я\s+\w+(?:ю|у)\b[^,]*,\s*\w+(?:й|йте|ите|ьте|(?<!л)и)\b",
    r"(?:называй|зови)(?:те)?\s+меня\b",
    r"(?:перестань|прекрати|хватит)(?:те)?\s+\w+ть",
    r"(?:запомни|имей\s+в\s+виду|учти)(?:те)?,?\s+что\s+(?:я|у\s+меня|мне)\b",
    # French
    r"\w+(?:s|e|ds|ez)(?:-moi)?\s+toujours\b",
    r"(?:désormais|dorénavant|à\s+partir\s+de\s+maintenant)\b(?!,?\s+je\b)",
    r"(?:n['e]\s*\w+(?:e|s|ez)\s+(?:jamais|plus)\b)",
)
"""A clause that begins like this instructs."""

HOLDS = (
    # English
    (
        r"\bi\s+(?:really\s+|would\s+|'d\s+|much\s+|strongly\s+|generally\s+|usually\s+|always\s+|also\s+)*prefer\b"
        r"(?!\s+not\s+to\s+(?:say|answer|tell|talk))"
    ),
    r"\bi(?:'d| would)\s+(?:much\s+)?(?:prefer|rather\s+(?:you|have|get|see))\b(?!\s+not\s+to\s+(?:say|answer|tell|talk))",
    r"\bi(?:'d| would)?\s+(?:want|like|need|expect|ask)\s+you\s+(?:to\s+)?(?:please\s+)?(?:always|never|only|stop|not\s+to)\b",
    r"\bi\s+(?:don't|do\s+not|hate|dislike|can't\s+stand|love|like)\s+(?:like\s+)?(?:it\s+)?when\s+you\b",
    r"\bi\s+(?:want|expect|need)\s+(?:every|all)\b|\bi\s+like\s+my\s+\w+\s+\w+\W*$",
    r"\bunder no circumstances\b",
    # German
    (
        r"\b(?:ich\s+bevorzuge|ich\s+ziehe\b.+\bvor|ich\s+hätte\s+(?:lieber|gern\s+immer)|mir\s+(?:ist|sind|wäre)\b.+\blieber|ich\s+mag\s+"
        r"(?:es\s+)?(?:nicht|lieber|keine)|ich\s+(?:möchte|will),\s+dass\s+du\s+(?:immer|nie|niemals|nur|keine|mich))\b"
    ),
    # Spanish
    r"\b(?:prefiero|preferiría)\b(?!\s+no\s+(?:decir|hablar))",
    r"\b(?:quiero|me\s+gustaría|necesito)\s+que\s+(?:siempre|nunca|solo|sólo|no)\b",
    # Russian
    r"\b(?:я\s+предпочитаю|я\s+(?:бы\s+)?предпоч[её]л|предпоч[её]л\w*\s+бы|мне\s+больше\s+нрав\w+)\b",
    # French
    r"\bje\s+préfère\b",
    # Chinese and Japanese
    r"(?:^|[，,。；：、]|请|你要|你应该|你必须)(?:总是|始终|一直|永远|务必)(?!喜欢|觉得|想|记得|爱|很)(?!.*了[。！]?$)",
    r"(?:从现在(?:开始|起)|从今(?:以后|天起|往后)|今后|往后)(?!我)",
    r"(?:^|[，,。；])(?:以后|之后)(?:请|都|不要|别|就|要|用|每)",
    r"(?:请|以后|也|都|^|[，,。；])(?:不要|别|不许|勿)(?:再)?(?:使用|用|给|发|叫|写|加|提|说|重复|道歉|放|问)",
    r"(?:每次|每当|当|只要)我(?!.*(?:我都|我就|我会)).*(?:请|都要|都用|就用|就要|要)",
    r"我(?:更|比较|还是)?(?:喜欢你|偏好|更喜欢|倾向于)|我希望你(?:以后|总是|始终|不要|别|都|只)",
    r"请(?:只|都|统一|一律)?(?:用|使用)(?:中文|英文|英语|德语|德文|法语|日语|简体|繁体|公制|摄氏|简短|简洁)",
    r"(?:^|[，,。；]|请)(?:叫我|称呼我)(?!起|的)|(?:^|[，,。；]|请)记住[，,：:]?我",
    r"(?:常に|必ず|いつも)\S+(?:して|で答えて|ください)|(?:今後|これから)は",
)
"""A sentence that holds one of them instructs."""

WITHDRAWS = (
    r"\b(?:you|we)\s+(?:can|may|could|are allowed to)\s+(?:now\s+)?\w+\b.*\b(?:again|after all)\b",
    r"\bit(?:'s|\s+is)\s+(?:fine|ok|okay|all right|alright)\s+to\s+\w+\b.*\b(?:again|now|after all)\b",
    r"\byou\s+(?:don't|do\s+not|needn't|no\s+longer)\s+(?:have\s+to|need\s+to|must|need)\b.*\b(?:any\s?more|any\s+longer|always)\b",
    (
        r"\b(?:forget|ignore|scrap|drop|disregard|cancel)\s+(?:about\s+)?(?:what\s+i\s+said|the\s+rule|my\s+(?:rule|instruction|request|wish|"
        r"preference)|that\s+(?:rule|instruction))\b"
    ),
    r"\b(?:rule|instruction)\b.*\b(?:no\s+longer|not)\b.*\b(?:appl(?:y|ies)|holds?|valid|needed)\b.*",
    r"\bdu\s+(?:kannst|darfst)\b.*\bwieder\b|\bdu\s+(?:musst|brauchst)\b.*\bnicht\s+mehr\b|\bvergiss,?\s+was\s+ich\s+(?:über|zu)\b",
    r"\bpuedes\b.*\b(?:otra\s+vez|de\s+nuevo|nuevamente)\b|\bpuedes\s+volver\s+a\b|\bya\s+no\s+(?:hace\s+falta|tienes\s+que|es\s+necesario)\b",
    r"\bможешь\s+(?:снова|опять)\b|\bможно\s+(?:снова|опять)\b|\b(?:снова|опять)\s+мож(?:но|ешь)\b|\bбольше\s+не\s+(?:нужно|надо|обязательно)\b",
    r"(?:可以|能)(?:再|重新|又|继续).*(?:了|吧)|(?:不用|不必|不需要)(?:再|总是|一直)",
)
"""A sentence with one of them takes an instruction back and gives none."""

REPLACES = (
    r"\b(?:from\s+now\s+on|instead|going\s+forward|switch\s+to|no\s+longer|now\s+on|not\s+\w+\s+any\s?more|ab\s+(?:jetzt|sofort)|von\s+nun\s+an|"
    r"stattdessen|künftig|a\s+partir\s+de\s+ahora|en\s+adelante|en\s+(?:lugar|vez)\s+de|с\s+этого\s+момента|отныне|впредь|вместо|désormais)\b"
    r"|从现在|以后|今后|改用|改为"
)
"""Says that what held before no longer does."""

REPORTED = (
    r"\b(?:says?|said|reads|claims?|motto|lyrics|song|docs|manual|article|book|teacher|told\s+(?:me|us|him|her|them)|sagte|sagt|dice|dijo|"
    r"сказал\w*|говорит)\b|他说|她说"
)
"""In front of a cue: somebody else's words."""

SUBJECT = r"\b(?:i|he|she|they|we|it|who|people|you|everyone|everybody|ich|er|wir|yo|él|ella|я|он|она|они|мы)\b"
"""In the clause in front of a joined cue: "they lie and never listen" tells."""


def either(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for all of them, letters of any case."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)
