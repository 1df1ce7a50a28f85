"""Tasks for one tile of a picture: densities, parents, and the paths inside the tile."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from quickshift import _core
from quickshift.arrays import Floats, Indices
from quickshift.distributed.pictures import FileArray, TiledArray
from quickshift.image.pixels import PixelSettings
from quickshift.image.tile_steps import (
    Box,
    TileSearch,
    TileSource,
    pixel_numbers,
    write_density,
    write_parents,
)

__all__ = ["Picture", "TileTops", "climb_tile", "cut_tile", "sum_tile"]


@dataclass(frozen=True)
class Picture:
    """A picture in files, and the folder for the results of its tiles.

    Attributes
    ----------
    image : FileArray
        The colors.
    mask : FileArray or None
        Which pixels belong to the picture.
    settings : PixelSettings
        How colors are read.
    search : TileSearch
        The parameters of the segmentation.
    directory : str
        The folder.
    sides : tuple of int
        Side lengths of a tile.
    """

    image: FileArray
    mask: FileArray | None
    settings: PixelSettings
    search: TileSearch
    directory: str
    sides: tuple[int, ...]

    def results(self, name: str) -> TiledArray:
        """Return an array of results: ``density``, ``parent`` or ``top``."""
        return TiledArray(self.directory, name, self.settings.shape, self.sides)

    @contextmanager
    def source(self) -> Iterator[TileSource]:
        """Yield what reads the pixels, and check in the end that the files are unchanged."""
        mask = None if self.mask is None else self.mask.opened()
        yield TileSource(self.image.opened(), mask, self.settings, 1)
        for file in (self.image, self.mask):
            if file is not None:
                file.check_unchanged()


def sum_tile(picture: Picture, box: Box) -> None:
    """Write the densities of a tile; NaN outside the mask."""
    with picture.source() as source:
        write_density(source, box, picture.search, picture.results("density"))


def climb_tile(picture: Picture, box: Box) -> None:
    """Write the parents of a tile, as numbers of pixels of the whole picture."""
    density, parent = picture.results("density"), picture.results("parent")
    with picture.source() as source:
        write_parents(source, box, picture.search, density, parent)


@dataclass(frozen=True)
class TileTops:
    """The pixels of a tile at which paths along parents end or leave the tile.

    Attributes
    ----------
    number : ndarray of shape (n_tops,)
        Number of each top in the whole picture.
    target : ndarray of shape (n_tops,)
        Number of its parent; its own for a root.
    height : ndarray of shape (n_tops,)
        Its density.
    """

    number: Indices
    target: Indices
    height: Floats


def cut_tile(picture: Picture, box: Box) -> TileTops:
    """Follow the paths inside a tile, and write the top that each pixel leads to.

    Tops are counted from 0 in each tile; -1 stands for pixels outside the mask.
    """
    shape = picture.settings.shape
    density = picture.results("density")[box].reshape(-1)
    parent = picture.results("parent")[box].reshape(-1)
    own = pixel_numbers(box, shape).reshape(-1)
    at = np.unravel_index(parent, shape)
    stays = parent != own
    for each, position in zip(box, at, strict=True):
        stays &= (position >= each.start) & (position < each.stop)
    inner = np.arange(own.size)
    extent = tuple(each.stop - each.start for each in box)
    inside = [position[stays] - each.start for each, position in zip(box, at, strict=True)]
    inner[stays] = np.ravel_multi_index(inside, extent)
    length = np.where(stays, 0.0, np.where(np.isnan(density), np.nan, np.inf))
    root, tops = _core.find_roots(inner, length, 0.0)
    tops = np.sort(tops.view(np.int64))
    picture.results("top")[box] = _core.number_trees(root, tops).view(np.int64).reshape(extent)
    return TileTops(own[tops], parent[tops], density[tops])
