"""When two alike sentences say the same."""
# ruff: noqa: RUF001 - words of many scripts

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builder.pipeline.sameness import contradict, restates, says_the_same


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The rent is 900 a month", "The rent is 950 a month"),
        ("It is -5 outside", "It is 5 outside"),
        ("We fly on 2024-05-01", "We fly on 2024-05-02"),
        ("We meet in May", "We meet in June"),
        ("the call is at 10:30", "the call is at 10:45"),
        ("I told Ana about it", "I told Bob about it"),
        ("I eat meat", "I never eat meat"),
        ("Restart it", "Don't restart it"),
        ("Restart it", "Don’t restart it"),
        ("Ich mag das", "Ich mag das nicht"),
        ("Me gusta", "No me gusta"),
        ("C'est bon", "C'est pas bon"),
        ("Я люблю это", "Я не люблю это"),
        ("我喜欢咖啡", "我不喜欢咖啡"),
        ("食べます", "食べません"),
        ("Ana told me", "Bob told me"),
        ("ana told me", "bob told me"),
        ("we meet on friday", "we meet on sunday"),
        ("I have two cats", "I have three cats"),
        ("I have two cats", "I have 3 cats"),
        ("двадцать пять свечей", "сорок пять свечей"),
        ("Je mange de la viande", "Je ne mange pas de viande"),
        ("No tengo nada", "Tengo algo"),
        ("Никто не пришёл", "Все пришли"),
        ("会议十点半开始", "会议十一点半开始"),
        ("The valve is open", "The valve is closed"),
        ("That is possible", "That is impossible"),
    ],
)
def test_different_numbers_dates_names_or_negation_contradict(first: str, second: str) -> None:
    assert contradict(first, second)
    assert contradict(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We meet Ana at 5 in Rome.", "So we meet Ana at 5 in Rome!"),
        ("Please restart it", "Restart it please"),
        ("I never eat meat", "I do not eat meat"),
    ],
)
def test_the_same_said_in_other_words_does_not_contradict(first: str, second: str) -> None:
    assert not contradict(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We have ordered three sacks", "Well, we've ordered 3 sacks!"),
        ("Yesterday I met Ana in Rome", "I met Ana in Rome yesterday"),
        ("My flight lands on 3 May", "Okay, so my flight lands on May 3"),
        ("我们订了两袋黏土", "我们订了2袋黏土啊"),
        ("票价三百二十五元", "票价325元"),
        ("Мы заказали три мешка", "Кстати, мы заказали 3 мешка"),
    ],
)
def test_the_same_words_in_another_order_and_with_other_glue_are_a_restatement(first: str, second: str) -> None:
    assert restates(first, second)
    assert restates(second, first)


def test_texts_of_glue_alone_restate_nothing() -> None:
    assert not restates("okay", "okay")
    assert not restates("", "")


def test_far_vectors_are_not_asked_for_their_words() -> None:
    assert says_the_same("We fire on Friday", "On Friday we fire", 0.81, 0.95)
    assert not says_the_same("We fire on Friday", "On Friday we fire", 0.79, 0.95)


def test_a_word_more_is_a_restatement_only_for_vectors_that_are_near() -> None:
    assert says_the_same("We fire the kiln on Friday", "We fire the big kiln on Friday", 0.95, 0.95)
    assert not says_the_same("We fire the kiln on Friday", "We fire the big kiln on Friday", 0.94, 0.95)


@given(st.text(max_size=60), st.text(max_size=60))
def test_contradiction_and_restatement_do_not_depend_on_who_spoke_first(first: str, second: str) -> None:
    assert contradict(first, second) == contradict(second, first)
    assert restates(first, second) == restates(second, first)


@given(st.text(max_size=60))
def test_no_text_contradicts_itself(text: str) -> None:
    assert not contradict(text, text)
