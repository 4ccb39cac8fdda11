"""Smooth calibration error: no bins, but a kernel whose width is the error itself."""

from __future__ import annotations

import numpy as np
import polars as pl

from evalkit.calibration.chances import Floats, steady
from evalkit.calibration.levels import SLICE, arranged

STEPS = 2**14
"""Equal steps of the grid from 0 to 1 that residuals are put on."""

_HALVINGS = 42


def smooth_error(levels: pl.DataFrame) -> float | None:
    """Smooth calibration error (smECE): the one width at which the error smoothed by that width equals it.

    With residuals y - c of N records, smoothed by the Gaussian kernel K of width s that is reflected at 0 and 1
    (infinitely often, so no mass is lost)::

        smoothed(s) = ∫ from 0 to 1 of |Σ over records (y - c) K_s(t, c)| dt / N
        smECE       = the s with smoothed(s) = s

    smoothed(s) never rises with s, so there is one such s; it is found by halving. From 0 to 1. It changes little when
    confidences do, and is near 0 just where the distance to the nearest calibrated model is (bounds: see the source).

    Each residual is shared between the two nearest of 16,385 evenly spaced points, and smoothing is exact on these
    points, by cosine transform. The relative error is below (step / s)², about 4e-5 at 0.01; below 0.0005 the grid
    shows. Given to 12 places.

    What it is not: an expected calibration error of any bins, with whose values it cannot be compared; nor free of
    chance: a calibrated model's is above 0, the more so the fewer records there are. None of no records.

    Source: Błasiok & Nakkiran 2024 (arXiv 2309.12236).

    >>> round(smooth_error(pl.DataFrame({"confidence": [0.9], "n": [10], "correct": [6]})), 6)
    0.3
    """
    frame = arranged(levels)
    if frame.is_empty():
        return None
    waves = _waves(frame)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        width = (low + high) / 2
        low, high = (width, high) if _smoothed(waves, width) > width else (low, width)
    return steady((low + high) / 2)


def smoothed_error(levels: pl.DataFrame, width: float) -> float | None:
    """Return the error smoothed by a kernel of a width of one's own, above 0; see ``smooth_error``.

    What it is not: comparable between widths. None of no records.

    >>> round(smoothed_error(pl.DataFrame({"confidence": [0.9], "n": [10], "correct": [6]}), 0.05), 6)
    0.3
    """
    frame = arranged(levels)
    return None if frame.is_empty() else steady(_smoothed(_waves(frame), width))


def _waves(frame: pl.DataFrame) -> Floats:
    """Put the mean residual on the grid, mirror it at both ends, and take its cosine transform."""
    records, grid = int(frame["n"].sum()), np.zeros(STEPS + 1)
    for part in frame.iter_slices(SLICE):
        c, n, correct = (part[name].to_numpy() for name in ("confidence", "n", "correct"))
        residual = (correct - n * c) / records
        place = np.minimum((c * STEPS).astype(np.int64), STEPS - 1)
        share = c * STEPS - place
        grid += np.bincount(place, residual * (1 - share), STEPS + 1)
        grid += np.bincount(place + 1, residual * share, STEPS + 1)
    mirrored = np.concatenate([grid, grid[-2:0:-1]])
    mirrored[[0, STEPS]] *= 2  # what is at an end is its own mirror image
    return np.fft.rfft(mirrored).real


def _smoothed(waves: Floats, width: float) -> float:
    """Smooth by letting each wave fade as under the heat equation, and integrate the absolute value."""
    fading = np.exp(-0.5 * (np.pi * width * np.arange(STEPS + 1)) ** 2)
    return 0.5 * float(np.abs(np.fft.irfft(waves * fading, 2 * STEPS)).sum())
