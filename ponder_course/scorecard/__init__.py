"""A scorecard for looped networks of your own, on tasks for which the needed loops of every answer can be computed.

    python -m ponder_course.scorecard your_model.py

Your file has one function, `network(task)`, which returns your network: a callable (x, n_loops) -> logits, or logits
and halting logits. docs/scorecard.md has an example of twenty lines, says what else a file may have, and what need is.
"""
