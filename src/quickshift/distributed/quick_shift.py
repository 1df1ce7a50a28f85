"""Quick Shift for data larger than memory, or on a cluster."""

import hashlib
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from quickshift import __version__
from quickshift.arrays import Floats, Indices
from quickshift.bandwidth import RULES
from quickshift.checks.clustering import (
    check_cut,
    check_frequencies,
    check_local,
    check_min_significance,
    check_n_neighbors,
    check_rtol,
    check_ties,
)
from quickshift.checks.numbers import (
    check_bandwidth_or_rule,
    check_not_none,
    check_tau,
    check_whole,
)
from quickshift.checks.spaces import check_scale
from quickshift.distributed.absent import Absent, read_absent
from quickshift.distributed.executors import (
    DaskWorkers,
    Executor,
    Inline,
    check_open,
    local_executor,
)
from quickshift.distributed.inputs import Chunk, list_chunks
from quickshift.distributed.plan.boxes import make_boxes, scan_chunks
from quickshift.distributed.plan.columns import with_scale
from quickshift.distributed.plan.fits import Fit, KernelSettings, fit_kernel, fit_local
from quickshift.distributed.plan.forest import cut, edges_beyond
from quickshift.distributed.plan.kinds import KernelHeights, ScaleHeights
from quickshift.distributed.plan.passes import Passes
from quickshift.distributed.plan.sizes import (
    PARTITIONS_EXPECTED,
    check_memory,
    memory_for,
    number_of_boxes,
    rows_per_box,
)
from quickshift.distributed.results import (
    Cut,
    Fitted,
    heights_by_row,
    labels_by_row,
    modes_of,
    taus_by_row,
    write_labels,
)
from quickshift.distributed.stitch import Edges
from quickshift.distributed.store import (
    Store,
    TemporaryFolder,
    check_kept,
    local_folder,
    publish,
)
from quickshift.distributed.tasks.boxes import Facts
from quickshift.distributed.versions import check_versions
from quickshift.kernels import get_kernel
from quickshift.progress import Progress
from quickshift.spaces import Space, unscaled_space
from quickshift.stages.clusters import in_densities
from quickshift.stages.local_clusters import LocalSettings
from quickshift.stages.tree.cluster_tree import ClusterTree
from quickshift.threads import resolve_threads

__all__ = ["QuickShift"]

_FEW_ROWS = 100_000  # with fewer, tasks run in the calling process


class QuickShift:
    """Cluster samples as `quickshift.QuickShift` does, if they do not fit into memory.

    The samples are read from files and divided into boxes of space. Every box is searched together
    with the samples around it, and the trees of all boxes are then joined. The clusters are those
    of a fit in memory.

    Parameters
    ----------
    bandwidth : "local", float or {"auto", "paper", "scott", "silverman", "cv"}, default="local"
        How the density is estimated, see `quickshift.QuickShift`. "cv" evaluates about 44
        bandwidths, each in a pass over all samples.
    tau : float or "auto", default="auto"
        Longest move. With "auto", insignificant modes are merged.
    n_neighbors : int or "auto", default="auto"
        Number of nearest other samples that determine a local scale.
    kernel : str, default="gaussian"
        Name of the kernel; only with a bandwidth.
    n_clusters : int, optional
        Number of clusters, instead of `tau`: the most significant modes are kept. If there are
        fewer modes, the longest moves (relative to the tau of each sample, if these differ) are
        removed until there are enough. At most the number of distinct samples.
    metric : {"euclidean", "periodic", "haversine", "cosine"}, default="euclidean"
        How distances are measured, see `quickshift.QuickShift`. "periodic" is implied if `period`
        is given.
    period : array-like of shape (n_features,), optional
        Length of each feature's period, ``numpy.inf`` for a feature that is not periodic.
    rtol : float, default=1e-9
        Relative error allowed in sums of the Gaussian and the exponential kernel. Densities may
        differ from those of a fit in memory by twice as much.
    min_significance : float or "auto", default="auto"
        Least significance of a mode that stays a cluster of its own.
    scale : {"std", "iqr"} or array-like of shape (n_features,), optional
        By what to divide the features before distances are taken, see `quickshift.QuickShift`.
        Lengths are then in units of `scale_`; modes and densities stay in those of the data.
    ties : {"total", "strict"}, default="total"
        Which of two samples of equal density is higher.
    client : dask.distributed.Client, optional
        Runs the tasks on the workers of a Dask cluster. Without a client, they run in processes of
        this machine. A script must then call `fit` inside ``if __name__ == "__main__":``. Copies
        and pickles of the estimator have no client.
    directory : str or Path, optional
        Folder for the files of a run, as a path or a ``file://`` URL; all workers must see it
        under the same path. The files need about 60 bytes per row and 16 bytes per coordinate.
        Without it, they are in a temporary folder until the estimator and all its copies are
        deleted, and the fitted estimator cannot be pickled.
    memory_limit : float or "auto", default="auto"
        Bytes that all tasks together may use; "auto" is half of what is available. When a run is
        resumed, it may be larger than before, but not smaller.
    n_partitions : int or "auto", default="auto"
        Number of boxes; "auto" is as many as the memory limit requires. A box with too many rows
        for the memory limit is divided again, so there may be more.
    resume : bool, default=False
        Continue a run of the same version of quickshift with the same data and parameters that
        was interrupted, in the same `directory`. Passes that were complete are not repeated.
    progress : callable, optional
        Called as ``progress(name, done)`` whenever a task of a pass is complete. By default, a
        bar is shown on a terminal.

    Attributes
    ----------
    n_clusters_ : int
        Number of clusters.
    modes_ : ndarray of shape (`n_clusters_`, n_features)
        Coordinates of the modes, highest first.
    mode_indices_ : ndarray of shape (`n_clusters_`,)
        Row of each mode.
    mode_densities_ : ndarray of shape (`n_clusters_`,)
        Density at each mode.
    significance_ : ndarray of shape (`n_clusters_`,)
        Prominence of each mode in standard errors, infinite for the highest. Computed on first
        access, unless the fit needed it.
    min_significance_ : float
        Least finite significance of the clusters.
    tree_ : ClusterTree
        Cluster tree with one row per leaf in place of one per sample. Linked on first access,
        unless the fit needed it.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample. Read on first access. Samples of weight zero are labeled as new
        points are.
    bandwidth_ : float or ndarray of shape (n_samples,)
        The bandwidth; with local scale r of each sample, read on first access.
    tau_ : float or ndarray of shape (n_samples,)
        The tau; with local scale that of each sample, read on first access.
    n_neighbors_ : int
        The number of neighbors used; only with local scale.
    scale_ : ndarray of shape (`n_features_in_`,)
        The numbers that the features were divided by; 1 if they were not.
    n_partitions_ : int
        Number of boxes.
    n_samples_ : int
        Number of rows.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from quickshift.distributed import QuickShift
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(9, 1, (40, 2))])
    >>> model = QuickShift().fit(X)
    >>> model.n_clusters_, np.bincount(model.labels_)
    (2, array([60, 40]))
    """

    def __init__(
        self,
        bandwidth: float | Literal["local", "auto", "paper", "scott", "silverman", "cv"] = "local",
        tau: float | Literal["auto"] = "auto",
        *,
        n_neighbors: int | Literal["auto"] = "auto",
        kernel: str = "gaussian",
        n_clusters: int | None = None,
        metric: Literal["euclidean", "periodic", "haversine", "cosine"] = "euclidean",
        period: ArrayLike | None = None,
        rtol: float = 1e-9,
        min_significance: float | Literal["auto"] = "auto",
        scale: Literal["std", "iqr"] | ArrayLike | None = None,
        ties: Literal["total", "strict"] = "total",
        client: Any = None,
        directory: str | Path | None = None,
        memory_limit: float | Literal["auto"] = "auto",
        n_partitions: int | Literal["auto"] = "auto",
        resume: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.tau = tau
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.metric = metric
        self.period = period
        self.rtol = rtol
        self.min_significance = min_significance
        self.scale = scale
        self.ties = ties
        self.client = client
        self.directory = directory
        self.memory_limit = memory_limit
        self.n_partitions = n_partitions
        self.resume = resume
        self.progress = progress

    def fit(
        self,
        data: Any,
        columns: Sequence[Any] | None = None,
        weight_column: Any = None,
        id_column: Any = None,
    ) -> Self:
        """Find the densities, the parents, the modes and the clusters.

        Parameters
        ----------
        data : str, Path, ndarray, dask array or dask data frame
            A path or glob of Parquet, Arrow, Feather or .npy files, a memory-mapped array, or
            another array or dask collection, which is written to files first.
        columns : sequence, optional
            The features: names of columns, or their numbers in an array. By default, all numeric
            columns except those of weights, of identifiers and of the index of a pandas data frame.
        weight_column : str or int, optional
            The column of frequencies.
        id_column : str or int, optional
            The column of identifiers, which `write_labels` writes in place of row numbers. They
            need not be distinct.

        Returns
        -------
        QuickShift
            The fitted estimator.
        """
        settings = self._settings()
        if self.client is not None:
            check_open(self.client)
            check_versions(self.client)
        folder = self._folder()
        files = None
        if folder is None:
            files = TemporaryFolder()
            folder = files.path
        try:
            chunks = list_chunks(data, columns, weight_column, id_column, folder / "input")
            n_rows = sum(chunk.n_rows for chunk in chunks)
            with closing(self._executor(n_rows)) as executor, self._shown() as progress:
                passes = Passes(self._store(folder, chunks), executor, progress, self.resume)
                found = replace(self._run(passes, chunks, settings), files=files)
            found.fit.passes.progress = self.progress
            found.fit.passes.executor = Inline()  # later passes have their own
        except BaseException:
            if files is not None:
                files.remove()
            raise
        self._set_attributes(found, chunks)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles hold: everything but the client, which is a connection."""
        return {**vars(self), "client": None}

    def _settings(self) -> LocalSettings | KernelSettings:
        """Check the parameters that do not depend on the data."""
        check_not_none(
            bandwidth=self.bandwidth,
            tau=self.tau,
            n_neighbors=self.n_neighbors,
            min_significance=self.min_significance,
        )
        kernel = get_kernel(self.kernel)
        bandwidth = check_bandwidth_or_rule(self.bandwidth, ("local", *RULES))
        local = bandwidth == "local"
        check_local(kernel.name, self.n_neighbors, local=local)
        cut_by: dict[str, Any] = {
            "tau": check_cut(self.tau, self.n_clusters, np.iinfo(np.int64).max),
            "n_clusters": self.n_clusters,
            "min_significance": check_min_significance(
                self.min_significance, self.tau, self.n_clusters
            ),
            "ties": check_ties(self.ties),
        }
        rtol = check_rtol(self.rtol)
        if not isinstance(self.n_partitions, str):
            check_whole(self.n_partitions, "n_partitions", 1, expected=PARTITIONS_EXPECTED)
        return (
            LocalSettings(**cut_by) if local else KernelSettings(bandwidth, kernel, rtol, **cut_by)
        )

    def _folder(self) -> Path | None:
        """Return the user's folder for all files; None if they are temporary."""
        if self.directory is None:
            if self.client is not None:
                raise ValueError(
                    "directory is None but a client is given, expected a folder that all workers "
                    "see under the same path."
                )
            return None
        return local_folder(self.directory)

    def _store(self, folder: Path, chunks: list[Chunk]) -> Store:
        """Return the files of a run; they have another name for other data, parameters or versions.

        Another version of quickshift may write other files, or compute other bits.
        """
        names = (
            "bandwidth tau n_neighbors kernel n_clusters metric period rtol min_significance scale "
            "ties"
        )
        parameters = [_written(getattr(self, name)) for name in (*names.split(), "n_partitions")]
        digest = hashlib.sha256(repr((__version__, parameters, chunks)).encode()).hexdigest()[:16]
        run = folder / f"run-{digest}"
        if not self.resume:
            shutil.rmtree(run, ignore_errors=True)
        run.mkdir(parents=True, exist_ok=True)
        return Store(str(run))

    def _shown(self) -> AbstractContextManager[Progress | None]:
        """Show a bar per pass on a terminal, unless the user shows progress in another way."""
        from quickshift.estimators.progress_bar import shown_progress

        terminal = sys.stderr is not None and sys.stderr.isatty()
        return shown_progress(int(terminal and self.progress is None), self.progress)

    def _executor(self, n_rows: int) -> Executor:
        """Return what runs the tasks; for few rows, starting processes would take longest."""
        if self.client is not None:
            return DaskWorkers(self.client)
        few = n_rows < _FEW_ROWS and isinstance(self.n_partitions, str)
        return Inline() if few else local_executor(resolve_threads(None))

    def _run(
        self, passes: Passes, chunks: list[Chunk], settings: LocalSettings | KernelSettings
    ) -> Fitted:
        n_features = len(chunks[0].columns)
        space = unscaled_space(self.metric, self.period, n_features)
        scale = check_scale(self.scale, self.metric, space.period, n_features)
        settings, given = _in_coordinates(settings, space)
        facts = with_scale(passes, chunks, scan_chunks(passes, chunks, space), scale)
        if isinstance(settings, LocalSettings):
            check_frequencies(facts.total_weight, facts.n_present)
            k = check_n_neighbors(self.n_neighbors, facts.total_weight)
            settings = replace(settings, n_neighbors=k)
        local = isinstance(settings, LocalSettings)
        n_boxes, box_rows, task_rows = self._sizes(passes, facts, local=local)
        make_boxes(passes, chunks, facts, n_boxes, box_rows)
        passes.store = replace(passes.store, most_rows=task_rows)
        halo = min(box_rows, 2 * facts.n_present // n_boxes + 1)
        if isinstance(settings, LocalSettings):
            fit = fit_local(passes, facts, settings, halo)
        else:
            fit = fit_kernel(passes, facts, settings, halo)
        return Fitted(fit, facts.space, given, modes_of(fit, facts.space))

    def _sizes(self, passes: Passes, facts: Facts, *, local: bool) -> tuple[int, int, int]:
        """Return the number of boxes, the most rows of a box, and the most rows of a task.

        A resumed run has the boxes of the first one. Its tasks may use more memory.
        """
        path = Path(passes.store.directory) / "sizes.npy"
        slots = passes.executor.slots
        memory = memory_for(self.memory_limit, passes.executor)
        resumed = self.resume and path.exists()
        if resumed:
            n_boxes, box_rows, before = np.load(path).tolist()
            if isinstance(self.memory_limit, str):
                return n_boxes, box_rows, 2 * box_rows
            check_memory(memory, before)
        rows = rows_per_box(memory, slots, facts.least.size, local=local, n_rows=facts.n_present)
        if resumed:
            return n_boxes, box_rows, 2 * max(rows, box_rows)
        n_boxes = number_of_boxes(self.n_partitions, facts.n_present, rows, slots)
        publish(path, np.array([n_boxes, rows, memory]))
        return n_boxes, rows, 2 * rows

    def _set_attributes(self, found: Fitted, chunks: list[Chunk]) -> None:
        """Replace the results of an earlier fit, whose temporary files are removed."""
        kept = ("_absent", "_edges")
        for name in [name for name in vars(self) if name.endswith("_") or name in kept]:
            delattr(self, name)
        self._found = found
        fit, modes = found.fit, found.fit.clusters.modes
        self.n_samples_ = sum(chunk.n_rows for chunk in chunks)
        self.n_features_in_ = len(chunks[0].columns)
        units = found.space.units
        self.scale_ = np.ones(self.n_features_in_) if units is None else units.copy()
        self.n_partitions_ = len(fit.passes.store.counts)
        self.n_clusters_ = len(fit.clusters)
        self.modes_ = found.modes
        self.mode_indices_ = fit.leaves.row[modes]
        self.mode_densities_ = fit.kind.densities(fit.leaves.height[modes])
        self.min_significance_ = fit.clusters.min_significance
        if isinstance(fit.kind, ScaleHeights):
            self.n_neighbors_ = fit.kind.neighbors.k

    @cached_property
    def labels_(self) -> Indices:
        """Cluster of each sample."""
        with self._passes() as passes:
            return labels_by_row(self._cut(), self.n_samples_, self._absent, passes)

    @cached_property
    def bandwidth_(self) -> float | Floats:
        """The bandwidth, or r of each sample."""
        if isinstance(self._fit.kind, KernelHeights):
            return self._fitted.to_user(self._fit.kind.density.bandwidth, "bandwidth")
        heights = heights_by_row(self._fit, self.n_samples_, self._absent)
        r: Floats = self._fitted.space.to_user(-heights)
        return r

    @cached_property
    def tau_(self) -> float | Floats:
        """The tau of the cut, or of each sample."""
        if self._fit.tau is not None:
            return self._fitted.to_user(self._fit.tau, "tau")
        lengths = taus_by_row(self._fit, self.n_samples_, self._absent)
        tau: Floats = self._fitted.space.to_user(lengths)
        return tau

    @cached_property
    def tree_(self) -> ClusterTree:
        """The cluster tree of the leaves."""
        fit, tree = self._fit, self._fit.clusters.tree
        if tree is None:
            with self._passes() as passes:
                tree = fit.kind.linked(passes, fit.leaves, fit.tau, fit.order).tree
        tree = in_densities(tree, fit.kind.densities_of_levels)
        return replace(tree, tau=self._fitted.space.to_user(tree.tau))

    @property
    def significance_(self) -> Floats:
        """Prominence of each mode in standard errors."""
        return self.tree_.known_significance()[self._fit.clusters.modes]

    def labels_at(self, tau: float) -> Indices:
        """Cut the parent graph at another tau, without merging modes.

        Parameters
        ----------
        tau : float
            Longest move. With a bandwidth, it may not be longer than the tau of the fit, because
            longer moves were not searched for; after a fit with ``tau=numpy.inf``, any tau is
            possible. With local scale, any tau is possible, and the first call searches for the
            longer moves.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster of each sample.
        """
        fit = self._fit
        length = self._fitted.space.from_user(check_tau(tau), "tau")
        if length > fit.reach:
            most = self._fitted.to_user(fit.reach, "tau")
            raise ValueError(
                f"tau is {tau!r}, expected at most {most!r}: the fit was made with this tau, and "
                f"longer moves were not searched for. Fit with tau=numpy.inf."
            )
        with self._passes() as passes:
            leaves = cut(passes, length, fit.order, self._edges, "top-at")
            recut = Cut(fit, length, leaves, name="top-at")
            return labels_by_row(recut, self.n_samples_, self._absent, passes)

    @cached_property
    def _edges(self) -> Edges | None:
        """The edges that are not in the files of the boxes."""
        fit = self._fit
        if fit.tau is not None:
            return fit.edges
        with self._passes() as passes:
            return edges_beyond(passes, fit.order)

    def write_labels(self, path: str | Path) -> None:
        """Write a Parquet file with the columns id, label and density.

        Parameters
        ----------
        path : str or Path
            The file. It appears under this name only when it is complete.
        """
        with self._passes() as passes:
            write_labels(self._cut(), path, self._absent, passes)

    @property
    def _fit(self) -> Fit:
        """What the passes of the last fit have found."""
        return self._fitted.fit

    @property
    def _fitted(self) -> Fitted:
        """The last fit that succeeded."""
        try:
            found: Fitted = vars(self)["_found"]
        except KeyError:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                "This QuickShift instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            ) from None
        return found

    def _cut(self) -> Cut:
        fit = self._fit
        return Cut(fit, fit.tau, fit.leaves, fit.clusters.labels)

    @cached_property
    def _absent(self) -> Absent | None:
        """The rows of weight zero."""
        with self._passes() as passes:
            return read_absent(self._fit, passes)

    @contextmanager
    def _passes(self) -> Iterator[Passes]:
        """Yield passes over the files of the fit, whose results are not kept."""
        fit = self._fit
        check_kept(fit.passes.store)
        with closing(self._executor(self.n_samples_)) as executor:
            yield replace(fit.passes, executor=executor, keeps=False)


def _in_coordinates(
    settings: LocalSettings | KernelSettings, space: Space
) -> tuple[LocalSettings | KernelSettings, dict[tuple[str, float], float]]:
    """Turn the lengths that the user gave into distances of coordinates.

    The lengths are returned as well, because converting distances back might change last bits.
    """
    given: dict[tuple[str, float], float] = {}

    def from_user(length: float, name: str) -> float:
        distance: float = space.from_user(length, name)
        given[name, distance] = length
        return distance

    if settings.tau is not None:
        settings = replace(settings, tau=from_user(settings.tau, "tau"))
    if isinstance(settings, KernelSettings) and not isinstance(settings.bandwidth, str):
        h = from_user(settings.bandwidth, "bandwidth")
        settings = replace(settings, bandwidth=h)
    return settings, given


def _written(value: Any) -> Any:
    """Return a parameter such that equal values have the same repr, which shows every digit."""
    if value is None or isinstance(value, str):
        return value
    try:
        return np.asarray(value, dtype=np.float64).tolist()
    except (TypeError, ValueError, OverflowError):  # refused later, where it is checked
        return repr(value)
