"""Write src/quickshift/plot/color_table.py: 256 colors that are distinct in order.

Colors are chosen one by one, each as far as possible from all colors before it (farthest-first
traversal), in OKLab, where equal distances look about equally large. Every color exists in two
variants of the same hue, for light and for dark backgrounds, and the distance between two colors is
the smaller one of the two variants. Color vision deficiency counts as well:

- The first eight colors are saturated, and far apart for normal vision and for complete protan,
  deutan and tritan deficiency alike. They are improved by exchanges until none helps.
- After that, normal vision decides more than the deficiencies do, because nobody with a deficiency
  can tell 256 colors apart.

OKLab is from B. Ottosson, "A perceptual color space for image processing", 2020. The deficiencies
are simulated by the matrices (severity 1, linear RGB) of G. M. Machado, M. M. Oliveira and L. A. F.
Fernandes, "A physiologically-based model for simulation of color vision deficiency", IEEE TVCG
15(6), 2009. The script takes about ten seconds and always gives the same result.
"""

from pathlib import Path

import numpy as np

TABLE = Path(__file__).parents[1] / "src/quickshift/plot/color_table.py"
N_COLORS, N_SAFE = 256, 8
LIGHTNESS = 0.36, 0.73  # OKLab lightness of the variants for light backgrounds
LIGHTER = 0.19  # how much lighter the variants for dark backgrounds are
LEAST_CHROMA = 0.07  # less than this looks gray, and gray is for samples without a color
SATURATED = 0.12  # least chroma of the first eight colors
# Factors on distances under a deficiency, for the first eight colors and for the others.
LENIENCE_FIRST, LENIENCE = 1.5, 3.0
FIRST_HUE = 255.0  # the first color is the blue nearest to this hue, in degrees

TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
DEFICIENCIES = {
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def linear_of_hex(colors: list[str]) -> np.ndarray:
    """Return linear RGB of colors such as "#1f77b4", shape (n, 3)."""
    bytes_ = np.array([[int(color[i : i + 2], 16) for i in (1, 3, 5)] for color in colors])
    encoded = bytes_ / 255
    return np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)


def hex_of_linear(linear: np.ndarray) -> list[str]:
    """Return colors as hex strings."""
    clipped = np.clip(linear, 0, 1)
    encoded = np.where(clipped <= 0.0031308, 12.92 * clipped, 1.055 * clipped ** (1 / 2.4) - 0.055)
    return ["#{:02x}{:02x}{:02x}".format(*row) for row in np.rint(255 * encoded).astype(int)]


def oklab(linear: np.ndarray) -> np.ndarray:
    """Return OKLab coordinates of linear RGB."""
    return np.cbrt(np.clip(linear, 0, 1) @ TO_LMS.T) @ TO_LAB.T


def linear_of_oklab(lab: np.ndarray) -> np.ndarray:
    """Return linear RGB, which is outside [0, 1] for colors that no screen shows."""
    return (lab @ np.linalg.inv(TO_LAB).T) ** 3 @ np.linalg.inv(TO_LMS).T


def seen(linear: np.ndarray) -> dict[str, np.ndarray]:
    """Return OKLab coordinates as seen with normal vision and with each deficiency."""
    simulated = {name: oklab(linear @ matrix.T) for name, matrix in DEFICIENCIES.items()}
    return {"normal": oklab(linear), **simulated}


def candidates() -> tuple[np.ndarray, np.ndarray]:
    """Return linear RGB of colors for light backgrounds, and of their variants for dark ones."""
    lightness, chroma, hue = (
        grid.reshape(-1)
        for grid in np.meshgrid(
            np.linspace(*LIGHTNESS, 18),
            np.arange(LEAST_CHROMA, 0.33, 0.015),
            np.deg2rad(np.arange(0, 360, 5)),
            indexing="ij",
        )
    )
    circle = np.column_stack([np.cos(hue), np.sin(hue)])
    light = linear_of_oklab(np.column_stack([lightness, chroma[:, None] * circle]))
    inside = ((light >= 0) & (light <= 1)).all(axis=1)
    lightness, chroma, circle = lightness[inside] + LIGHTER, chroma[inside], circle[inside]
    for _ in range(60):  # make the lighter variants paler until a screen can show them
        dark = linear_of_oklab(np.column_stack([lightness, chroma[:, None] * circle]))
        outside = ((dark < 0) | (dark > 1)).any(axis=1)
        chroma = np.where(outside, 0.97 * chroma, chroma)
    return light[inside][~outside], dark[~outside]


def distances(views: list[np.ndarray], one: int) -> np.ndarray:
    """Return the least distance, over all views, of every candidate to one of them."""
    return np.min([np.linalg.norm(view - view[one], axis=1) for view in views], axis=0)


def farthest_first(views: list[np.ndarray], chosen: list[int], count: int) -> list[int]:
    """Extend a choice of candidates one by one, each as far as possible from those before."""
    chosen = list(chosen)
    nearest = np.min([distances(views, one) for one in chosen], axis=0)
    while len(chosen) < count:
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, distances(views, chosen[-1]))
    return chosen


def exchanged(views: list[np.ndarray], chosen: list[int]) -> list[int]:
    """Replace colors after the first as long as that increases their distance to the others."""
    chosen, improved = list(chosen), True
    while improved:
        improved = False
        for place in range(1, len(chosen)):
            others = chosen[:place] + chosen[place + 1 :]
            nearest = np.min([distances(views, other) for other in others], axis=0)
            best = int(np.argmax(nearest))
            if nearest[best] > nearest[chosen[place]] + 1e-9:
                chosen[place], improved = best, True
    return chosen


def choose(light: np.ndarray, dark: np.ndarray) -> list[int]:
    """Choose candidates as described at the top of this file."""
    in_light, in_dark = seen(light), seen(dark)
    _, a, b = in_light["normal"].T
    saturated = np.flatnonzero(np.hypot(a, b) >= SATURATED)
    strict = [view[saturated] for view in weighed(in_light, in_dark, LENIENCE_FIRST)]
    hue = np.angle((a + 1j * b)[saturated] * np.exp(-1j * np.deg2rad(FIRST_HUE)), deg=True)
    first = int(np.argmax(np.where(np.abs(hue) <= 2.6, np.hypot(a, b)[saturated], 0)))
    safe = exchanged(strict, farthest_first(strict, [first], N_SAFE))
    # The same eight colors, again farthest first, so that the first few are the most distinct.
    order = farthest_first([view[safe] for view in strict], [0], N_SAFE)
    lenient = weighed(in_light, in_dark, LENIENCE)
    return farthest_first(lenient, [int(saturated[safe[i]]) for i in order], N_COLORS)


def weighed(
    in_light: dict[str, np.ndarray], in_dark: dict[str, np.ndarray], lenience: float
) -> list[np.ndarray]:
    """Return all views, with distances under a deficiency multiplied by a factor."""
    return [
        (1.0 if vision == "normal" else lenience) * view
        for views in (in_light, in_dark)
        for vision, view in views.items()
    ]


def written(name: str, colors: list[str]) -> str:
    """Return Python source of a tuple of colors."""
    rows = [colors[i : i + 8] for i in range(0, len(colors), 8)]
    lines = "\n".join("    " + ", ".join(f'"{color}"' for color in row) + "," for row in rows)
    return f"{name} = (\n{lines}\n)\n"


def main() -> None:
    """Choose the colors, write the table and print the smallest distances."""
    light, dark = candidates()
    chosen = choose(light, dark)
    tables = {"LIGHT": hex_of_linear(light[chosen]), "DARK": hex_of_linear(dark[chosen])}
    comment = (
        "# fmt: off\n# Eight colors per line; the first line is safe for color-blind readers.\n"
    )
    docstring = '"""The colors of labels, written by scripts/make_palette.py."""\n\n'
    exported = '__all__ = ["DARK", "LIGHT"]\n\n'
    body = "\n".join(written(name, colors) for name, colors in tables.items())
    TABLE.write_text(docstring + exported + comment + body, encoding="utf-8")
    for name, colors in tables.items():
        for count in (2, 4, N_SAFE, 16, 32, 64, 128, N_COLORS):
            least = least_distances(colors[:count])
            print(name, count, {vision: round(value, 3) for vision, value in least.items()})


def least_distances(colors: list[str]) -> dict[str, float]:
    """Return the smallest distance between two of some colors, for each kind of vision."""
    found = {}
    for vision, view in seen(linear_of_hex(colors)).items():
        apart = np.linalg.norm(view[:, None] - view[None], axis=2)
        found[vision] = float(apart[np.triu_indices(len(colors), 1)].min())
    return found


if __name__ == "__main__":
    main()
