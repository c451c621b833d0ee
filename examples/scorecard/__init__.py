"""Networks on the scorecard: a file for each, and its row in docs/scorecard/."""
