"""Optional packages: what is said if one of them is not installed."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["optional_import"]


@contextmanager
def optional_import(package: str, extra: str, method: str) -> Iterator[None]:
    """Explain how to install an optional package if the import inside the block fails.

    Parameters
    ----------
    package : str
        Name of the package.
    extra : str
        The extra of this package that installs it.
    method : str
        The method that needs it, as users call it.

    Examples
    --------
    >>> with optional_import("not_there", "io", "to_pandas()"):
    ...     import not_there
    Traceback (most recent call last):
        ...
    ImportError: not_there cannot be imported, but to_pandas() needs it. Install ...
    """
    try:
        yield
    except ImportError as error:
        message = (
            f"{package} cannot be imported, but {method} needs it. Install it by: "
            f"pip install quickshift[{extra}]"
        )
        raise ImportError(message) from error
