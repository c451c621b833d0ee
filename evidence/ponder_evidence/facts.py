"""What the texts quote of stored runs: a notebook of the evidence computes it and prints it under a name.

A text marks its number with that name, as in `9 of 10<!--10.exact-->`; tools/facts.py holds the two together.
"""


def print_facts(lesson: str, **facts: str) -> None:
    """Print a line for each fact, such as "10.exact: 9 of 10"; a cell that does is tagged `facts`.

    ValueError if a fact is no text of one line, or empty.
    """
    for name, fact in facts.items():
        if not isinstance(fact, str) or not fact or "\n" in fact:
            raise ValueError(f"{name} must be a text of one line, such as '9 of 10'; got {fact!r}")
        print(f"{lesson}.{name}: {fact}")
