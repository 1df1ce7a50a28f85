"""The application: all commands under the name `quickshift`."""

from typing import Annotated

import typer

from quickshift import __version__
from quickshift.cli.commands import cluster, demo, explore, info, regress, segment, tree

__all__ = ["app"]

app = typer.Typer(
    name="quickshift",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command, example in (
    (cluster.cluster, cluster.EXAMPLE),
    (tree.tree, tree.EXAMPLE),
    (regress.regress, regress.EXAMPLE),
    (segment.segment, segment.EXAMPLE),
    (explore.explore, explore.EXAMPLE),
    (info.info, info.EXAMPLE),
    (demo.demo, demo.EXAMPLE),
):
    lines = ["Example:", *example.splitlines()]  # typer joins lines that no empty line separates
    app.command(command.__name__, epilog="\n\n".join(lines))(command)


def _print_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"quickshift {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def quickshift(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Cluster tables and segment images by Quick Shift.

    Every command reads a file, calls the Python library and writes a file.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
    """
