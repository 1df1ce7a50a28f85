"""Mixtures of Gaussians with their true modes.

In one dimension, the modes are the points where the slope of the log density changes its sign from
plus to minus. In more dimensions every mode lies on the ridgeline surface

    x(α) = (Σ αᵢ Pᵢ)⁻¹ Σ αᵢ Pᵢ μᵢ,   αᵢ ≥ 0,   Σ αᵢ = 1,   Pᵢ the inverse covariances

of Ray & Lindsay (2005), and there may be more modes than components. Gradient climbs therefore
start from points of that surface: its corners (the means), points along its edges (pairs of
components) and the centers of its triangles (triples). Each climb takes a Newton step if that
increases the density, and otherwise the mean-shift step of Carreira-Perpiñán (2000), which always
increases it.

References
----------
Carreira-Perpiñán, M. Á. (2000). Mode-finding for mixtures of Gaussian distributions. IEEE
Transactions on Pattern Analysis and Machine Intelligence 22(11), 1318–1323.

Ray, S. & Lindsay, B. G. (2005). The topography of multivariate normal mixtures. Annals of
Statistics 33(5), 2042–2065.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from quickshift.arrays import Floats, Indices
from quickshift.bundles import Bundle, counted, span
from quickshift.checks.datasets import (
    Seed,
    check_component_means,
    check_component_weights,
    check_covariances,
    check_locations,
)
from quickshift.datasets.sampling import draw, frozen

__all__ = ["GaussianMixture", "modes_on_line"]

# Lengths in units of the smallest standard deviation, and a curvature in units of its inverse
# square.
SAME_MODE = 1e-4  # climbs that end closer to each other than this have found the same mode
LEAVE_SADDLE = 1e-2  # step away from a saddle, to either side
FLAT = 1e-7  # a smaller upward curvature counts as zero


@dataclass(frozen=True, init=False, repr=False, eq=False)
class GaussianMixture(Bundle):
    """A mixture of Gaussians in any dimension, with its density and its true modes.

    Parameters
    ----------
    means : array-like of shape (k, d) or (k,)
        Centers of the components; a flat array is a mixture on the line.
    covariances : array-like, default=1.0
        Variances, not standard deviations: one number for all components, one number per
        component (k,), one number per component and coordinate (k, d), or full matrices (k, d, d).
    weights : array-like of shape (k,), optional
        Positive shares, which are scaled to sum to one. By default all are equal.

    Attributes
    ----------
    means : ndarray of shape (k, d)
    covariances : ndarray of shape (k, d, d)
    weights : ndarray of shape (k,)

    Examples
    --------
    Two equal components closer than two standard deviations share one mode:

    >>> from quickshift.datasets import GaussianMixture
    >>> GaussianMixture([-0.9, 0.9]).modes().round(6) + 0.0
    array([[0.]])
    >>> GaussianMixture([-1.5, 1.5], weights=[1, 3]).modes().round(2)
    array([[ 1.49], [-1.35]])

    >>> X, labels = GaussianMixture([[0, 0], [5, 5]]).sample(4, seed=0)
    >>> X.shape, labels
    ((4, 2), array([1, 0, 0, 0]))
    """

    means: Floats
    covariances: Floats
    weights: Floats

    def __init__(
        self,
        means: ArrayLike,
        covariances: ArrayLike = 1.0,
        weights: ArrayLike | None = None,
    ) -> None:
        centers = check_component_means(means)
        full = check_covariances(covariances, *centers.shape)
        shares = check_component_weights(weights, len(centers))
        object.__setattr__(self, "means", frozen(centers))
        object.__setattr__(self, "covariances", frozen(full))
        object.__setattr__(self, "weights", frozen(shares))

    def __len__(self) -> int:
        """Return the number of components."""
        return len(self.weights)

    def __hash__(self) -> int:
        return hash((self.means.shape, *self.means.ravel().tolist()))

    def _facts(self) -> Iterable[str]:
        yield counted(len(self), "component")
        yield counted(self.n_features, "feature")
        yield f"weights {span(self.weights)}"

    @property
    def n_features(self) -> int:
        """The dimension d."""
        return int(self.means.shape[1])

    @cached_property
    def _cholesky(self) -> Floats:
        return np.asarray(np.linalg.cholesky(self.covariances), dtype=np.float64)

    @cached_property
    def _whiteners(self) -> Floats:
        """(k, d, d) matrices that turn a component into a standard Gaussian."""
        return np.asarray(np.linalg.inv(self._cholesky), dtype=np.float64)

    @cached_property
    def _precisions(self) -> Floats:
        return np.asarray(self._whiteners.swapaxes(1, 2) @ self._whiteners, dtype=np.float64)

    def sample(self, n: int, seed: Seed = 0) -> tuple[Floats, Indices]:
        """Draw points.

        Parameters
        ----------
        n : int
            Number of points.
        seed : int or numpy.random.Generator, default=0

        Returns
        -------
        X : ndarray of shape (n, d)
        labels : ndarray of shape (n,)
            The component that each point was drawn from.
        """
        return draw(self.weights, self._draw_component, n, self.n_features, seed)

    def _draw_component(self, c: int, m: int, rng: np.random.Generator) -> Floats:
        standard = rng.standard_normal((m, self.n_features))
        drawn: Floats = self.means[c] + standard @ self._cholesky[c].T
        return drawn

    def density(self, X: ArrayLike) -> Floats:
        """Return the density at each row of ``X``, shape (m,).

        Far from all components it underflows to 0; `log_density` does not.
        """
        density: Floats = np.exp(self.log_density(X))
        return density

    def log_density(self, X: ArrayLike) -> Floats:
        """Return the logarithm of the density at each row of ``X``, shape (m,)."""
        points = check_locations(X, self.n_features)
        total = np.full(len(points), -np.inf)
        for c in range(len(self.weights)):
            np.logaddexp(total, self._log_component(c, points), out=total)
        return total

    def _log_component(self, c: int, points: Floats) -> Floats:
        """Return the logarithm of the weighted density of component ``c``, shape (m,)."""
        whitener = self._whiteners[c]
        whitened = (points - self.means[c]) @ whitener.T
        peak = np.log(self.weights[c]) + np.log(np.diagonal(whitener)).sum()
        squared = np.einsum("md,md->m", whitened, whitened)
        logs: Floats = peak - 0.5 * (squared + self.n_features * np.log(2 * np.pi))
        return logs

    def modes(self) -> Floats:
        """Return the local maxima of the density.

        Returns
        -------
        modes : ndarray of shape (n_modes, d)
            The highest mode comes first. Positions are exact to about 1e-10 standard deviations,
            except where two modes are about to merge and the density is flat to third order.

        Notes
        -----
        On the line, no mode is missed that is wider than a fiftieth of the smallest standard
        deviation near it. In more dimensions, climbs start from the ridgeline surface of every
        pair and triple of components (of pairs only, if there are more than 12 components). A mode
        that four or more components form together, away from all their means, could be missed.
        """
        if self.n_features == 1:
            scales = np.sqrt(self.covariances[:, 0, 0])
            found = modes_on_line(self.weights, self.means[:, 0], scales)[:, None]
        else:
            found = _climb_to_modes(self, _ridgeline_points(self))
        return found[np.argsort(-self.log_density(found), kind="stable")]


def modes_on_line(weights: Floats, means: Floats, scales: Floats) -> Floats:
    """Return the local maxima of a one-dimensional Gaussian mixture in ascending order.

    Parameters
    ----------
    weights, means, scales : ndarray of shape (k,)
        ``scales`` are standard deviations.
    """
    log_peaks = np.log(weights / scales)

    def slope(y: Floats) -> Floats:
        """Slope of the log density up to a positive factor per y; it does not underflow to 0."""
        z = (y[:, None] - means) / scales
        logs = log_peaks - 0.5 * z * z
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        pulled: Floats = (shares * -z / scales).sum(axis=1)
        return pulled

    near = means[:, None] + scales[:, None] * np.linspace(-4, 4, 401)
    wide = np.linspace(means.min() - scales.max(), means.max() + scales.max(), 1001)
    grid = np.unique(np.concatenate([near.ravel(), wide]))
    signs = np.sign(slope(grid))
    grid, signs = grid[signs != 0], signs[signs != 0]
    tops = np.flatnonzero((signs[:-1] > 0) & (signs[1:] < 0))
    low, high = grid[tops], grid[tops + 1]
    for _ in range(80):
        middle = 0.5 * (low + high)
        rising = slope(middle) > 0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    tops_at: Floats = 0.5 * (low + high)
    return tops_at


def _ridgeline_points(mixture: GaussianMixture) -> Floats:
    """Return starting points on the ridgeline surface: corners, edges, centers of triangles."""
    k = len(mixture.weights)
    reach = 6 * np.sqrt(np.linalg.eigvalsh(mixture.covariances).max(axis=1))
    mixing = [np.eye(k)]
    for a, b in combinations(range(k), 2):
        # Components that do not overlap have no mode between them.
        if np.linalg.norm(mixture.means[a] - mixture.means[b]) < reach[a] + reach[b]:
            along = np.zeros((9, k))
            along[:, a] = np.arange(1, 10) / 10
            along[:, b] = 1 - along[:, a]
            mixing.append(along)
    if k <= 12:
        corners = np.array(list(combinations(range(k), 3)), dtype=int).reshape(-1, 3)
        middles = np.zeros((len(corners), k))
        np.put_along_axis(middles, corners, 1 / 3, axis=1)
        mixing.append(middles)
    alphas = np.concatenate(mixing)
    pulled = np.einsum("kde,ke->kd", mixture._precisions, mixture.means)
    return _solve(np.einsum("mk,kde->mde", alphas, mixture._precisions), alphas @ pulled)


def _climb_to_modes(mixture: GaussianMixture, starts: Floats) -> Floats:
    """Climb from every start and return the distinct end points that are local maxima."""
    unit = np.sqrt(np.linalg.eigvalsh(mixture.covariances).min())
    ends = _climb(mixture, starts, unit)
    curvatures, axes = np.linalg.eigh(_slopes(mixture, ends)[1])
    saddle = curvatures[:, -1] > FLAT / unit**2
    # A climb along a line of symmetry ends at a saddle: continue from both sides of it.
    aside = LEAVE_SADDLE * unit * axes[saddle, :, -1]
    sides = _climb(mixture, np.concatenate([ends[saddle] + aside, ends[saddle] - aside]), unit)
    ends = np.concatenate([ends[~saddle], sides])
    gradient, hessian, pull = _slopes(mixture, ends)
    at_rest = np.linalg.norm(_solve(pull, gradient), axis=1) < SAME_MODE * unit
    ends = ends[at_rest & (np.linalg.eigvalsh(hessian)[:, -1] <= FLAT / unit**2)]
    modes: list[Floats] = []
    for end in ends[np.argsort(-mixture.log_density(ends), kind="stable")]:
        if all(np.linalg.norm(end - mode) > SAME_MODE * unit for mode in modes):
            modes.append(end)
    return np.array(modes)


def _climb(mixture: GaussianMixture, starts: Floats, unit: float) -> Floats:
    """Climb from every start until the steps are no longer than rounding errors."""
    X = starts.copy()
    moving = np.arange(len(X))
    for _ in range(300):
        here = X[moving]
        gradient, hessian, pull = _slopes(mixture, here)
        newton = _newton_step(gradient, hessian, unit)
        log_here = mixture.log_density(here)
        slack = 1e-13 * (1 + np.abs(log_here))
        up = mixture.log_density(here + newton) >= log_here - slack
        step = np.where(up[:, None], newton, _solve(pull, gradient))
        X[moving] = here + step
        nothing = 1e-13 * unit + 4 * np.finfo(np.float64).eps * np.abs(here).max(axis=1, initial=0)
        moving = moving[np.linalg.norm(step, axis=1) > nothing]
        if moving.size == 0:
            break
    return X


def _newton_step(gradient: Floats, hessian: Floats, unit: float) -> Floats:
    """Newton's step with the absolute values of all curvatures, so that it moves away from saddles.

    Steps are no longer than ``unit``.
    """
    curvatures, axes = np.linalg.eigh(hessian)
    along = np.einsum("mde,md->me", axes, gradient)
    along /= np.maximum(np.abs(curvatures), 1e-12 / unit**2)
    step = np.einsum("mde,me->md", axes, along)
    length = np.linalg.norm(step, axis=1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, unit / np.maximum(length, 1e-300)), dtype=np.float64)


def _solve(matrices: Floats, vectors: Floats) -> Floats:
    return np.asarray(np.linalg.solve(matrices, vectors[..., None])[..., 0], dtype=np.float64)


def _slopes(mixture: GaussianMixture, X: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the three arrays from which the steps of a climb are computed.

    Returns
    -------
    gradient : (m, d), of the log density
    hessian : (m, d, d), of the log density
    pull : (m, d, d), Σ shareᵢ Pᵢ; a mean-shift step is the gradient times its inverse
    """
    precisions = mixture._precisions
    logs = np.stack([mixture._log_component(c, X) for c in range(len(precisions))], axis=1)
    shares = np.exp(logs - mixture.log_density(X)[:, None])
    pulls = np.einsum("kde,mke->mkd", precisions, mixture.means - X[:, None, :])
    gradient: Floats = np.einsum("mk,mkd->md", shares, pulls)
    pull: Floats = np.einsum("mk,kde->mde", shares, precisions)
    spread: Floats = np.einsum("mk,mkd,mke->mde", shares, pulls, pulls)
    outer: Floats = gradient[:, :, None] * gradient[:, None, :]
    return gradient, spread - pull - outer, pull
