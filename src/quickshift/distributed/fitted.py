"""What an estimator keeps of a fit: its results, the units of its lengths, and its files."""

import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path

from quickshift.arrays import Floats
from quickshift.distributed.plan.fits import Fit
from quickshift.spaces import Space

__all__ = ["Fitted", "TemporaryFolder", "modes_of"]


class TemporaryFolder:
    """A new folder, which is removed when nothing refers to this object any more.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="quickshift-"))
        self._finalizer = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def remove(self) -> None:
        """Remove the folder now."""
        self._finalizer()


@dataclass(frozen=True)
class Fitted:
    """A fit, with what is needed to show it to the user.

    Attributes
    ----------
    fit : Fit
        What the passes have found.
    space : Space
        The coordinates of the fit.
    given : dict
        The lengths that the user gave, by the name of the parameter and the distance.
    modes : ndarray of shape (n_clusters, n_features)
        The modes, in the features of the user.
    files : TemporaryFolder or None
        Keeps the files of the fit; None if they are in a folder of the user.
    """

    fit: Fit
    space: Space
    given: dict[tuple[str, float], float]
    modes: Floats
    files: TemporaryFolder | None = None

    def to_user(self, distance: float, name: str) -> float:
        """Return a length as users see it: exactly as they gave it, if they did."""
        given = self.given.get((name, distance))
        return float(self.space.to_user(distance)) if given is None else float(given)


def modes_of(fit: Fit, space: Space) -> Floats:
    """Return the modes of the clusters, in the features of the user."""
    modes = fit.clusters.modes
    if space.keeps_points:
        points: Floats = fit.leaves.point[modes]
    else:
        points = fit.passes.store.read_at("given", fit.leaves.position[modes])
    return points
