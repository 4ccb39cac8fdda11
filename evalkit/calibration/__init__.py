"""Honest calibration: how far confidences are from shares of right ones, and how far chance alone would put them."""
