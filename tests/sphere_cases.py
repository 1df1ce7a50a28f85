"""Points on spheres, and brute-force versions of Quick Shift that know nothing of chords."""

import numpy as np

from quickshift.kernels import get_kernel


def great_circle(A, B):
    """Return arcs between all rows of A and of B, (latitude, longitude), without cancellation."""
    phi, psi = A[:, None, 0], B[None, :, 0]
    delta = B[None, :, 1] - A[:, None, 1]
    across = np.cos(psi) * np.sin(delta)
    along = np.cos(phi) * np.sin(psi) - np.sin(phi) * np.cos(psi) * np.cos(delta)
    level = np.sin(phi) * np.sin(psi) + np.cos(phi) * np.cos(psi) * np.cos(delta)
    return np.arctan2(np.hypot(across, along), level)


def angles(A, B):
    """Return angles between all rows of A and of B, from their scalar products."""
    lengths = np.linalg.norm(A, axis=1)[:, None] * np.linalg.norm(B, axis=1)
    return np.arccos(np.clip(A @ B.T / lengths, -1.0, 1.0))


def kernel_density(angle, width, dimension, kernel, weights=None):
    """Return the density at each row of a matrix of angles; ``width`` is the bandwidth as angle."""
    weights = np.ones(angle.shape[1]) if weights is None else weights
    facts = get_kernel(kernel)
    ratio = np.sin(angle / 2) / np.sin(width / 2)
    inside = ratio <= facts.support
    profile = np.where(inside, facts.profile(np.where(inside, ratio, 0.0)), 0.0)
    constant = np.exp(facts.log_normaliser(dimension)) / (2 * np.sin(width / 2)) ** dimension
    return profile @ weights * constant / weights.sum()


def parents(distance, heights):
    """Return the nearest higher point of each point, and its distance, for heights that differ."""
    higher = heights[None, :] > heights[:, None]
    masked = np.where(higher, distance, np.inf)
    nearest = masked.argmin(axis=1)
    alone = ~higher.any(axis=1)
    nearest[alone] = np.flatnonzero(alone)
    return nearest, masked.min(axis=1)


def labels_of(parent, distance, heights, tau):
    """Cut at tau, and number the trees by their roots, highest first."""
    root = np.where(distance <= tau, parent, np.arange(parent.size))
    for _ in range(parent.size.bit_length()):
        root = root[root]
    roots = np.unique(root)
    order = roots[np.argsort(-heights[roots])]
    return np.argsort(order)[np.searchsorted(order[np.argsort(order)], root)]


def to_globe(points):
    """Return latitudes and longitudes of points in space."""
    points = points / np.linalg.norm(points, axis=1, keepdims=True)
    latitude = np.arcsin(np.clip(points[:, 2], -1.0, 1.0))
    return np.column_stack([latitude, np.arctan2(points[:, 1], points[:, 0])])


def center_of(place):
    latitude, longitude = place
    ring = np.cos(latitude)
    return np.array([ring * np.cos(longitude), ring * np.sin(longitude), np.sin(latitude)])


def blob(n, place, width, seed):
    """Draw points around a place, approximately from a von Mises-Fisher distribution."""
    rng = np.random.default_rng(seed)
    return to_globe(center_of(place) + width * rng.normal(size=(n, 3)))


def cap(n, place, radius, seed):
    """Draw points uniformly from the places within an arc of a place."""
    rng = np.random.default_rng(seed)
    center = center_of(place)
    first = np.cross(center, [0.6, 0.0, 0.8])
    first /= np.linalg.norm(first)
    z = rng.uniform(np.cos(radius), 1.0, n)
    turn = rng.uniform(0, 2 * np.pi, n)
    ring = np.sqrt(1 - z**2)
    around = np.cos(turn)[:, None] * first + np.sin(turn)[:, None] * np.cross(center, first)
    return to_globe(z[:, None] * center + ring[:, None] * around)


def scattered(n=80, seed=0):
    """Draw points everywhere on the globe, some close together."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(8, 3))
    return to_globe(centers[rng.integers(8, size=n)] + 0.4 * rng.normal(size=(n, 3)))
