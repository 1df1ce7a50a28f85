"""The summary of a clustering as a table in the terms of the command line."""

import ast
import re
from collections.abc import Sequence
from typing import Any

from quickshift.cli.report import bold, dim, keyed, table_of

__all__ = ["cluster_facts", "cluster_lines", "in_options", "option_remarks", "plain_lines"]

_SHOWN = 20  # clusters
_SHOWN_FEATURES = 3  # coordinates of a mode
_NAMED = 8  # features in the title
_LEFT_OUT = ("saddle", "joins", "share", "nearest denser")  # in this order, if lines are short
_LEGEND = {
    "row": "Row: that of the mode, the densest sample of the cluster, counted from 0.",
    "significance": "Significance: how far the density falls from the mode to the saddle, in "
    "standard errors.",
    "nearest denser": "Nearest denser: distance to the nearest mode of higher density.",
    "joins": "Joins: the cluster that would absorb this one.",
    "saddle": "Saddle: the density where the two meet, if they do.",
}
_REPRODUCE = "To reproduce: "
_RECUT = r"(?:labels_for|recut)\((?:n_clusters=)?(\d+)\)"
_EFFECT = r", which (?:splits|joins) cluster [\d,]+(?: to [\d,]+)?"
_TERMS = (
    (r'QuickShift\(scale="(\w+)"\)', r"--scale \1"),
    (r"\bstrength_", "strength"),
    (r"; see to_pandas\(\)", "; see --json"),
    (r"\b(min_significance|min_cluster_size)=", r"\1 "),
)


def cluster_facts(summary: Any, n_samples: int, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the summary of a fit for JSON.

    Parameters
    ----------
    summary : quickshift.estimators.Summary
        From ``QuickShift.summary``.
    n_samples : int
        Number of rows; the sizes of clusters are sums of weights.
    remarks : sequence of str
        The remarks, such as those of `option_remarks`.

    Returns
    -------
    dict
    """
    return {
        "n_clusters": len(summary),
        "n_samples": n_samples,
        "features": list(summary.feature_names),
        "clusters": [
            {
                "label": i,
                "row": summary.rows[i],
                "size": summary.sizes[i],
                "density": summary.densities[i],
                "significance": summary.significance[i],
                "nearest_denser": summary.nearest_denser[i],
                "joins": summary.joins[i] if summary.joins[i] >= 0 else None,
                "saddle": summary.saddles[i],
                "mode": summary.modes[i],
            }
            for i in range(len(summary))
        ],
        "remarks": list(remarks),
    }


def cluster_lines(
    summary: Any, n_samples: int, width: int, remarks: Sequence[str] = ()
) -> list[Any]:
    """Return the summary of a fit as texts and tables of rich.

    Parameters
    ----------
    summary : quickshift.estimators.Summary
        From ``QuickShift.summary``.
    n_samples : int
        Number of rows.
    width : int
        Number of characters per line; with few, some columns are left out.
    remarks : sequence of str
        The remarks, such as those of `option_remarks`.

    Returns
    -------
    list
    """
    title = _title(len(summary), n_samples, summary.feature_names)
    columns = _columns(summary)
    for name in _LEFT_OUT:
        if _width(columns) > width:
            del columns[name]
    legend = " ".join(text for name, text in _LEGEND.items() if name in columns)
    return [title, "", table_of(columns), "", dim(legend), "", keyed(remarks)]


def plain_lines(facts: dict[str, Any], remarks: Sequence[str]) -> list[Any]:
    """Return clusters without a summary of the library as texts and tables of rich.

    Parameters
    ----------
    facts : dict
        Facts as `cluster_facts` returns them, with fewer columns.
    remarks : sequence of str
        The remarks.

    Returns
    -------
    list
    """
    clusters = facts["clusters"][:_SHOWN]
    total = sum(c["size"] for c in facts["clusters"])
    columns = {
        "label": [str(c["label"]) for c in clusters],
        "row": [str(c["row"]) for c in clusters],
        "size": [f"{c['size']:.10g}" for c in clusters],
        "share": [f"{c['size'] / total:.1%}" for c in clusters],
        "density": [f"{c['density']:.3g}" for c in clusters],
        "significance": [f"{c['significance']:.3g}" for c in clusters],
        "mode": [_point(c["mode"]) for c in clusters],
    }
    more = len(facts["clusters"]) - len(clusters)
    hidden = [f"Not shown: {more} more clusters; see --json."] if more else []
    title = _title(len(facts["clusters"]), facts["n_samples"], facts["features"])
    return [title, "", table_of(columns), "", keyed([*hidden, *remarks])]


def _title(n_clusters: int, n_samples: int, names: Sequence[str]) -> Any:
    count = "1 cluster" if n_clusters == 1 else f"{n_clusters} clusters"
    named = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    return bold(f"{count} of {n_samples} samples by {named}")


def _width(columns: dict[str, list[str]]) -> int:
    """Return the number of characters of a table."""
    return sum(max(map(len, [name, *cells])) + 2 for name, cells in columns.items())


def _columns(summary: Any) -> dict[str, list[str]]:
    total, shown = summary.sizes.sum(), range(min(len(summary), _SHOWN))
    return {
        "label": [str(i) for i in shown],
        "row": [str(summary.rows[i]) for i in shown],
        "size": [f"{summary.sizes[i]:.10g}" for i in shown],
        "share": [f"{summary.sizes[i] / total:.1%}" for i in shown],
        "density": [f"{summary.densities[i]:.3g}" for i in shown],
        "significance": [f"{summary.significance[i]:.3g}" for i in shown],
        "nearest denser": [_length(summary.nearest_denser[i]) for i in shown],
        "joins": ["–" if summary.joins[i] < 0 else str(summary.joins[i]) for i in shown],
        "saddle": ["–" if summary.saddles[i] == 0 else f"{summary.saddles[i]:.3g}" for i in shown],
        "mode": [_point(summary.modes[i]) for i in shown],
    }


def _length(value: float) -> str:
    return "–" if value == float("inf") else f"{value:.3g}"


def _point(coordinates: Sequence[float]) -> str:
    shown = ", ".join(f"{value:.3g}" for value in coordinates[:_SHOWN_FEATURES])
    return f"{shown}, …" if len(coordinates) > _SHOWN_FEATURES else shown


def option_remarks(summary: Any, model: Any) -> list[str]:
    """Return the remarks of a summary with options in place of calls.

    A recut keeps the density of the fit, but a new fit with ``--n-clusters`` alone would use the
    default number of neighbors. Unless that is the one of this fit, it is given as well. After
    ``--tau``, a new fit has other modes than a recut, so nothing is said on the clusters that it
    splits or joins.

    Parameters
    ----------
    summary : quickshift.estimators.Summary
        From ``QuickShift.summary``.
    model : quickshift.QuickShift
        The fit.

    Returns
    -------
    list of str
    """
    from quickshift.stages.local_scale import default_neighbors

    n_neighbors = getattr(model, "n_neighbors_", None)  # of a local scale only
    usual = n_neighbors in (None, default_neighbors(float(summary.sizes.sum())))
    also = "" if usual else f"--n-neighbors {n_neighbors} "
    automatic = {"--tau": model.tau, "--min-significance": model.min_significance}
    given = [option for option, value in automatic.items() if value != "auto"]
    instead = f" in place of {' and '.join(given)}" if given else ""
    remarks = [in_options(text, also, instead) for text in summary.remarks]
    return remarks if model.tau == "auto" else [re.sub(_EFFECT, "", text) for text in remarks]


def in_options(text: str, also: str = "", instead: str = "") -> str:
    """Return a sentence of the library with options in place of calls.

    Parameters
    ----------
    text : str
        A remark of a summary.
    also, instead : str
        What stands before and after ``--n-clusters``: further options, and those that it replaces.

    Returns
    -------
    str

    Examples
    --------
    >>> in_options("One cluster more: recut(n_clusters=7).")
    'One cluster more: --n-clusters 7.'
    >>> in_options("labels_for(3) splits off this cluster.", also="--n-neighbors 18 ")
    '--n-neighbors 18 --n-clusters 3 splits off this cluster.'
    >>> in_options("To reproduce: QuickShift(bandwidth=0.5, tau=numpy.inf).fit(X)")
    'To reproduce: --bandwidth 0.5 --tau inf'
    """
    if text.startswith(_REPRODUCE):
        return _REPRODUCE + _as_options(text.removeprefix(_REPRODUCE))
    text = re.sub(_RECUT, rf"{also}--n-clusters \1{instead}", text)
    for pattern, replacement in _TERMS:
        text = re.sub(pattern, replacement, text)
    return text


def _as_options(code: str) -> str:
    """Return the call of an estimator as options."""
    call = ast.parse(code, mode="eval").body
    calls = [node for node in ast.walk(call) if isinstance(node, ast.Call)]
    made = next(node for node in calls if isinstance(node.func, ast.Name))
    return " ".join(
        f"--{(keyword.arg or '').replace('_', '-')} {_typed(keyword.value)}"
        for keyword in made.keywords
    )


def _typed(node: ast.AST) -> str:
    """Return a literal as it is typed on a command line."""
    if isinstance(node, ast.List):
        return ",".join(_typed(item) for item in node.elts)
    if isinstance(node, ast.Attribute):  # numpy.inf
        return node.attr
    return str(ast.literal_eval(node))
