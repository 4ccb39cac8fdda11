"""Selective predictions: a classifier that may abstain, judged on what it accepts at a threshold from validation."""
