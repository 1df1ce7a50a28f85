"""Clusters of data larger than memory: the fit of `quickshift.distributed` for one table."""

import inspect
from pathlib import Path
from typing import Any

from quickshift.cli.files.batches import Spooled, cluster_sizes, rough_size
from quickshift.cli.files.tables import Source
from quickshift.cli.outcome import CommandError, UsageError, raise_if_interrupted
from quickshift.memory import available_memory, local_fit_bytes

__all__ = ["does_not_fit", "fit_partitions", "partition_facts", "partition_remarks"]

_TABLES = 3  # copies of the table that are in memory beside the fit


def does_not_fit(source: Source) -> bool:
    """Return whether a table is too large for a fit in memory, as far as that can be told.

    Parameters
    ----------
    source : Source
        The table.

    Returns
    -------
    bool
    """
    size = rough_size(source)
    if size is None or not all(size):
        return False
    n_rows, n_columns = size
    fit = local_fit_bytes(n_rows, n_columns, None, links=True)
    return fit + _TABLES * 8 * n_rows * n_columns > available_memory()


def fit_partitions(
    spooled: Spooled,
    parameters: dict[str, Any],
    memory: int | None,
    folder: Path,
    *,
    quiet: bool = False,
) -> Any:
    """Fit `quickshift.distributed.QuickShift`.

    Parameters
    ----------
    spooled : Spooled
        The table.
    parameters : dict
        Parameters of `quickshift.QuickShift`; None leaves one at its default.
    memory : int or None
        Bytes that the fit may use; None for half of what is available.
    folder : Path
        Where the files of the run are written.
    quiet : bool
        Whether no bar is shown, which is otherwise shown on a terminal.

    Returns
    -------
    quickshift.distributed.QuickShift
    """
    from quickshift.distributed import QuickShift

    given = {name: value for name, value in parameters.items() if value is not None}
    unknown = sorted(set(given) - set(inspect.signature(QuickShift).parameters))
    if unknown:
        option = unknown[0].replace("_", "-")
        raise UsageError(f"--{option} is not available for a fit in parts. Leave it out.")
    if quiet:
        given["progress"] = _ignore
    if memory is not None:
        given["memory_limit"] = memory
    model = QuickShift(**given, directory=folder / "run")
    raise_if_interrupted()
    try:
        return model.fit(str(spooled.path), columns=spooled.names, weight_column=spooled.weights)
    except ValueError as error:
        raise CommandError(str(error).replace(str(spooled.path), spooled.source)) from error


def _ignore(name: str, done: float) -> None:
    """Receive reports of progress, and show nothing."""


def partition_facts(model: Any, spooled: Spooled) -> dict[str, Any]:
    """Return the summary of a fit in parts for JSON.

    Parameters
    ----------
    model : quickshift.distributed.QuickShift
        The fit.
    spooled : Spooled
        The table.

    Returns
    -------
    dict
    """
    sizes = cluster_sizes(spooled, model.labels_, model.n_clusters_)
    significance = model.significance_
    return {
        "n_clusters": model.n_clusters_,
        "n_samples": model.n_samples_,
        "features": spooled.names,
        "clusters": [
            {
                "label": i,
                "row": model.mode_indices_[i],
                "size": sizes[i],
                "density": model.mode_densities_[i],
                "significance": significance[i],
                "mode": model.modes_[i],
            }
            for i in range(model.n_clusters_)
        ],
        "n_partitions": model.n_partitions_,
        "n_dropped": spooled.n_dropped,
    }


def partition_remarks(model: Any, spooled: Spooled) -> list[str]:
    """Return remarks on a fit in parts.

    Parameters
    ----------
    model : quickshift.distributed.QuickShift
        The fit.
    spooled : Spooled
        The table.

    Returns
    -------
    list of str
    """
    count = "1 part" if model.n_partitions_ == 1 else f"{model.n_partitions_} parts"
    remarks = [f"Fitted: in {count} of space; the clusters are those of a fit in memory."]
    if hasattr(model, "n_neighbors_"):
        remarks.append(f"Density: from the mean distance to the {model.n_neighbors_} nearest rows.")
    else:
        remarks.append(f"Density: bandwidth {model.bandwidth_:.4g}, tau {model.tau_:.4g}.")
    if spooled.n_dropped:
        remarks.append(f"Dropped: {spooled.n_dropped} rows with missing values.")
    return remarks
