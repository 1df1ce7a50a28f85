"""The parts of a summary, read off a fitted QuickShift."""

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.bandwidth import standard_deviation
from quickshift.estimators.summary import REPRODUCE, Candidate, Summary
from quickshift.stages.local_clusters import LocalSettings
from quickshift.stages.local_scale import LocalScale, default_neighbors, n_spacing
from quickshift.stages.parent_graph import find_parents
from quickshift.stages.samples import Samples, build_samples
from quickshift.stages.tree.chance_tables import LOCAL
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.stages.tree.pruning import contract
from quickshift.stages.tree.significance import keep_most_significant

if TYPE_CHECKING:
    from quickshift.estimators.quick_shift import QuickShift

__all__ = ["literal", "reproduce", "summarize"]

_CANDIDATES = 3
_DOUBTFUL = 0.1  # strength below which a row is called doubtful
_SHOWN_ROWS = 5
_SPREADS_APART = 10.0
_CLEAR_GAP = 1.5  # ratio of two significances
_MOVES = "Moves: each sample moves to the nearest denser one, unless that is"
_MOST_FEATURES = max(LOCAL[1])  # of the simulations of chance
_THIN = 1 / 20  # of the largest variance: less is called no spread along a direction
_FILLED = 0.75  # share of the directions, up to which significances may be too large
_ROWS_PER_FEATURE = 3  # with fewer, the variances of independent features look unequal
_ROWS_AT_ONCE = 4096
_FEATURES_PER_ROW = 10  # more than this look like a table that should be transposed


def summarize(fitted: "QuickShift") -> Summary:
    """Return the summary of a fitted estimator."""
    hints = _hints(fitted)  # first, because it needs the most memory, and only for a moment
    tree = fitted.tree_
    kept = contract(tree, ~np.isin(tree.leaf_indices, fitted.mode_indices_))
    names = getattr(fitted, "feature_names_in_", None)
    n_features = fitted.n_features_in_
    death = kept.persistence()[:, 1]
    meets = death > 0
    saddles = np.zeros(death.size)
    saddles[meets] = _densities(kept, death[meets])
    candidates = _candidates(fitted, tree)
    n_more = tree.leaf_indices.size - kept.leaf_indices.size - len(candidates)
    return Summary(
        rows=fitted.mode_indices_,
        sizes=kept.sizes,
        modes=fitted.modes_,
        densities=_densities(kept, kept.births),
        significance=fitted.significance_,
        nearest_denser=_nearest_denser(fitted),
        joins=kept.towards,
        saddles=saddles,
        candidates=candidates,
        n_more=n_more if candidates else 0,
        chosen=[
            *_density_lines(fitted),
            *_mode_lines(fitted),
            *filter(None, [_next_steps(fitted, kept, candidates), _doubtful(fitted.strength_)]),
        ],
        hints=hints + _gap_hints(fitted, candidates),
        feature_names=[f"x{i}" for i in range(n_features)] if names is None else list(names),
    )


def _densities(tree: ClusterTree, levels: Floats) -> Floats:
    """Turn levels of a tree into densities, which may over- or underflow in high dimension."""
    if tree.log_unit == 0.0 and tree.power == 1.0:
        return levels
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(tree.log_unit + tree.power * np.log(levels))


def _nearest_denser(fitted: "QuickShift") -> Floats:
    """Return the distance from each mode to the nearest higher one; modes are in falling order."""
    modes = fitted._graph.samples.tree.coordinates(fitted.mode_indices_)
    samples = build_samples(modes, None, fitted._graph.samples.period, n_jobs=1)
    heights = -np.arange(fitted.n_clusters_, dtype=np.float64)
    distance: Floats = find_parents(samples, heights, "total", 53, n_jobs=1).distance
    return np.asarray(fitted._space.to_user(distance))


def _candidates(fitted: "QuickShift", tree: ClusterTree) -> list[Candidate]:
    """Return the modes that `labels_for` would keep next, if the clusters are its choice."""
    order = np.argsort(-tree.known_significance(), kind="stable")
    k = fitted.n_clusters_
    if set(tree.leaf_indices[order[:k]].tolist()) != set(fitted.mode_indices_.tolist()):
        return []
    found = []
    strongest = tree.known_significance()[order[k]] if k < order.size else 0.0
    for number in range(k + 1, min(k + _CANDIDATES, order.size) + 1):
        leaf = order[number - 1]
        row = int(tree.leaf_indices[leaf])
        significance = float(tree.known_significance()[leaf])
        reason = _reason(fitted, significance, number, float(strongest))
        cluster = int(fitted.labels_[row])
        size = _size_among(tree, number, row)
        found.append(Candidate(row, cluster, size, significance, number, reason))
    return found


def _size_among(tree: ClusterTree, number: int, row: int) -> float:
    """Return the size of the cluster around a mode, if this many clusters are kept."""
    finer = keep_most_significant(tree, number)
    return float(finer.sizes[finer.leaf_indices == row][0])


def _reason(fitted: "QuickShift", significance: float, number: int, strongest: float) -> str:
    """Say why a mode was not kept.

    It would be one of the given number of clusters. ``strongest`` is the significance of the
    strongest mode that was not kept.
    """
    settings = fitted._settings
    chance, size = fitted._chance(), settings.min_cluster_size
    if settings.n_clusters is not None and number > settings.n_clusters:
        return f"{settings.n_clusters} clusters were asked for"
    least = settings.min_significance
    if not isinstance(least, str) and significance < least:
        return f"less than min_significance={float(least):g}"
    if size > 1 and significance >= fitted.min_significance_:
        return f"merged because of min_cluster_size={float(size):g}"
    if significance < chance:
        return f"below the chance level {chance:.3g}"
    return (
        f"above the chance level {chance:.3g}, but after the gap at which the list of "
        f"significances is cut, from {fitted.min_significance_:.3g} to {strongest:.3g}"
    )


def _gap_hints(fitted: "QuickShift", candidates: list[Candidate]) -> list[str]:
    """Say that the number of clusters is uncertain, if no gap separates them from candidates."""
    settings = fitted._settings
    chosen = all(isinstance(x, str) for x in (settings.tau, settings.min_significance))
    if not chosen or settings.n_clusters is not None or not candidates:
        return []
    least, strongest = fitted.min_significance_, candidates[0].significance
    if strongest < fitted._chance() or least >= _CLEAR_GAP * strongest:
        return []
    listed = ", ".join(f"{z:.3g}" for z in (least, *(c.significance for c in candidates)))
    return [
        f"significances fall without a clear gap ({listed}), so the number of clusters is "
        f"uncertain. Compare recut(n_clusters={candidates[0].n_clusters})."
    ]


def _density_lines(fitted: "QuickShift") -> list[str]:
    """Say how the density was estimated, which moves were kept, and in which units."""
    return [*_moves(fitted), *fitted._space.remarks]


def _moves(fitted: "QuickShift") -> list[str]:
    """Say how the density was estimated, and which moves were kept."""
    estimate, tau, settings = fitted._estimate, fitted.tau_, fitted._settings
    if not isinstance(estimate, LocalScale):
        rule = f", chosen by {settings.bandwidth!r}" if isinstance(settings.bandwidth, str) else ""
        automatic = isinstance(settings.tau, str) and fitted._recut_from is None
        chosen = ", chosen automatically" if automatic else ""
        return [
            f"Density: {estimate.kernel.name} kernel, bandwidth {fitted.bandwidth_:.4g}{rule}.",
            f"{_MOVES} farther than tau, {tau:.4g}{chosen}.",
        ]
    k, usual = estimate.n_neighbors, default_neighbors(estimate.samples.total_weight)
    tried = ""
    if isinstance(settings.n_neighbors, str) and k > usual:
        tried = f", since {usual} neighbors found one cluster only"
    elif others := _tried_as_well(fitted):
        tried = f"; {' and '.join(map(str, others))} neighbors found one cluster, too"
    nearest = "nearest sample" if k == 1 else f"{k} nearest samples"
    lines = [
        f"Density: from the mean distance r to the {nearest}{tried}; "
        f"median r {np.median(fitted.bandwidth_):.4g}."
    ]
    if np.ndim(tau) == 0:
        return [*lines, f"{_MOVES} farther than tau, {tau:.4g}."]
    g = n_spacing(estimate.samples)
    multiple = fitted._multiple_of_tau
    times = "" if multiple == 1 else f"{multiple:.3g} times "
    return [
        *lines,
        f"{_MOVES} farther than its tau, {times}the distance to its {_ordinal(g)} nearest "
        f"distinct sample; median tau {np.median(tau):.4g}.",
    ]


def _tried_as_well(fitted: "QuickShift") -> list[int]:
    """Return the larger numbers of neighbors that found one cluster, too, if they were tried."""
    settings = fitted._settings
    automatic = all(isinstance(x, str) for x in (settings.n_neighbors, settings.tau))
    recut = settings.n_clusters is not None or fitted._recut_from is not None
    if fitted.n_clusters_ > 1 or not automatic or recut:
        return []
    return LocalSettings().numbers_of_neighbors(fitted._graph.samples.total_weight)[1:]


def _ordinal(number: int) -> str:
    """Return a number from 2 to 16 as in "3rd"."""
    return f"{number}{ {2: 'nd', 3: 'rd'}.get(number, 'th') }"


def _mode_lines(fitted: "QuickShift") -> list[str]:
    """Say which modes were kept, and how to fit the same clusters again."""
    n_modes, settings = fitted._clusters.unmerged.roots.size, fitted._settings
    if not isinstance(settings.tau, str):
        kept = f"Modes: all {n_modes} are kept."
        if fitted.n_clusters_ < n_modes:
            kept = f"Modes: {n_modes} found, of which clusters below min_cluster_size are merged."
    elif settings.n_clusters is not None:
        kept = f"Modes: {n_modes} found, the {settings.n_clusters} most significant are kept."
    elif not isinstance(settings.min_significance, str):
        least = settings.min_significance
        kept = f"Modes: {n_modes} found, those of significance {float(least):g} or more are kept."
    else:
        kept = (
            f"Modes: {n_modes} found, {fitted.n_clusters_} kept. The chance level is "
            f"{fitted._chance():.3g}: in about 99 of 100 samples of a single Gaussian, no mode "
            f"except the highest exceeds it."
        )
    if settings.min_cluster_size > 1 and isinstance(settings.tau, str):
        size = float(settings.min_cluster_size)
        kept += f" Then clusters below min_cluster_size={size:g} are merged."
    return [kept, f"{REPRODUCE}{reproduce(fitted)}"]


def reproduce(fitted: "QuickShift") -> str:
    """Return a line of Python that gives the same clusters."""
    if fitted._recut_from is not None:
        return fitted._recut_from
    settings = fitted._settings
    given: dict[str, Any] = {}
    if isinstance(fitted._estimate, LocalScale):
        given["n_neighbors"] = fitted._estimate.n_neighbors
    else:
        given["bandwidth"] = fitted.bandwidth_
    if not isinstance(settings.tau, str):
        given["tau"] = settings.tau
    elif settings.n_clusters is not None:
        given["n_clusters"] = settings.n_clusters
    else:
        given["min_significance"] = fitted.min_significance_
    defaults: dict[str, Any] = {
        "kernel": "gaussian",
        "min_cluster_size": 1,
        "ties": "total",
        "rtol": 1e-9,
    }
    given |= {
        name: getattr(settings, name)
        for name, default in defaults.items()
        if getattr(settings, name) != default
    }
    if settings.period is not None:
        given |= {"metric": "periodic", "period": np.asarray(settings.period).tolist()}
    elif settings.metric != "euclidean":
        given["metric"] = settings.metric
    if settings.scale is not None:
        given["scale"] = np.asarray(settings.scale).tolist()
    words = ", ".join(f"{name}={literal(value)}" for name, value in given.items())
    weights = ", sample_weight=sample_weight" if fitted._weighted else ""
    return f"QuickShift({words}).fit(X{weights})"


def literal(value: Any) -> str:
    """Return a value as Python source."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Real) and not isinstance(value, int | float):  # such as a Fraction
        value = float(value)
    return repr(value).replace("inf", "numpy.inf") if not isinstance(value, str) else repr(value)


def _next_steps(fitted: "QuickShift", kept: ClusterTree, candidates: list[Candidate]) -> str:
    """Say how to get one cluster more or fewer."""
    k = fitted.n_clusters_
    split = f", which splits cluster {candidates[0].cluster}" if candidates else ""
    steps = ""
    if k < fitted._graph.samples.tree.n_locations:
        steps = f"One cluster more: recut(n_clusters={k + 1}){split}. "
    finite = np.flatnonzero(kept.towards >= 0)
    if finite.size:
        finite = finite[::-1]  # of equally significant ones, the lowest is dropped first
        weakest = finite[np.argmin(kept.known_significance()[finite])]
        steps += (
            f"One fewer: recut(n_clusters={k - 1}), which joins cluster {weakest} to "
            f"{kept.towards[weakest]}."
        )
    return steps.rstrip()


def _doubtful(strength: Floats) -> str:
    """Say which rows are doubtful."""
    low = np.argsort(strength, kind="stable")[:_SHOWN_ROWS]
    rows = ", ".join(f"{row} ({strength[row]:.3f})" for row in low)
    count = np.count_nonzero(strength < _DOUBTFUL)
    has = f"{count or 'none'} {'have' if count > 1 else 'has'}"
    return (
        f"Doubtful rows: {has} a strength_ below {_DOUBTFUL:g} (a mode has 1). "
        f"The weakest are {rows}."
    )


def _hints(fitted: "QuickShift") -> list[str]:
    """Say what may be wrong with the data, and what to do about it."""
    samples = fitted._graph.samples
    points, weights = samples.tree.locations()
    hints = [] if samples.on_sphere else _spread_hints(samples, points, weights)
    if fitted.n_features_in_ > _FEATURES_PER_ROW * len(fitted.labels_):
        hints.append(
            f"there are {fitted.n_features_in_} features of {len(fitted.labels_)} rows. If rows "
            f"and columns are swapped, pass X.T."
        )
    elif fitted.n_features_in_ > _MOST_FEATURES:
        hints.append(
            f"chance was simulated for up to {_MOST_FEATURES} features. Reduce their number, for "
            f"example by PCA, before you trust the number of clusters."
        )
    elif _significance_decides(fitted) and samples.period is None and not samples.on_sphere:
        hints += _redundancy_hints(points, weights, fitted.labels_[samples.tree.first_rows()[0]])
    if len(points) < samples.total_weight / 2:
        hints.append(
            f"most rows are duplicates: {len(points)} are distinct. Equal rows count as evidence; "
            f"if they are copies, drop them."
        )
    return hints


def _spread_hints(samples: Samples, points: Floats, weights: Floats) -> list[str]:
    """Say that features have very different spreads, or none."""
    spreads = np.array([standard_deviation(column, weights) for column in points.T])
    if samples.period is not None:
        spreads = spreads[np.isinf(samples.period)]
    hints, varying = [], spreads[spreads > 0]
    apart = varying.max() / varying.min() if varying.size else 1.0
    if apart > _SPREADS_APART and samples.units is None:
        hints.append(
            f"the spreads of the features differ by a factor of {apart:.3g}. If their units differ,"
            f' scale them: QuickShift(scale="std") divides each feature by its standard deviation.'
        )
    if constant := int((spreads == 0).sum()):
        which = "1 feature is constant and makes"
        which = which if constant == 1 else f"{constant} features are constant and make"
        hints.append(f"{which} no difference.")
    return hints


def _significance_decides(fitted: "QuickShift") -> bool:
    """Return whether a local scale and the simulations of chance gave more than one cluster."""
    settings = fitted._settings
    chosen = all(isinstance(x, str) for x in (settings.tau, settings.min_significance))
    local = isinstance(fitted._estimate, LocalScale) and settings.n_clusters is None
    return chosen and local and fitted._recut_from is None and len(fitted.mode_indices_) > 1


def _redundancy_hints(points: Floats, weights: Floats, labels: Indices) -> list[str]:
    """Say that clusters fill fewer dimensions than there are features."""
    varying = points[:, np.ptp(points, axis=0) > 0]
    n, d = varying.shape
    if n < _ROWS_PER_FEATURE * d:
        return []
    variances = np.linalg.eigvalsh(_spread_within(varying, weights, labels))
    filled = int(np.count_nonzero(variances >= _THIN * variances[-1]))
    if filled > _FILLED * d:
        return []
    along = "1 direction" if filled == 1 else f"{filled} directions"
    return [
        f"the features repeat each other or differ in spread: the rows of a cluster spread along "
        f"{along} rather than {d}. Significances may then be too large, and one group be split "
        f"into several clusters. Compare the clusters after PCA(whiten=True) with the components "
        f"that matter, or increase min_significance."
    ]


def _spread_within(points: Floats, weights: Floats, labels: Indices) -> Floats:
    """Return the covariance within clusters, up to a factor.

    The rows are read block by block, because memory may be scarce.
    """
    d = points.shape[1]
    unit = np.ptp(points, axis=0).max()  # squares of other units may overflow
    totals = np.bincount(labels, weights)
    means = [np.bincount(labels, weights * (x / unit)) / totals for x in points.T]
    centers = np.column_stack(means)
    within = np.zeros((d, d))
    for start in range(0, len(points), _ROWS_AT_ONCE):
        rows = slice(start, start + _ROWS_AT_ONCE)
        apart = points[rows] / unit - centers[labels[rows]]
        within += (weights[rows, None] * apart).T @ apart
    return within
