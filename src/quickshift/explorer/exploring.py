"""explore: a result as one offline HTML page, or as a widget in a notebook."""

from __future__ import annotations  # short types in the output of `help`

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from quickshift.checks.exploring import refuse_options
from quickshift.checks.numbers import check_path
from quickshift.estimators.modal_regressor import ModalRegressor
from quickshift.estimators.pipelines import quick_shift_of
from quickshift.estimators.quick_shift import QuickShift
from quickshift.explorer.clusters import pack_clusters
from quickshift.explorer.page import page
from quickshift.explorer.pictures import pack_picture
from quickshift.explorer.regression import pack_regression
from quickshift.explorer.trees import pack_tree
from quickshift.extras import optional_import
from quickshift.files import published
from quickshift.image.forest import SegmentForest
from quickshift.stages.tree.cluster_tree import ClusterTree

if TYPE_CHECKING:
    from quickshift.explorer.widget import Explorer

__all__ = ["explore"]


def explore(
    model: QuickShift | Pipeline | ClusterTree | SegmentForest | ModalRegressor,
    path: str | Path | None = None,
    *,
    X: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    image: ArrayLike | None = None,
) -> Path | Explorer:
    """Explore a result in the browser: move a slider, and see the clusters of every cut.

    One fit holds the clusters of every tau, so the page needs neither Python nor a network to cut
    it again. It opens on the clusters of the fit. Its labels are those of
    ``labels_at`` or ``recut`` at the values that it shows, and it gives the line of Python that
    returns them.

    Parameters
    ----------
    model : QuickShift, Pipeline, ClusterTree, SegmentForest or ModalRegressor
        After `fit`. A pipeline must end with a QuickShift. A ModalRegressor must have one feature
        and one response.
    path : str or Path, optional
        The HTML file to write; it contains everything that it needs. Without it, a widget for
        notebooks is returned, which needs the extra ``explore``.
    X : array-like of shape (n_samples, n_columns), optional
        What is drawn and shown for each sample, in place of the features: for example an embedding
        in two dimensions, or the original columns of a pipeline. A data frame also gives the names
        of columns and rows. Needed for a ClusterTree, which has no points.
    names : sequence of str, optional
        Names of the columns that are drawn; of a ModalRegressor, of the feature and the response.
    image : array-like, optional
        The picture of a SegmentForest. Without it, the density of the pixels is drawn.

    Returns
    -------
    Path or Explorer
        The path that was written, or a widget with the traits ``tau``, ``selection`` and
        ``labels``.

    Examples
    --------
    >>> import tempfile
    >>> import quickshift as qs
    >>> model = qs.QuickShift().fit(qs.datasets.blobs(600, centers=4, seed=0)[0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = qs.explore(model, f"{folder}/clusters.html")
    ...     path.name, path.stat().st_size < 1e6
    ('clusters.html', True)
    """
    packed, title = _packed(model, X, names, image)
    if path is None:
        with optional_import("anywidget", "explore", "explore() without a path"):
            from quickshift.explorer.widget import Explorer

        return Explorer(packed)
    written = check_path(path)
    with published(written) as file:
        file.write(page(packed, title).encode())
    return written


def _packed(model: Any, X: Any, names: Any, image: Any) -> tuple[bytes, str]:
    """Return the payload of a model and the title of its page."""
    if isinstance(model, SegmentForest):
        refuse_options("a SegmentForest", X=X, names=names)
        return pack_picture(model, image), "Segments"
    if isinstance(model, ModalRegressor):
        refuse_options("a ModalRegressor", X=X, image=image)
        check_is_fitted(model)
        return pack_regression(model, names), "Modal regression"
    if isinstance(model, ClusterTree):
        refuse_options("a ClusterTree", image=image)
        return pack_tree(model, X, names), "Cluster tree"
    if not isinstance(model, QuickShift | Pipeline):
        raise TypeError(
            f"model is of type {type(model).__name__}, expected a fitted QuickShift or "
            f"ModalRegressor, a ClusterTree or a SegmentForest. Of a search such as GridSearchCV, "
            f"pass best_estimator_."
        )
    refuse_options("a QuickShift", image=image)
    return pack_clusters(quick_shift_of(model), X, names), "Clusters"
