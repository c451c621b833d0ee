"""The evidence of lesson 13."""
