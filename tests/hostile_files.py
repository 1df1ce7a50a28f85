"""Damaged and hostile files: one mutation of a good file per seed.

`mutated_bytes` damages bytes as transfers and disks do. `mutated_archive` writes an .npz file as
somebody would who knows the format: well-formed, but with wrong types, shapes, indices or values.
"""

import io
import json
import zipfile

import numpy as np

NESTED = "[" * 2000 + "]" * 2000
WORDS = (0, 1, 2, 3, 4, 7, 255, 2**31, 2**32 - 1)
VALUES = (-1, 0, 1, 2, 3, 10**6, -(2**63), 2**62, np.nan, np.inf, -np.inf, 0.5, -0.0, 1e308, 5e-324)
TYPES = ("<i4", "<u8", ">i8", ">f8", "<f4", "<c16", "|b1", "<U3", "|S2", "<M8[s]", "|V8", "<f2")


# Bytes


def mutated_bytes(rng, content):
    """Return a file with some bytes changed, removed, added or moved."""
    data = bytearray(content)
    for _ in range(int(rng.choice([1, 1, 1, 2, 5, 40]))):
        at = int(rng.integers(len(data) + 1))
        many = int(rng.choice([1, 2, 4, 8, 64]))
        match rng.integers(6):
            case 0:  # flip one bit
                data[at % len(data)] ^= 1 << int(rng.integers(8))
            case 1:  # overwrite by a word that lengths and offsets have at their ends
                data[at : at + 4] = int(rng.choice(WORDS)).to_bytes(4, "little")
            case 2:
                del data[at:]
            case 3:
                data[at:at] = rng.bytes(many)
            case 4:
                del data[at : at + many]
            case _:
                data[at : at + many] = data[-many:]
        if not data:
            break
    return bytes(data)


# Archives


def arrays_of(content):
    """Return the arrays of an .npz file."""
    with np.load(io.BytesIO(content)) as file:
        return dict(file)


def mutated_archive(rng, content):
    """Return an .npz file with other arrays, another header or another layout."""
    arrays = arrays_of(content)
    for _ in range(int(rng.integers(1, 3))):
        names = sorted(arrays)
        name = names[int(rng.integers(len(names)))]
        change = (_entry, _entry, _entry, _shape, _type, _header, _header, _order)[rng.integers(8)]
        change(rng, arrays, name)
        if rng.random() < 0.05:
            del arrays[name]
    return _written(rng, arrays)


def _entry(rng, arrays, name):
    """Replace one entry by a value that is special, or by that of another entry."""
    array = arrays[name]
    if array.dtype.kind not in "if" or not array.size:
        return
    array = arrays[name] = array.copy()
    value = VALUES[int(rng.integers(len(VALUES)))]
    if rng.random() < 0.3:
        value = array.flat[int(rng.integers(array.size))] + rng.integers(-1, 2)
    with np.errstate(all="ignore"):
        array.flat[int(rng.integers(array.size))] = np.array(value).astype(array.dtype)


def _shape(rng, arrays, name):
    array = arrays[name]
    arrays[name] = (
        array[..., :-1] if array.ndim else array.reshape(1),
        np.concatenate([np.atleast_1d(array)] * 2),
        np.atleast_1d(array)[:0],
        array[None],
        array.ravel(),
        array.ravel()[:1].reshape(-1, 1),
    )[int(rng.integers(6))]


def _type(rng, arrays, name):
    kind = TYPES[int(rng.integers(len(TYPES)))]
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            arrays[name] = np.asarray(arrays[name]).astype(kind)
    except (TypeError, ValueError, Warning):
        arrays[name] = np.zeros(np.shape(arrays[name]), dtype=kind)


def _order(rng, arrays, name):
    array = arrays[name]
    if array.ndim:
        arrays[name] = array[::-1] if rng.random() < 0.5 else rng.permutation(array)


def _header(rng, arrays, name):
    """Replace the JSON, or one of its values."""
    values = (None, True, "1", [], {}, [2], -1, 0, 2**70, 1e999, -1e999, 1e-320, float("nan"))
    value = values[int(rng.integers(len(values)))]
    try:
        header = json.loads(str(arrays["json"]))
    except (KeyError, ValueError, RecursionError):
        header = {}
    texts = [NESTED, "", "{", "null", "3", '"a"', "[1, 2]", "{}", "NaN", "9" * 5000, "\0", "ü"]
    if not isinstance(header, dict) or rng.random() < 0.4:
        arrays["json"] = np.array(texts[int(rng.integers(len(texts)))])
        return
    names = ["format", "version", "log_unit", "power", "tau"]
    key = names[int(rng.integers(len(names)))]
    if rng.random() < 0.2:
        header.pop(key, None)
    else:
        header[key] = value
    arrays["json"] = np.array(json.dumps(header))


def _written(rng, arrays):
    """Write the arrays, sometimes with members that are wrong themselves."""
    buffer = io.BytesIO()
    method = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2)[
        int(rng.choice(3, p=[0.7, 0.25, 0.05]))
    ]
    odd = rng.random()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            body = member.getvalue()
            if odd < 0.1 and rng.random() < 0.3:
                body = _odd_member(rng, array)
            archive.writestr(f"{name}.npy", body)
        if 0.1 < odd < 0.12:
            archive.writestr("more.txt", b"text")
    return buffer.getvalue()


def _odd_member(rng, array):
    """Return a member whose header promises what it does not hold."""
    member = io.BytesIO()
    match int(rng.integers(4)):
        case 0:
            shape = (int(rng.choice([10**6, 10**12, 2**62])),)
            header = {"descr": "<f8", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_2_0(member, header)
        case 1:
            objects = np.array([{"a": 1}], dtype=object)
            np.lib.format.write_array(member, objects, allow_pickle=True)
        case 2:
            header = {"descr": "<f8", "fortran_order": False, "shape": (-1, 3)}
            np.lib.format.write_array_header_1_0(member, header)
        case _:
            np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            member.truncate(int(rng.integers(member.tell())))
    return member.getvalue()
