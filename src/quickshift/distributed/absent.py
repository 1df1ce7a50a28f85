"""Rows of weight zero: outside the forest, and labeled as new points are."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quickshift.arrays import Floats, Indices, Numbers
from quickshift.distributed.plan.assignment import assign
from quickshift.distributed.plan.fits import Fit
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.stitch import Leaves, leaves_of
from quickshift.distributed.store import joined_ids
from quickshift.distributed.tasks.queries import Climbers

__all__ = ["Absent", "read_absent"]


@dataclass(frozen=True)
class Absent:
    """The rows of weight zero.

    Attributes
    ----------
    row : ndarray of shape (n,)
        Numbers of the rows in the user's data.
    point : ndarray of shape (n, n_features)
        Coordinates.
    ids : pyarrow.Array or None
        Identifiers, if there are any.
    height : ndarray of shape (n,)
        Heights, as for other points that are not samples.
    tau : ndarray of shape (n,) or None
        With local scale, the tau of each row.
    """

    row: Indices
    point: Floats
    ids: Any
    height: Floats
    tau: Floats | None

    def taus(self, fit: Fit) -> Floats:
        """Return the tau of each row by which a fit under local scale was cut."""
        assert self.tau is not None  # without local scale, there is one tau for all rows
        return self.tau if fit.removed is None else self.tau * fit.removed.multiple

    def leaves(
        self, fit: Fit, passes: Passes, tau: float | None, leaves: Leaves, name: str = "top"
    ) -> Indices:
        """Return the leaf of each row.

        Parameters
        ----------
        fit : Fit
            The fit.
        passes : Passes
            Runs the tasks.
        tau : float or None
            The tau of the cut; None for the tau of each row.
        leaves : Leaves
            The forest.
        name : str
            The array with the tops of the rows of the forest.

        Returns
        -------
        ndarray of shape (n,)
        """
        lengths = self.taus(fit) if tau is None else np.full(len(self.row), tau)
        positions = assign(passes, Climbers(self.point, self.height, lengths), fit.order)
        return leaves_of(fit.passes.store, leaves, positions, name)


def read_absent(fit: Fit, passes: Passes) -> Absent | None:
    """Read the rows of weight zero, and compute their heights; None if there are no such rows."""
    store = fit.passes.store
    folders = store.absent_folders()
    if not folders:
        return None

    def joined(name: str) -> Numbers:
        return np.concatenate([np.load(folder / f"{name}.npy") for folder in folders])

    point = joined("points")
    ids = joined_ids([(folder, slice(None)) for folder in folders])
    return Absent(joined("rows"), point, ids, *fit.kind.at(passes, point))
