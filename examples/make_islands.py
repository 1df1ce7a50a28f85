"""Make ``data/islands.csv``, the points of the demo: six clusters of different shapes.

Run it only to change the data. The file is committed, so the demo does not need this script.
"""

from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "data" / "islands.csv"


def islands(seed: int = 20) -> np.ndarray:
    """Return 1500 points in the plane, in random order."""
    rng = np.random.default_rng(seed)

    def island(n: int, center: tuple[float, float], *axes: tuple[float, float]) -> np.ndarray:
        return np.array(center) + rng.normal(size=(n, 2)) @ np.array(axes)

    bend = rng.normal(np.pi / 2, 0.55, 330)
    parts = [
        island(420, (-4.6, -1.4), (0.75, 0.0), (0.0, 0.75)),  # large and round
        island(330, (0.0, 1.2), (0.24, 0.0), (0.0, 0.24))  # bent into a crescent
        + 3 * np.column_stack([np.cos(bend), np.sin(bend)]),
        island(140, (0.1, 1.0), (0.24, 0.0), (0.0, 0.24)),  # small and dense, inside the bend
        island(270, (1.3, -3.2), (1.35, 0.62), (0.0, 0.26)),  # long and slanted
        island(210, (6.6, 1.6), (0.95, 0.0), (0.0, 0.95)),  # wide and sparse
        island(130, (4.9, -1.9), (0.34, 0.0), (0.0, 0.34)),  # small, near the tip of the long one
    ]
    points = np.concatenate(parts)
    return points[rng.permutation(len(points))]


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    np.savetxt(FILE, islands(), fmt="%.3f", delimiter=",", header="x,y", comments="")
