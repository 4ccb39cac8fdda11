"""Ranked retrieval: recall and discounted gain in the first ten, from recorded rankings and graded judgments."""
