"""The colors of labels: label i has color i in every plot."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickshift.checks.plots import check_label_numbers
from quickshift.plot.color_table import DARK, LIGHT

__all__ = ["label_colors", "palette"]


def palette(*, dark: bool = False) -> tuple[str, ...]:
    """Return the 256 colors of labels, which are distinct in order.

    The first eight are also distinct for readers with any color vision deficiency. Both variants
    have the same hues in the same order. They are made by ``scripts/make_palette.py``.

    Parameters
    ----------
    dark : bool, default=False
        Whether to return the variant for dark backgrounds.

    Returns
    -------
    tuple of str
        Colors such as "#198bff".

    Examples
    --------
    >>> from quickshift.plot import palette
    >>> len(palette()), palette()[:2] == palette(dark=True)[:2]
    (256, False)
    """
    return DARK if dark else LIGHT


def label_colors(labels: ArrayLike, *, dark: bool = False) -> NDArray[np.str_]:
    """Return the color of each label; after 256 labels, colors repeat.

    Parameters
    ----------
    labels : array-like of int
        Labels; negative ones, which mean no cluster, are gray.
    dark : bool, default=False
        Whether the colors are for a dark background.

    Returns
    -------
    ndarray of str
        Colors such as "#198bff", in the shape of the labels.

    Examples
    --------
    >>> from quickshift.plot import label_colors, palette
    >>> bool((label_colors([2, 258]) == palette()[2]).all())
    True
    >>> str(label_colors([-1])[0])
    '#9a9a9a'
    """
    numbers = check_label_numbers(labels)
    colors = np.array(palette(dark=dark))[numbers % len(LIGHT)]
    return np.where(numbers < 0, "#707070" if dark else "#9a9a9a", colors)
