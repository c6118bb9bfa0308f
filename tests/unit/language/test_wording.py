"""When two texts say the same: only when they are the same words in the same order."""
# ruff: noqa: RUF001 - words of many scripts

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.language.wording import fingerprint, wording


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We fire the kiln on Friday.", "we fire the kiln on Friday"),
        ("It is hot. Keep away!", "it is hot! keep away"),
        ("Please send it.", "Send it, please!"),
        ("Could you please send it?", "Could you send it?"),
        ("The key is red.", "Like I said, the key is red"),
        ("The key is red.", "Well, by the way, the key is red!!"),
        ("The key   is red.", "The key is red.  "),
        ("It’s red.", "It's red."),
        ("Der Termin ist am Freitag.", "Wie gesagt, der Termin ist am Freitag"),
        ("Schick die Rechnung.", "Bitte schick die Rechnung."),
        ("Envía la factura.", "Por favor, envía la factura"),
        ("Отправь счёт.", "Отправь счёт, пожалуйста."),
        ("把门关上。", "把门关上"),
        ("My PIN is 4471.", "My PIN is 4471"),
        ("Room 12B.", "Room 12B"),
        ("Take version 1.2.", "Take version 1.2"),
        ("The deposit is -50.", "The deposit is -50"),
        ("Envoie la facture, s'il te plaît.", "Envoie la facture."),
        ("Per favore, manda la fattura.", "Manda la fattura"),
        ("Thanks!", "thanks"),
        ("cafe\u0301", "Café"),
    ],
)
def test_a_sentence_s_first_letter_its_end_mark_and_politeness_make_no_difference(first: str, second: str) -> None:
    assert wording(first) == wording(second)
    assert fingerprint(first) == fingerprint(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The parcel goes to the US.", "The parcel goes to the us."),
        ("Polish the table.", "polish the table"),
        ("He is Polish.", "He is polish."),
        ("It costs 1,5 million.", "It costs 15 million."),
        ("It is -5 outside.", "It is 5 outside."),
        ("I write C++.", "I write C."),
        ("We live at 12a.", "We live at 12b."),
        ("The call is at 7 am.", "The call is at 7 pm."),
        ("Operate on the left knee.", "Operate on the right knee."),
        ("Anna lent Peter 50 euros.", "Peter lent Anna 50 euros."),
        ("I want it.", "I want it?"),
        ("The key is aB3x.", "The key is AB3X."),
        ("Do it like I said.", "Do it."),
        ("He answered honestly.", "He answered."),
        ("We aim to please.", "We aim to."),
        ("n = 5!", "n = 5"),
        ("x = 5", "X = 5"),
        ("Foo.bar is set.", "foo.bar is set."),
        ("Run it again.", "Run it."),
        ("Let's eat, Grandma.", "Let's eat Grandma."),
        ("It might rain.", "It will rain."),
        ("Restart it", "Don't restart it"),
        ("The meeting is at 3, not at 5.", "The meeting is at 5, not at 3."),
        ("10 m²", "10 m2"),
        ("Ich habe zwei Katzen.", "Ich habe 2 Katzen."),
        ("Sie kommen morgen.", "sie kommen morgen"),
        ("Der Hund jagt die Katze.", "Die Katze jagt den Hund."),
        ("Meine Bitte ist klar.", "Meine ist klar."),
        ("我喜欢咖啡", "我不喜欢咖啡"),
        ("请教老师三个问题", "教老师三个问题"),
        ("请把门关上", "把门关上"),
        ("请，坐", "坐"),
        ("x = 5.", "x = 5"),
        ("My PIN is 4471.", "My PIN is 447.1"),
        ("It costs 15.0.", "It costs 150"),
        ("Is it 5?", "Is it 5."),
        ("for x in y:\n    print(x)", "for x in y:\nprint(x)"),
        ("a  b\nc", "a b\nc"),
        ("It costs 1.50", "It costs 15.0"),
        ("👍", "👎"),
        ("?", "!"),
        ("दिल", "दल"),
        ("ข้าว", "ข่าว"),
        ("", "x"),
    ],
)
def test_whatever_else_differs_tells_two_texts_apart(first: str, second: str) -> None:
    assert wording(first) != wording(second)


def test_half_a_surrogate_pair_has_a_fingerprint() -> None:
    assert len(fingerprint("half \ud83d")) == 16


@given(st.text(max_size=60))
def test_every_text_says_the_same_as_itself_with_space_around_it(text: str) -> None:
    assert wording(f"  {text}\n") == wording(text)


@given(
    st.lists(
        st.sampled_from(["the", "left", "right", "5", "-5", "am", "pm", "US", "us", ".", ",", "?", "!", "please", "ok"]),
        min_size=1,
        max_size=8,
    )
)
def test_what_is_left_out_never_empties_a_text(pieces: list[str]) -> None:
    assert wording(" ".join(pieces))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("rm -rf .", "rm -rf"),
        ("cd ..", "cd"),
        ("git add .", "git add"),
        ("go test ./...", "go test ./"),
        ("Delete *.", "Delete *"),
        ("Compute n!", "Compute n"),
        ("Ship it to Miami, OK.", "Ship it to Miami."),
        ("Send me the invoice, reminder, and contract.", "Send me the invoice and contract."),
        ("Envía la factura, recordatorio, y contrato", "Envía la factura y contrato"),
        ("我要这个，那个。", "我要这个。"),
        ("I want it, also.", "I want it."),
    ],
)
def test_an_argument_or_a_member_of_a_list_is_no_end_mark_and_no_aside(one: str, other: str) -> None:
    assert wording(one) != wording(other)
