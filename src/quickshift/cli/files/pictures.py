"""Pictures in files: PNG, JPEG, plain TIFF and NPY, by Pillow and NumPy."""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickshift.arrays import Flags, Numbers
from quickshift.cli.files.arrays import NpyFile
from quickshift.cli.files.formats import check_input, picture_format_of
from quickshift.cli.files.outputs import opened_output
from quickshift.cli.outcome import CommandError
from quickshift.extras import optional_import
from quickshift.memory import available_memory, segment_bytes

__all__ = ["Georeference", "Picture", "read_picture", "write_picture"]

_GEO_KEYS = 34735  # the TIFF tag of a coordinate system
_GRAY_16 = ("I;16", "I")  # how Pillow holds a gray PNG of 16 bits
_PLAIN = ("L", "RGB", "I;16", "I", "F")  # modes whose arrays are what `segment` takes


@dataclass(frozen=True)
class Georeference:
    """Where a raster lies.

    Attributes
    ----------
    crs : str or None
        Its coordinate system as WKT.
    transform : affine.Affine
        Coordinates of the corners of pixels.
    """

    crs: str | None
    transform: Any


@dataclass(frozen=True)
class Picture:
    """A picture to be segmented.

    Attributes
    ----------
    image : ndarray or object that is sliced like one
        The colors, with the channels last.
    mask : ndarray, object that is sliced like one, or None
        True for the pixels that belong to the picture.
    fits : bool
        Whether the picture can be segmented as a whole.
    georeference : Georeference or None
        Where it lies; None for a picture that is no raster.
    """

    image: Any
    mask: Any
    fits: bool
    georeference: Georeference | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and columns."""
        return tuple(self.image.shape[:2])

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return math.prod(self.image.shape[2:])


def read_picture(path: str, max_pixels: int) -> Picture:
    """Read a picture; parts of an .npy file are read when they are needed.

    Parameters
    ----------
    path : str
        The file.
    max_pixels : int
        Most pixels that a picture may declare: a small file can decode to any size. Arrays are not
        decoded, so there is no limit for them.

    Returns
    -------
    Picture
    """
    check_input(path)
    try:
        if picture_format_of(path) == "npy":
            image: Any = NpyFile(path)
            mask = None
            if len(image.shape) not in (2, 3):
                raise ValueError(f"it has shape {image.shape}, expected rows, columns, channels")
        else:
            image, mask = _read_by_pillow(path, max_pixels)
    except (ValueError, OSError, SyntaxError, EOFError) as error:  # Pillow raises all of these
        hint = "Check that it is complete, or convert it."
        raise CommandError(f"{path} cannot be read as a picture: {error}. {hint}") from error
    needed = segment_bytes(math.prod(image.shape[:2]), math.prod(image.shape[2:]))
    return Picture(image, mask, needed <= available_memory())


def write_picture(labels: Numbers, target: str, *, force: bool) -> None:
    """Write labels as an .npy file, or as a gray picture if they are few enough.

    Parameters
    ----------
    labels : ndarray of shape (n_rows, n_columns)
        The labels, not negative unless the file is an .npy file.
    target : str
        Path of the file.
    force : bool
        Whether an existing file may be overwritten.
    """
    if picture_format_of(target) == "npy":
        with opened_output(target, force=force) as file:
            np.lib.format.write_array(file, labels, allow_pickle=False)
        return
    largest = int(labels.max())
    if largest > np.iinfo(np.uint16).max:
        raise CommandError(
            f"there are {largest} segments, but a .png file can number 65535 at most. Write .npy "
            f"or .tif, or raise --tau to get fewer segments."
        )
    with _pillow() as pillow, opened_output(target, force=force) as file:
        small = largest <= np.iinfo(np.uint8).max
        image = pillow.fromarray(labels.astype(np.uint8 if small else np.uint16))
        image.save(file, format="PNG")


def _read_by_pillow(path: str, max_pixels: int) -> tuple[Numbers, Flags | None]:
    """Return the colors, and where the picture is not transparent."""
    with _pillow() as pillow, pillow.open(path) as opened:
        _check_size(opened, max_pixels)
        if opened.format == "TIFF" and _GEO_KEYS in opened.tag_v2:
            raise CommandError(
                f"{path} is georeferenced, but rasterio cannot be imported. Install it by: pip "
                f"install quickshift[geo]"
            )
        alpha = None
        if opened.mode in _GRAY_16 and "transparency" in opened.info:
            image = opened
            alpha = np.asarray(opened) != opened.info["transparency"]
        elif _is_transparent_rgb_16(opened):
            alpha = _differs_in_16_bits(pillow, path, opened)
            image = opened
        elif "A" in opened.getbands() or "transparency" in opened.info:
            image = opened.convert("RGBA")
            alpha = np.asarray(image.getchannel("A")) > 0
            gray = opened.mode in ("L", "LA", "1")
            image = image.convert("L" if gray else "RGB")
        elif opened.mode in _PLAIN:
            image = opened
        else:
            image = opened.convert("L" if opened.mode == "1" else "RGB")
        colors = np.array(image)
        if opened.format == "PNG" and colors.dtype == np.int32:  # how Pillow holds 16 bits
            colors = colors.astype(np.uint16)
    return colors, None if alpha is None or alpha.all() else alpha


def _is_transparent_rgb_16(opened: Any) -> bool:
    """Return whether one color of a PNG file with three channels of 16 bits is transparent."""
    tiles = [tile[3] for tile in opened.tile]
    return "transparency" in opened.info and tiles == ["RGB;16B"]


def _differs_in_16_bits(pillow: Any, path: str, opened: Any) -> Flags:
    """Return where the colors of a PNG file are not the transparent one, in all 16 bits.

    Pillow keeps the high bytes only. It returns the low bytes if it is told that the bytes are in
    the opposite order.
    """
    with pillow.open(path) as again:
        again.tile = [(*again.tile[0][:3], "RGB;16L")]
        low = np.asarray(again).astype(np.uint16)
    color = np.asarray(opened).astype(np.uint16) * 256 + low
    return np.asarray((color != opened.info["transparency"]).any(axis=-1))


def _check_size(opened: Any, max_pixels: int) -> None:
    """Raise before a picture is decoded that is too large, or cannot be held in memory."""
    n_channels = len(opened.getbands())
    n_pixels = opened.width * opened.height
    if n_pixels > max_pixels:
        raise CommandError(
            f"a picture of {opened.width} x {opened.height} pixels has more than the {max_pixels} "
            f"of --max-pixels. If you trust the file, raise the limit: --max-pixels {n_pixels}"
        )
    needed = segment_bytes(n_pixels, n_channels) + n_pixels * n_channels
    if needed > available_memory():
        raise CommandError(
            f"a picture of {opened.width} x {opened.height} pixels needs {needed / 1e9:.1f} GB, "
            f"more than the available memory. Convert it to .npy or, with the extra geo, to .tif, "
            f"which are read in parts."
        )


@contextmanager
def _pillow() -> Iterator[Any]:
    """Yield Pillow's module of images, without its own limit on sizes: `_check_size` has one."""
    with optional_import("Pillow", "cli", "a picture"):
        from PIL import Image

    limit = Image.MAX_IMAGE_PIXELS
    Image.MAX_IMAGE_PIXELS = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about metadata that are not used
            yield Image
    finally:
        Image.MAX_IMAGE_PIXELS = limit
