"""One scrambling of 64-bit numbers, for every draw: a hash of what is drawn, and so the same draw everywhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def splitmix64(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scramble 64-bit whole numbers, one to one: every bit of the result hangs on every bit given.

    It is the finaliser of SplitMix64 (Steele, Lea & Flood 2014, doi 10.1145/2660193.2660195), and no generator with a
    state: no draw depends on one before it, nor on a version of NumPy.

    >>> hex(splitmix64(np.array([0], np.uint64))[0])
    '0xe220a8397b1dcdaf'
    """
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
