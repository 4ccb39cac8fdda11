"""Probability vectors against gold: calibration and accuracy, per family and model."""
