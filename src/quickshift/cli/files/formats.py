"""Formats of tables and pictures, by the suffix of a file or by name."""

from pathlib import Path

from quickshift.cli.files.outputs import STANDARD, check_length
from quickshift.cli.outcome import CommandError, UsageError

__all__ = ["check_input", "check_uncompressed", "format_of", "picture_format_of", "suffix_format"]

_OF_SUFFIX = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
    ".npz": "npz",
}
_OF_PICTURE = {
    ".png": "png",
    ".jpg": "jpeg",
    ".jpeg": "jpeg",
    ".tif": "tiff",
    ".tiff": "tiff",
    ".npy": "npy",
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")  # pyarrow reads these


def format_of(path: str, given: str | None, option: str) -> str:
    """Return the format of a table.

    Parameters
    ----------
    path : str
        Path of the file, or "-".
    given : str or None
        The format that the user gave, which has precedence.
    option : str
        The option by which it can be given, for the message.

    Returns
    -------
    str
        One of "csv", "tsv", "parquet", "arrow", "npy" and "npz"; "csv" for standard input and
        output by default.

    Examples
    --------
    >>> format_of("points.Feather", None, "--from"), format_of("-", None, "--from")
    ('arrow', 'csv')
    """
    if given is not None:
        return given
    if path == STANDARD:
        return "csv"
    known = suffix_format(path)
    if known is None:
        formats = dict.fromkeys(_OF_SUFFIX.values())
        raise UsageError(
            f"{path} has the suffix {_suffix(path)!r}, expected one of {', '.join(_OF_SUFFIX)}. "
            f"Say by {option} which format it has: {', '.join(formats)}."
        )
    return known


def suffix_format(path: str) -> str | None:
    """Return the format of a table that its suffix tells, or None.

    Examples
    --------
    >>> suffix_format("points.csv.gz"), suffix_format("points.dat"), suffix_format("-")
    ('csv', None, None)
    """
    return _OF_SUFFIX.get(_suffix(path))


def _suffix(path: str) -> str:
    """Return the suffix of a file, without that of its compression."""
    name = Path(path)
    return (Path(name.stem) if name.suffix.lower() in _COMPRESSED else name).suffix.lower()


def check_uncompressed(target: str) -> None:
    """Raise if the name of an output says that it is compressed, which no output is."""
    suffix = Path(target).suffix
    if suffix.lower() in _COMPRESSED:
        raise UsageError(
            f"{target} would not be compressed. Leave out {suffix}, write .parquet, or write to "
            f"standard output by -o - and compress that."
        )


def picture_format_of(path: str) -> str:
    """Return the format of a picture: "png", "jpeg", "tiff" or "npy".

    Examples
    --------
    >>> picture_format_of("photo.JPG")
    'jpeg'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in _OF_PICTURE:
        raise UsageError(
            f"{path} has the suffix {suffix!r}, expected one of {', '.join(_OF_PICTURE)}. Convert "
            f"the picture."
        )
    return _OF_PICTURE[suffix]


def check_input(path: str) -> None:
    """Raise if an input is no file, or empty."""
    if path == STANDARD:
        return
    if not path:
        raise CommandError("the path of the input is empty. Give one, or - for standard input.")
    check_length(path)
    file = Path(path)
    if file.is_dir():
        raise CommandError(f"{path} is a folder, expected a file.")
    if not file.exists():
        raise CommandError(f"{path} does not exist. Check the path.")
    if file.is_file() and not file.stat().st_size:
        raise CommandError(f"{path} is empty, expected data. Check the path.")
