"""Packs named arrays and a header into compressed bytes that the page unpacks.

::

    length of the header, 4 bytes | header, JSON | section | section | ...     (all deflated)

Integers are written as differences to the entry before them, if that makes them small, with the
sign in the lowest bit. The bytes of all numbers are written plane by plane, the lowest first:
deflate finds nothing in the low bytes of measurements, but much in the high ones. Planes that are
zero are left out.
"""

import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickshift.arrays import Floats, Indices
from quickshift.checks.archives import DAMAGED

__all__ = ["Section", "morton_order", "offsets", "pack", "read_header", "unpack"]

_INTEGERS = {"u8": np.uint8, "u16": np.uint16, "i32": np.int32}
_FLOATS = {"f32": np.float32, "f64": np.float64}
_STEPS = 65535  # a 16-bit offset counts steps of this part of a column's range


@dataclass(frozen=True)
class Section:
    """An array and how it is written.

    Attributes
    ----------
    values : ndarray
        One axis; entries that fit the type.
    kind : {"u8", "u16", "i32", "f32", "f64"}
        Type of the entries in the page.
    delta : bool
        Whether differences are written, for integers.
    """

    values: NDArray[Any]
    kind: str
    delta: bool = False


def pack(header: Mapping[str, Any], sections: Mapping[str, Section]) -> bytes:
    """Write a header and named arrays as compressed bytes.

    Parameters
    ----------
    header : mapping
        Anything that JSON can express, without NaN and infinities.
    sections : mapping of str to Section
        The arrays by name.

    Returns
    -------
    bytes

    Examples
    --------
    >>> parts = {"parent": Section(np.array([0, 0, 1, 2]), "i32", delta=True)}
    >>> header, arrays = unpack(pack({"n": 4}, parts))
    >>> header["n"], arrays["parent"]
    (4, array([0, 0, 1, 2], dtype=int32))
    """
    described, bodies = {}, []
    for name, section in sections.items():
        planes, body = _planes_of(section)
        described[name] = {
            "kind": section.kind,
            "length": int(section.values.size),
            "delta": section.delta,
            "planes": planes,
        }
        bodies.append(body)
    whole = {**header, "sections": described}
    text = json.dumps(whole, allow_nan=False, ensure_ascii=True).encode("ascii")
    return zlib.compress(b"".join([struct.pack("<I", len(text)), text, *bodies]), 9)


def unpack(packed: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `pack` has written, as the page does.

    Parameters
    ----------
    packed : bytes
        From `pack`.

    Returns
    -------
    header : dict
        The header.
    arrays : dict of str to ndarray
        The arrays by name.
    """
    with _of_pack():
        data = zlib.decompress(packed)
        (length,) = struct.unpack_from("<I", data)
        header = json.loads(data[4 : 4 + length])
        position, arrays = 4 + length, {}
        for name, told in header.pop("sections").items():
            size = told["planes"] * told["length"]
            body = np.frombuffer(data[position : position + size], np.uint8)
            arrays[name] = _array_of(body.reshape(told["planes"], told["length"]), told)
            position += size
        return header, arrays


def read_header(packed: bytes) -> dict[str, Any]:
    """Read the header of what `pack` has written, and none of the arrays.

    Parameters
    ----------
    packed : bytes
        From `pack`.

    Returns
    -------
    dict

    Examples
    --------
    >>> read_header(pack({"n": 4}, {}))["n"]
    4
    """
    with _of_pack():
        inflating = zlib.decompressobj()
        (length,) = struct.unpack("<I", inflating.decompress(packed, 4))
        header: dict[str, Any] = json.loads(inflating.decompress(inflating.unconsumed_tail, length))
        return header


@contextmanager
def _of_pack() -> Iterator[None]:
    """Turn what damaged bytes raise into one error that says what was expected."""
    try:
        yield
    except (*DAMAGED, struct.error) as error:
        reason = str(error) or type(error).__name__
        raise ValueError(
            f"packed cannot be unpacked ({reason}), expected bytes from `pack`. Pack the model "
            f"again."
        ) from error


def _planes_of(section: Section) -> tuple[int, bytes]:
    """Return the number of planes of bytes, and the planes."""
    if section.kind in _FLOATS:
        values = np.ascontiguousarray(section.values, dtype=_FLOATS[section.kind])
        planes = values.itemsize
    else:
        values = _unsigned(section)
        planes = (int(values.max(initial=0)).bit_length() + 7) // 8
    bytes_of = values.view(np.uint8).reshape(values.size, values.itemsize)
    return planes, bytes_of[:, :planes].T.tobytes()


def _unsigned(section: Section) -> NDArray[np.uint64]:
    """Return integers, or their differences, with the sign in the lowest bit."""
    values = section.values.astype(np.int64)
    if section.delta:
        values = np.diff(values, prepend=0)
    return ((values << 1) ^ (values >> 63)).astype(np.uint64)


def _array_of(body: NDArray[np.uint8], told: dict[str, Any]) -> NDArray[Any]:
    """Return the array that `_planes_of` has written."""
    kind = told["kind"]
    if kind in _FLOATS:
        return np.ascontiguousarray(body.T).view(_FLOATS[kind]).ravel()
    values = np.zeros(told["length"], dtype=np.int64)
    for plane, low in enumerate(body):
        values |= low.astype(np.int64) << (8 * plane)
    values = (values >> 1) ^ -(values & 1)
    if told["delta"]:
        values = np.cumsum(values)
    return values.astype(_INTEGERS[kind])


def offsets(column: Floats, *, fine: bool) -> tuple[Section, float, float]:
    """Write a column as offsets from its least value, as shares of its range.

    Parameters
    ----------
    column : ndarray of shape (n,)
        Finite numbers.
    fine : bool
        Whether offsets are written as float32 in place of 16-bit integers.

    Returns
    -------
    section : Section
    low, high : float
        The range. If it has no length, all offsets are one half, so that they are drawn in the
        middle.
    """
    low, high = float(column.min()), float(column.max())
    width = high / 2 - low / 2  # the whole might overflow
    share = (column / 2 - low / 2) / width if width > 0 else np.full(column.size, 0.5)
    if fine:
        return Section(share, "f32"), low, high
    return Section(np.rint(share * _STEPS).astype(np.int64), "u16", delta=True), low, high


def morton_order(x: Floats, y: Floats) -> Indices:
    """Return the order of points along a Morton curve, on which near points follow each other.

    Parameters
    ----------
    x, y : ndarray of shape (n,)
        Offsets from 0 to 1.

    Returns
    -------
    ndarray of shape (n,)
        Rows in the order of the curve; of points in one cell, the lower row first.

    Examples
    --------
    >>> morton_order(np.array([1.0, 0.0, 0.9, 0.0]), np.array([1.0, 0.0, 0.0, 1.0])).tolist()
    [1, 2, 3, 0]
    """
    code = _spread_bits(x) | (_spread_bits(y) << np.uint64(1))
    return np.argsort(code, kind="stable")


def _spread_bits(share: Floats) -> NDArray[np.uint64]:
    """Return 16-bit offsets with a zero bit after each bit."""
    bits = np.rint(share * _STEPS).astype(np.uint64)
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        bits = (bits | (bits << np.uint64(shift))) & np.uint64(mask)
    return bits
