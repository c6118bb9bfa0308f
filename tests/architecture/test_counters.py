"""The counters of the house, and what it may not gain: seams to the yard, modules of a start, files of many islands, branches."""

import ast
from textwrap import dedent

from grimp import build_graph

from tests.architecture.counters import CORE, YARD, branching, is_below, islands, modules, nodes, reached, seams

SEAMS, REACHED, CROWDED = 0, 239, 0
CORE_NODES, NODES = 151_869, 423_502
"""Of 30 November; each may only fall."""


def test_the_house_gains_no_import_of_the_yard_and_a_start_reaches_no_more_modules() -> None:
    graph = build_graph("builder")
    assert len(seams(graph)) <= SEAMS
    assert len(reached(graph)) <= REACHED


def test_the_core_and_the_product_have_no_more_nodes() -> None:
    trees = modules()
    assert nodes(tree for name, tree in trees.items() if is_below(name, CORE)) <= CORE_NODES
    assert nodes(tree for name, tree in trees.items() if not is_below(name, ("bench",))) <= NODES


def test_no_function_has_more_branches_than_a_head_holds() -> None:
    product = {name: tree for name, tree in modules().items() if not is_below(name, ("bench",))}
    assert [f"{name}.{function}: {number}" for name, tree in product.items() for function, number in branching(tree)] == []


def test_no_more_files_are_cupboards() -> None:
    house = {name: tree for name, tree in modules().items() if not is_below(name, YARD)}
    assert sum(len(islands(tree)) >= 4 for tree in house.values()) <= CROWDED


def test_an_island_is_a_group_of_definitions_that_name_each_other() -> None:
    source = """
        LEAST = 3
        def first(): return second() + LEAST
        def second(): return 2
        class Third: ...
        def fourth(): return Third
        def fifth(): return LEAST
        ALONE = 1
    """
    assert sorted(map(sorted, islands(ast.parse(dedent(source))))) == [["LEAST", "fifth", "first", "second"], ["Third", "fourth"]]


def test_branches_are_counted_with_those_of_comprehensions_and_of_functions_inside() -> None:
    many = "def f(x):\n" + "    if x and x: [y for y in x if y]\n" * 5
    assert [*branching(ast.parse(many))] == [("f", 15)]
    assert [*branching(ast.parse("def f(x):\n" + "    if x: pass\n" * 12))] == []
