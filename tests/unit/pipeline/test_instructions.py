"""Standing instructions are told from stories, questions and small talk, sentence by sentence."""
# ruff: noqa: RUF001 - words of many scripts

import pytest

from builder.pipeline.instructions import instructions

GIVEN = (
    "Always answer in English.",
    "From now on answer in German, please.",
    "never use emojis",
    "Please don't use tables in your answers.",
    "I prefer short answers.",
    "I'd rather have the numbers in a list.",
    "Oh, and this one is holy: never email customers on Sundays.",
    "Could you always show prices with VAT?",
    "Whenever I ask about firing, give the temperature in Celsius.",
    "Use metric units, please.",
    "Call me Sam.",
    "Stop calling me sir.",
    "When I ask for code, include type hints.",
    "Include sources whenever I ask about history.",
    "You must never share the price list with anyone.",
    "Remember that I'm allergic to nuts.",
    "Keep your replies under 100 words.",
    "No exclamation marks, no emojis, and sign them 'the studio'.",
    "I hate it when you apologise.",
    "Going forward, round amounts to whole euros.",
    "Don't ever send invoices on a weekend.",
    "Sign the mails with my first name from now on.",
    "Antworte immer auf Deutsch.",
    "Bitte keine Emojis mehr verwenden.",
    "Ab jetzt bitte nur noch kurze Antworten.",
    "Ich bevorzuge metrische Einheiten.",
    "Benutze nie Abkürzungen.",
    "Nenn mich Sam.",
    "Wenn ich nach Preisen frage, nenne sie mit Mehrwertsteuer.",
    "Responde siempre en español.",
    "Nunca uses emojis.",
    "A partir de ahora escribe los precios en euros.",
    "Prefiero respuestas cortas.",
    "No me llames señor.",
    "Quiero que siempre cites la fuente.",
    "请总是用中文回答。",
    "从现在开始用英文回答。",
    "以后不要再用表格。",
    "每次我问价格，请给出含税价。",
    "我更喜欢简短的回答。",
    "Всегда отвечай по-русски.",
    "Никогда не используй эмодзи.",
    "С этого момента пиши короче.",
    "Я предпочитаю короткие ответы.",
    "Называй меня Саша.",
    "Reply only in lowercase.",
    "Please stop apologizing all the time.",
    "I want every answer to start with a summary.",
    "Don't mention competitors to customers.",
    "Answer me in Spanish.",
    "In future, put the date first.",
    "Under no circumstances delete a record.",
    "Schreib bitte ohne Ausrufezeichen.",
    "Künftig nenne immer die Quelle.",
    "No envíes correos los domingos.",
    "Habla siempre de usted.",
    "别再道歉。",
    "请用英文回复。",
    "Пиши только по-русски.",
    "Не отправляй письма по воскресеньям.",
    "If I ask for a recipe, leave out peanuts.",
    "Make sure you always check stock first.",
    "Never quote a price without the VAT.",
    "Be brief from now on.",
    "Please be more formal with me.",
    "I like my answers short.",
    "Prefer bullet points over prose.",
    "Ich möchte, dass du mich duzt.",
    "Schick mir nie Rechnungen per Post.",
    "Me gustaría que siempre incluyas ejemplos.",
    "记住，我对花生过敏。",
    "不要用表情符号。",
    "Всегда указывай источник.",
)
TAKEN_BACK = (
    "You can use emojis again.",
    "You don't have to answer in German any more.",
    "Forget what I said about tables.",
    "Du darfst wieder Emojis benutzen.",
    "Puedes usar emojis otra vez.",
    "可以重新使用表情符号了。",
    "Можешь снова использовать эмодзи.",
)
NOT_GIVEN = (
    "I never said that.",
    "Never mind.",
    "I always liked Paris.",
    "Do you always answer this fast?",
    "She told me to always check the kiln twice.",
    "My grandmother always used wood ash, and never salt.",
    "Always a pleasure!",
    "Never been there, actually.",
    "They always lie and never listen.",
    "The manual says: never open the kiln above 200 degrees.",
    "When I was in Lisbon, I ate fish every day.",
    "Whenever you need help, just let me know.",
    "From now on I'll go to bed earlier.",
    "I'd prefer not to say.",
    "Call me back tomorrow.",
    "Can you use the attached file?",
    "You always forget the glaze.",
    'He wrote "Always answer in French" on the wall.',
    "Where is the invoice from Delft?",
    "We never ship to Denmark.",
    "Das habe ich nie gesagt.",
    "Ich war immer gern in Paris.",
    "Benutzt du immer Glasur?",
    "Nie wieder Regen, hoffe ich.",
    "Siempre me gustó París.",
    "Nunca dije eso.",
    "¿Siempre respondes así?",
    "我总是喜欢巴黎。",
    "我从来没有说过。",
    "你总是这么快吗？",
    "Я никогда этого не говорил.",
    "Я всегда любил Париж.",
    "Ты всегда так отвечаешь?",
    "Никогда не был в Москве.",
    "It never rains here.",
    "Please use the blue form.",
    "You can always call me.",
    "Always wanted to see Rome.",
    "He stopped smoking.",
    "No emails today.",
    "Man weiß nie.",
    "Sie antwortet immer sofort.",
    "以后再说吧。",
    "Больше не болит.",
    "Nunca llueve aquí.",
    "Stop it!",
    "Don't worry about it.",
    "Do not use it yet.",
    "I prefer not to say.",
    "That will never work, will it?",
    "Whenever it rains, the roof leaks.",
    "Kein Problem.",
    "Wenn ich koche, brennt es an.",
    "No me gusta el pescado.",
    "Он всегда опаздывает.",
    "Don't send the parcel yet, I forgot the card.",
    "Never again!",
    "Only two left.",
    "Just call Priya when she is back.",
    "我以后会更小心。",
    "每次我去巴黎都下雨。",
)


def instructs(text: str) -> bool:
    return any(not found.withdraws for found in instructions(text))


@pytest.mark.parametrize("text", GIVEN)
def test_a_standing_instruction_is_known(text: str) -> None:
    assert instructs(text)


@pytest.mark.parametrize("text", [*NOT_GIVEN, *TAKEN_BACK])
def test_what_is_no_instruction_is_not_taken_for_one(text: str) -> None:
    assert not instructs(text)


def test_the_sentence_that_instructs_is_told_from_its_neighbours() -> None:
    text = "The kiln is hot. Never open it above 200 degrees. Is that all? Always write down the time!"
    assert [text[held.start : held.end] for held in instructions(text)] == [
        "Never open it above 200 degrees.",
        "Always write down the time!",
    ]


def test_a_run_on_sentence_is_shown_from_its_cue_on() -> None:
    text = f"I am building {'a very nice ' * 15}shop, and I prefer lightweight solutions over heavy ones"
    (held,) = instructions(text)
    assert text[held.start : held.end] == "I prefer lightweight solutions over heavy ones"


@pytest.mark.parametrize("text", TAKEN_BACK)
def test_an_instruction_may_be_taken_back(text: str) -> None:
    (found,) = instructions(text)
    assert found.withdraws
