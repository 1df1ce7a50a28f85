"""Save the results of about fifty fits, or compare current results with saved ones bit by bit.

Use it for changes that must not affect any result: save before the first edit and compare after the
last one. Do both on the same machine, because the last bits depend on the instruction set.

    python scripts/same_bits.py save before.npz
    python scripts/same_bits.py compare before.npz
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import quickshift as qs

Arrays = dict[str, Any]

KERNELS = (
    "gaussian",
    "exponential",
    "silverman",
    "uniform",
    "triangular",
    "tricube",
    "cosine",
    "epanechnikov",
)
# The bandwidth "cv" comes from a search that ends within a relative tolerance, so it is compared
# with this relative tolerance and not bit by bit.
CV_TOLERANCE = 1e-3


def blobs(n: int, centers: int, d: int) -> Any:
    """Draw samples around centers whose coordinates are normal with standard deviation 5."""
    rng = np.random.default_rng(d)
    middles = rng.normal(size=(centers, d)) * 5
    return middles[rng.integers(0, centers, n)] + rng.normal(size=(n, d))


def clusters(X: Any, weights: Any = None, **settings: Any) -> Arrays:
    """Fit `QuickShift`; return its attributes and the results of its methods."""
    model = qs.QuickShift(**settings).fit(X, sample_weight=weights)
    queries = X[::7] + 0.1
    return {
        "bandwidth": model.bandwidth_,
        "tau": model.tau_,
        "labels": model.labels_,
        "modes": model.modes_,
        "density": model.density_,
        "log_density": model.log_density_,
        "parent": model.parent_,
        "distance": model.parent_distance_,
        "significance": model.significance_,
        "coarser": model.labels_at(3 * model.tau_),
        "predicted": model.predict(queries),
        "scores": model.score_samples(queries),
    }


def tree(X: Any, **settings: Any) -> Arrays:
    """Fit `QuickShift`; return the arrays of its tree."""
    model = qs.QuickShift(**settings).fit(X)
    found = model.tree_
    return {
        "labels": model.labels_,
        "merges": found.merges,
        "births": found.births,
        "significance": found.significance,
        "sizes": found.sizes,
        "towards": found.towards,
        "pruned": found.prune(significance=1.0).labels(),
        "components": found.components_at(float(np.median(found.density))),
        "linkage": found.to_linkage(),
    }


def regression(X: Any, y: Any, **settings: Any) -> Arrays:
    """Fit `ModalRegressor`; return its modes and prediction sets."""
    model = qs.ModalRegressor(**settings).fit(X, y)
    queries = X[::5] + 0.01
    modes = model.predict_modes(queries)
    sets = model.predict_set(queries, coverage=0.8)
    return {
        "bandwidth": model.bandwidth_,
        "tau": model.tau_,
        "offsets": modes.offsets,
        "values": modes.values,
        "densities": modes.densities,
        "support": modes.support,
        "lower": sets.lower,
        "upper": sets.upper,
    }


def picture(image: Any, **settings: Any) -> Arrays:
    """Segment an image; return the labels of one tau and the arrays of the forest of all tau."""
    forest = qs.segment_forest(image, **settings)
    return {
        "labels": qs.segment(image, **settings),
        "parent": forest.parent,
        "distance": forest.parent_distance,
        "density": forest.density,
        "some": forest.labels_for(20),
        "strength": qs.boundary_strength(forest),
    }


def cases() -> Iterator[tuple[str, Callable[[], Arrays]]]:
    """Yield the name of each fit and a function that computes it."""
    rng = np.random.default_rng(17)
    few = {d: blobs(4000 // d, 5, d) for d in (1, 2, 3)}
    many = {d: blobs(1500, 4, d) for d in (5, 8, 20, 64)}
    for kernel in KERNELS:
        for d, h in ((1, 0.7), (2, 0.9), (3, 1.2)):
            yield (
                f"{kernel} {d}",
                lambda kernel=kernel, d=d, h=h: clusters(
                    few[d], kernel=kernel, bandwidth=h, tau=2 * h
                ),
            )
    for d, X in many.items():
        yield f"automatic {d}", lambda X=X: clusters(X, bandwidth="auto")
        yield f"local {d}", lambda X=X: clusters(X)
    yield "automatic 2", lambda: clusters(few[2], bandwidth="auto")
    yield "wide gaussian", lambda: clusters(few[2], bandwidth=4.0, tau=5.0)
    yield "every pair", lambda: clusters(many[8], bandwidth=2.0, tau=4.0, rtol=0.0)
    large = blobs(60_000, 8, 2)
    yield "large grid", lambda: clusters(large, bandwidth=0.8, tau=2.0)
    yield "large moments", lambda: clusters(large, kernel="epanechnikov", bandwidth=0.8, tau=2.0)
    yield "blocks", lambda: clusters(blobs(4000, 5, 32), bandwidth=4.0, tau=9.0)
    yield "strict", lambda: clusters(np.round(few[2]), bandwidth=1.0, tau=1.0, ties="strict")
    yield "float32", lambda: clusters(few[3].astype(np.float32), bandwidth=1.0, tau=2.0)
    yield "clusters wanted", lambda: clusters(few[2], bandwidth="auto", n_clusters=9)
    weights = rng.integers(0, 4, len(few[2])).astype(float)
    yield "weights", lambda: clusters(few[2], weights, bandwidth="auto", kernel="epanechnikov")
    angles = rng.vonmises(0.0, 2.0, (1200, 2)) + np.pi
    ring = {"metric": "periodic", "period": [2 * np.pi, np.inf]}
    yield "periodic", lambda: clusters(angles, bandwidth="auto", **ring)
    yield "local weights", lambda: clusters(few[2], weights)
    yield "local periodic", lambda: clusters(angles, **ring)
    for kernel in ("gaussian", "uniform", "tricube"):
        yield f"tree {kernel}", lambda kernel=kernel: tree(few[2], bandwidth="auto", kernel=kernel)
    yield "local tree", lambda: tree(few[2])
    yield "tree paper", lambda: tree(few[3], bandwidth="paper")
    X, y = qs.datasets.two_branches().sample(900, seed=2)
    for kernel in ("gaussian", "exponential", "uniform", "epanechnikov", "cosine"):
        yield f"regression {kernel}", lambda kernel=kernel: regression(X, y, kernel=kernel)
    yield "regression one h", lambda: regression(X, y, bandwidth=0.1, tau=0.2)
    shortest = {"bandwidth": "prediction_set"}
    yield "regression shortest", lambda: regression(X[:300], y[:300], **shortest)
    wide = np.hstack([X, rng.normal(size=X.shape)])
    yield "regression of two", lambda: regression(wide, np.column_stack([y, y**2]))
    colors = rng.random((40, 50, 3)).cumsum(axis=0).cumsum(axis=1)
    colors /= colors.max()
    yield "picture", lambda: picture(colors)
    yield "gray", lambda: picture(colors[..., 0], window=None, sigma=1.0)
    yield "volume", lambda: picture(colors, channel_axis=None, bandwidth=2.0)
    yield (
        "scikit-image's",
        lambda: {"labels": qs.compat.skimage.quickshift(colors, rng=3, max_dist=8)},
    )
    bytes_ = (255 * colors).astype(np.uint8)
    yield "tiles", lambda: {"labels": qs.segment_tiles(bytes_, tile=(16, 16))}
    yield "cv", lambda: {"bandwidth": qs.QuickShift("cv").fit(few[2]).bandwidth_}


def run() -> Arrays:
    """Compute every fit, and return all arrays in one flat dictionary."""
    return {
        f"{name}: {field}": np.asarray(value)
        for name, fit in cases()
        for field, value in fit().items()
    }


def differences(before: Arrays, after: Arrays) -> list[str]:
    """Return the names of the arrays that are missing on either side or differ in any bit."""
    wrong = sorted(set(before) ^ set(after))
    for name in set(before) & set(after):
        old, new = before[name], after[name]
        if name.startswith("cv"):
            same = np.allclose(old, new, rtol=CV_TOLERANCE)
        else:
            same = old.dtype == new.dtype and old.shape == new.shape
            same = same and old.tobytes() == new.tobytes()
        if not same:
            wrong.append(name)
    return wrong


def main(action: str, path: str) -> int:
    """Save or compare; return the exit code."""
    found = run()
    fits = len({name.split(":")[0] for name in found})
    if action == "save":
        np.savez_compressed(path, **found)
        print(f"{len(found)} arrays of {fits} fits saved")
        return 0
    with np.load(path) as saved:
        wrong = differences(dict(saved), found)
    print(f"{len(wrong)} of {len(found)} arrays of {fits} fits differ", *wrong, sep="\n  ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
