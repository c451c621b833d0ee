"""Every equation of the notebooks stands beside code. Its faults stand in tests/<lesson>/test_equations_<lesson>.py."""

import pytest
from equations import assertions, equations, labels_in
from running import NOTEBOOKS, source


@pytest.mark.parametrize("cells", NOTEBOOKS.values(), ids=NOTEBOOKS)
def test_equations_are_numbered_in_order_and_each_is_asserted_in_later_code(cells):
    labels = [label for label, _ in equations(cells)]
    assert labels == list(range(1, len(labels) + 1))
    asserted = assertions(cells)
    for label, i in equations(cells):
        assert max(asserted.get(label, [-1])) > i, f"no assertion of ({label}) after it"
    assert {label for cell in cells for label in labels_in(source(cell))} <= set(labels)
