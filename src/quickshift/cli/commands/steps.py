"""Steps that several commands share: parameters of the estimator, tables, remarks."""

from typing import Any

from quickshift.cli import options
from quickshift.cli.files.formats import check_uncompressed, format_of
from quickshift.cli.files.outputs import STANDARD, check_target
from quickshift.cli.outcome import raise_if_interrupted
from quickshift.cli.values import lengths, number_or_word, whole_or_word

__all__ = [
    "checked_format",
    "estimator_parameters",
    "fit_quick_shift",
    "numbered",
    "read_features",
    "written",
]


def estimator_parameters(
    *,
    bandwidth: str,
    tau: str,
    kernel: options.KernelChoice,
    n_neighbors: str,
    metric: options.MetricChoice,
    period: str | None,
    scale: options.ScaleChoice,
    n_clusters: int | None = None,
    min_significance: str = "auto",
) -> dict[str, Any]:
    """Return the parameters of `quickshift.QuickShift` from the texts that were typed."""
    return {
        "bandwidth": number_or_word(bandwidth),
        "tau": number_or_word(tau),
        "kernel": kernel.value,
        "n_neighbors": whole_or_word(n_neighbors),
        "n_clusters": n_clusters,
        "min_significance": number_or_word(min_significance),
        "metric": metric.value,
        "period": lengths(period),
        "scale": None if scale.value == "none" else scale.value,
    }


def read_features(source: Any, **rows: Any) -> Any:
    """Read a table and pick its features, by the arguments of ``pick_features``."""
    from quickshift.cli.files.features import pick_features
    from quickshift.cli.files.tables import read_table

    return pick_features(read_table(source, rows), **rows)


def numbered(n_dropped: int, where: str = "") -> list[str]:
    """Return a remark on the numbers of rows, if some were dropped."""
    text = f"Row numbers: counted without the rows that were dropped{where}."
    return [text] if n_dropped else []


def fit_quick_shift(features: Any, parameters: dict[str, Any], *, progress: bool) -> Any:
    """Fit the estimator of the library, with a bar if the fit takes long."""
    import quickshift
    from quickshift.cli.files.tables import release_memory

    release_memory()
    model = quickshift.QuickShift(**parameters, verbose=int(progress))
    raise_if_interrupted()
    return model.fit(features.X, sample_weight=features.weights)


def checked_format(output: str | None, given: Any, *, force: bool) -> str | None:
    """Return the format of an output, after checking that it can be written."""
    if output is None:
        return None
    check_uncompressed(output)
    check_target(output, force=force)
    return format_of(output, given, "--to")


def written(output: str | None, what: str) -> list[str]:
    """Return a remark that names the file that was written, if there is one."""
    return [] if output in (None, STANDARD) else [f"Written: {output}, {what}"]
