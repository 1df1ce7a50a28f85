"""Why a fit has k clusters: one row per cluster, what was not kept, what was chosen, hints."""

import html
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quickshift.arrays import Floats, Indices
from quickshift.bundles import counted, grouped
from quickshift.extras import optional_import

if TYPE_CHECKING:
    import pandas

__all__ = ["Candidate", "Summary"]

_SHOWN_CLUSTERS = 20
_SHOWN_FEATURES = 3
_LINE = 100  # characters per line
REPRODUCE = "To reproduce: "  # begins the line with the code that gives the same clusters
_HEADER = (
    "cluster",
    "row",
    "size",
    "share",
    "density",
    "significance",
    "nearest denser",
    "joins",
    "saddle",
    "mode",
)
_LEGEND = (
    "Row: that of the mode, the densest sample of the cluster. Significance: how far the log "
    "density falls from the mode to the saddle, in standard errors; if the clusters do not meet, "
    "to the lowest point on the way to a denser one; inf for the densest mode. Nearest denser: "
    "distance to the nearest mode of higher density. Joins: the cluster that would absorb this "
    "one. Saddle: the density where the two meet, if they do."
)


@dataclass(frozen=True)
class Candidate:
    """A mode that did not become a cluster.

    Attributes
    ----------
    row : int
        Row of the mode.
    cluster : int
        The cluster that it is in.
    size : float
        Number of samples (total weight) that its own cluster would have.
    significance : float
        Its significance.
    n_clusters : int
        ``recut(n_clusters=n_clusters)`` splits it off.
    reason : str
        Why it was not kept.
    """

    row: int
    cluster: int
    size: float
    significance: float
    n_clusters: int
    reason: str

    @property
    def sentence(self) -> str:
        """The candidate in words."""
        return (
            f"{counted(self.size, 'sample')} of cluster {self.cluster} around row {self.row}: "
            f"significance {self.significance:.3g}, {self.reason}. "
            f"recut(n_clusters={self.n_clusters}) splits off this cluster."
        )


@dataclass(frozen=True)
class Summary:
    """The clusters of a fit, and why there are that many.

    ``print`` shows it as text, notebooks as a table; `to_pandas` returns the table of clusters.

    Attributes
    ----------
    rows : ndarray of shape (n_clusters,)
        Row of each cluster's mode, its densest sample.
    sizes : ndarray of shape (n_clusters,)
        Number of samples (total weight) per cluster.
    modes : ndarray of shape (n_clusters, n_features)
        Coordinates of the modes.
    densities : ndarray of shape (n_clusters,)
        Density at the modes.
    significance : ndarray of shape (n_clusters,)
        Prominence of the modes in standard errors.
    nearest_denser : ndarray of shape (n_clusters,)
        Distance from each mode to the nearest higher mode; infinite for the highest.
    joins : ndarray of shape (n_clusters,)
        The cluster that takes the samples if the mode is merged; -1 for none.
    saddles : ndarray of shape (n_clusters,)
        Density of the saddle to that cluster; 0 if they do not meet.
    candidates : list of Candidate
        The most significant modes that were not kept, at most three.
    n_more : int
        Number of further modes that were not kept.
    chosen : list of str
        What was chosen: the density, tau, the threshold, and how to get other clusters.
    hints : list of str
        What may be wrong with the data, and what to do about it.
    feature_names : list of str
        Names of the features.
    """

    rows: Indices
    sizes: Floats
    modes: Floats
    densities: Floats
    significance: Floats
    nearest_denser: Floats
    joins: Indices
    saddles: Floats
    candidates: list[Candidate]
    n_more: int
    chosen: list[str]
    hints: list[str]
    feature_names: list[str]

    def __len__(self) -> int:
        return self.sizes.size

    def to_pandas(self) -> "pandas.DataFrame":
        """Return one row per cluster.

        Returns
        -------
        pandas.DataFrame
            The columns of the table, and one column per feature with the coordinates of the mode.
        """
        with optional_import("pandas", "io", "to_pandas()"):
            import pandas

        columns: dict[str, Any] = {
            "row": self.rows,
            "size": self.sizes,
            "share": self.sizes / self.sizes.sum(),
            "density": self.densities,
            "significance": self.significance,
            "nearest_denser": self.nearest_denser,
            "joins": self.joins,
            "saddle": self.saddles,
        }
        modes = {f"mode_{name}": self.modes[:, i] for i, name in enumerate(self.feature_names)}
        index = pandas.RangeIndex(len(self), name="label")
        return pandas.DataFrame({**columns, **modes}, index=index)

    def __repr__(self) -> str:
        cells = [_HEADER, *self._rows()]
        widths = [max(len(row[i]) for row in cells) for i in range(len(_HEADER) - 1)]
        lines = [
            "  ".join([*(text.rjust(w) for text, w in zip(row, widths, strict=False)), row[-1]])
            for row in cells
        ]
        remarks = [_wrapped(text) for text in self.remarks]
        return "\n".join(
            [self._title(), "", *lines, "", textwrap.fill(_LEGEND, _LINE), "", *remarks]
        )

    def _repr_html_(self) -> str:
        def line(cells: tuple[str, ...], tag: str) -> str:
            inside = "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in cells)
            return f"<tr>{inside}</tr>"

        body = "".join(line(row, "td") for row in self._rows())
        remarks = "".join(f"<li>{html.escape(text)}</li>" for text in self.remarks)
        return (
            f"<p>{html.escape(self._title())}</p><table><thead>{line(_HEADER, 'th')}</thead>"
            f"<tbody>{body}</tbody></table><p>{_LEGEND}</p><ul>{remarks}</ul>"
        )

    def _title(self) -> str:
        samples = counted(self.sizes.sum(), "sample")
        features = counted(self.modes.shape[1], "feature")
        return f"{counted(len(self), 'cluster')} of {samples} with {features}"

    def _rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the table; of many clusters, the first ones."""
        total = self.sizes.sum()
        return [
            (
                str(i),
                str(self.rows[i]),
                grouped(self.sizes[i]),
                f"{self.sizes[i] / total:.1%}",
                f"{self.densities[i]:.3g}",
                f"{self.significance[i]:.3g}",
                "none" if np.isinf(self.nearest_denser[i]) else f"{self.nearest_denser[i]:.3g}",
                "none" if self.joins[i] < 0 else str(self.joins[i]),
                self._saddle(i),
                _point(self.modes[i]),
            )
            for i in range(min(len(self), _SHOWN_CLUSTERS))
        ]

    def _saddle(self, i: int) -> str:
        return "none" if self.saddles[i] == 0 else f"{self.saddles[i]:.3g}"

    @property
    def remarks(self) -> list[str]:
        """The lines below the table."""
        more = len(self) - _SHOWN_CLUSTERS
        return [
            *([f"Not shown: {counted(more, 'cluster')}; see to_pandas()."] if more > 0 else []),
            *(f"Not split off: {candidate.sentence}" for candidate in self.candidates),
            *([f"Not split off: {counted(self.n_more, 'weaker mode')}."] if self.n_more else []),
            *self.chosen,
            *(f"Hint: {hint}" for hint in self.hints),
        ]


def _wrapped(text: str) -> str:
    """Break a sentence into lines; code to copy stays on one."""
    if text.startswith(REPRODUCE):
        return text
    return textwrap.fill(text, _LINE, subsequent_indent="    ", break_long_words=False)


def _point(coordinates: Floats) -> str:
    """Return the first coordinates of a point."""
    shown = ", ".join(f"{value:.3g}" for value in coordinates[:_SHOWN_FEATURES])
    return f"({shown}, …)" if coordinates.size > _SHOWN_FEATURES else f"({shown})"
