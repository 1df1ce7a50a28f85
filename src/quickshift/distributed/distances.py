"""Squared distances and the order of rows, as the compiled core defines them."""

import numpy as np

from quickshift.arrays import Flags, Floats

__all__ = ["compared", "squared_distances"]


def squared_distances(a: Floats, b: Floats, period: Floats | None, exponent: int) -> Floats:
    """Return the squared distances between the rows of two arrays, bit by bit those of the core.

    Parameters
    ----------
    a, b : ndarray of shape (n, n_features), or shapes that broadcast to it
        Points whose periodic features are wrapped into [0, period).
    period : ndarray of shape (n_features,) or None
        Length of each feature's period.
    exponent : int
        Coordinates are multiplied by 2^-exponent, so that squares do not overflow.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> a, b, period = np.array([[0.0, 9.0]]), np.array([[3.0, 1.0]]), np.array([np.inf, 10.0])
    >>> squared_distances(a, b, period, exponent=0)
    array([13.])
    """
    difference = np.ldexp(a, -exponent) - np.ldexp(b, -exponent)
    if period is not None:
        closed = np.isfinite(period)
        length = np.ldexp(period[closed], -exponent)
        difference[..., closed] -= length * np.rint(difference[..., closed] / length)
    total: Floats = difference[..., 0] ** 2
    for k in range(1, difference.shape[-1]):  # in this order, whatever the vector unit prefers
        total = total + difference[..., k] ** 2
    return total


def compared(heights: tuple[Floats, Floats], points: tuple[Floats, Floats], strict: bool) -> Flags:
    """Return whether the first row of each pair is higher than the second.

    Parameters
    ----------
    heights : tuple of two ndarray of shape (n,)
        Rounded heights.
    points : tuple of two ndarray of shape (n, n_features)
        Coordinates, which decide between equal heights.
    strict : bool
        If true, neither of two rows of equal height is higher.

    Returns
    -------
    ndarray of shape (n,), bool

    Examples
    --------
    >>> one, two = np.array([1.0, 1.0]), np.array([1.0, 2.0])
    >>> compared((one, two), (np.array([[5.0], [5.0]]), np.array([[4.0], [4.0]])), strict=False)
    array([ True, False])
    """
    higher = heights[0] > heights[1]
    if strict:
        return higher
    a, b = points
    differs = a != b
    first = differs.argmax(axis=1)
    at = np.arange(len(a))
    larger = differs.any(axis=1) & (a[at, first] > b[at, first])
    result: Flags = higher | ((heights[0] == heights[1]) & larger)
    return result
