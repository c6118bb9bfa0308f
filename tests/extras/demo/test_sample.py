"""The sample conversation: what it asks is in it."""

import json

from builder.extras.demo.baselines import ALL_JSON, LAST_JSON, LAST_TEXT, baselines
from builder.extras.demo.sample import sample_lines, sample_questions


def test_the_messages_that_answer_its_questions_are_in_it() -> None:
    ids = {json.loads(line)["id"] for line in sample_lines()}
    questions = sample_questions()
    answers = [questions["demo"]["evidence"], *(each["evidence"] for each in questions["questions"])]
    assert all(ids.issuperset(each) for each in answers)
    assert questions["demo"]["trigger"] == json.loads(sample_lines()[-1])["id"]


def test_without_a_page_all_records_are_sent_or_the_last_messages() -> None:
    texts = baselines(sample_lines())
    assert [json.loads(line) for line in sample_lines()] == json.loads(texts[ALL_JSON])
    (catalog, history) = json.loads(texts[LAST_JSON])
    assert (catalog["type"], len(history["messages"])) == ("tool_catalog", 20)
    assert texts[LAST_TEXT].split("\n")[-1].startswith("User: ")
