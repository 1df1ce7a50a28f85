"""The command line: `quickshift cluster`, `tree`, `regress`, `segment` and others.

Every command reads a file, calls the library and writes a file, so its output is that of the Python
call. Modules of this package import NumPy and everything that is slower to load inside functions:
``quickshift --help`` has to answer at once.
"""

import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command that the arguments of the process name, and exit with its code."""
    try:
        run = _loaded()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        from quickshift.cli.outcome import INTERRUPTED, INTERRUPTION

        print(INTERRUPTION, file=sys.stderr)  # noqa: T201
        os._exit(INTERRUPTED)
    code = run()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done, and the output is in its place
    from quickshift.cli.outcome import INTERRUPTED

    if code == INTERRUPTED:
        # Python may otherwise end by the signal, if the exception has passed through `exec`.
        # Temporary files are gone already.
        os._exit(code)
    sys.exit(code)


def _loaded() -> Callable[[], int]:
    """Import the commands; return the function that runs them and returns the exit code."""
    from quickshift.cli.outcome import exit_code_of, prepare_process

    prepare_process()
    try:
        from quickshift.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        sys.exit(
            f"Error: {error.name} cannot be imported, but the command line needs it. Install it "
            f"by: pip install quickshift[cli]"
        )
    return partial(exit_code_of, app)
