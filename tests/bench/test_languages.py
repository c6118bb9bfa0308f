"""The labelled questions in other languages."""

from importlib.resources import files

from builder.adapters.stemmer import load_language
from builder.bench.data.datasets import load

LANGUAGES = load(str(files("builder.bench.data") / "languages.json"))


def test_each_language_has_twenty_questions_whose_answers_are_messages_of_its_conversation() -> None:
    language = load_language()
    for conversation in LANGUAGES.conversations:
        ids = [crumb.id for crumb in conversation.breadcrumbs]
        assert 60 <= len(set(ids)) == len(ids) <= 120
        evidence = [one for question in conversation.questions for one in question.evidence]
        assert len(evidence) == len(set(evidence)) == len(conversation.questions) == 20
        assert set(evidence) <= set(ids)
        code = conversation.session.rpartition("-")[2]
        known = [language(question.trigger.text) for question in conversation.questions]
        assert set(known) <= {code, "und"}, "no question is read as another language"
        assert code == "zh" or known.count(code) >= 17
