"""A line yields to a later one about the same thing, and to nothing else."""

import pytest

from tests.summarised import extract_lines


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The rent of the studio is 900 euros.", "The rent of the studio is 950 euros."),
        ("The tasting at the vineyard is on Friday.", "The tasting at the vineyard is on Sunday."),
        ("We meet the surveyor at the harbour office.", "We meet the surveyor at the town hall instead."),
        ("Die Anlieferung der Fliesen kommt am 3. Mai.", "Die Fliesen kommen doch erst am 9. Mai zur Anlieferung."),
        ("El hotel de Lisboa cuesta 80 euros.", "Al final el hotel de Lisboa cuesta 95 euros la noche."),
        ("Защита диплома 9 июня в аудитории 304.", "Защита диплома перенесена на 11 июня."),
    ],
)
def test_a_line_yields_to_a_later_one_that_changes_it(earlier: str, later: str) -> None:
    assert extract_lines(("U", earlier), ("A", "Noted, thanks."), ("U", later)) == [f"User: {later}"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Crate 3 holds cups for Delft.", "Crate 4 holds cups for Delft."),
        ("The red crate for Delft weighs as much as 5 kilos.", "The blue crate for Delft weighs as much as 7 kilos."),
        ("Nina rents a studio in Delft.", "Now Bob fires a kiln in Limoges."),
    ],
)
def test_a_line_about_something_else_yields_to_nothing(one: str, other: str) -> None:
    assert extract_lines(("U", one), ("U", other)) == [f"User: {one}", f"User: {other}"]


def test_no_line_yields_to_an_earlier_one() -> None:
    now, later = "Now the rent of the studio is 950 euros.", "The rent of the studio was 900 euros."
    assert f"User: {later}" in extract_lines(("U", now), ("U", later))
