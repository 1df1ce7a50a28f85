"""`quickshift segment`: a picture or a raster in, labels and polygons out."""

from typing import Annotated, Any

import typer

from quickshift.cli import options
from quickshift.cli.commands.steps import written
from quickshift.cli.files.formats import picture_format_of
from quickshift.cli.files.outputs import check_target, scratch_folder
from quickshift.cli.outcome import UsageError
from quickshift.cli.report import Report, keyed, shows_progress
from quickshift.cli.values import whole_numbers

__all__ = ["EXAMPLE", "segment"]

EXAMPLE = """\
$ quickshift segment photo.jpg --tau 20 -o segments.png
segments.png: gray picture, pixels of segment 1 have the value 1
$ quickshift segment scene.tif --ratio 500 -o labels.tif --polygons segments.gpkg
labels.tif: uint32, 0 is nodata; segments.gpkg: polygons with the field label"""

_METHOD, _FILES = "Method", "Files"
_MAX_PIXELS = 178_956_970  # twice Pillow's MAX_IMAGE_PIXELS, beyond which it refuses pictures

Picture = Annotated[
    str,
    typer.Argument(
        help="Picture: .png, .jpg, .tif (with the extra geo also a GeoTIFF of any size) or .npy.",
        metavar="FILE",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        help="Where to write the labels: .npy (from 0 on), .png or .tif (from 1 on, 0 is outside).",
        metavar="FILE",
        rich_help_panel=_FILES,
        show_default=False,
    ),
]
Polygons = Annotated[
    str | None,
    typer.Option(
        help="Where to write the outlines of the segments: .gpkg or .geojson.",
        metavar="FILE",
        rich_help_panel=_FILES,
        show_default=False,
    ),
]
Bands = Annotated[
    str | None,
    typer.Option(
        help="Bands of a raster to use, such as 4,3,2; by default all.",
        metavar="NUMBERS",
        rich_help_panel=_FILES,
        show_default=False,
    ),
]
MaxPixels = Annotated[
    int,
    typer.Option(
        min=1,
        help="Most pixels of a .png, .jpg or other compressed picture; larger ones are refused "
        "before they are decoded. The default is the limit of Pillow.",
        metavar="NUMBER",
        rich_help_panel=_FILES,
    ),
]
Bandwidth = Annotated[
    float,
    typer.Option(
        help="Scale of the kernel, in pixels and scaled colors.",
        metavar="LENGTH",
        rich_help_panel=_METHOD,
    ),
]
Tau = Annotated[
    float,
    typer.Option(
        help="Longest move; a larger one gives fewer segments.",
        metavar="LENGTH",
        rich_help_panel=_METHOD,
    ),
]
NSegments = Annotated[
    int | None,
    typer.Option(
        help="Number of segments, in place of tau.",
        metavar="NUMBER",
        rich_help_panel=_METHOD,
        show_default=False,
    ),
]
Ratio = Annotated[
    float,
    typer.Option(
        help="Factor of the colors. Values of integer types count from 0 to 1, and RGB from 0 to "
        "100, after conversion to Lab.",
        metavar="NUMBER",
        rich_help_panel=_METHOD,
    ),
]
Sigma = Annotated[
    float,
    typer.Option(
        help="Standard deviation of a blur that is applied first, in pixels.",
        metavar="LENGTH",
        rich_help_panel=_METHOD,
    ),
]
Lab = Annotated[
    bool | None,
    typer.Option(
        "--lab/--no-lab",
        help="Whether 3 channels are converted from RGB to Lab, and gray to lightness; by default, "
        "if there are as many channels.",
        rich_help_panel=_METHOD,
        show_default=False,
    ),
]


def segment(
    file: Picture,
    *,
    output: Labels = None,
    polygons: Polygons = None,
    bands: Bands = None,
    max_pixels: MaxPixels = _MAX_PIXELS,
    force: options.Force = False,
    bandwidth: Bandwidth = 5.0,
    tau: Tau = 10.0,
    n_segments: NSegments = None,
    ratio: Ratio = 1.0,
    sigma: Sigma = 0.0,
    lab: Lab = None,
    n_jobs: options.NJobs = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,  # noqa: ARG001 (acts when it is parsed)
) -> None:
    """Segment a picture or a georeferenced raster.

    A GeoTIFF is read by windows, so it may be larger than memory.
    Its labels have no seams, and they keep its coordinate system.
    Temporary files of 20 bytes per pixel are in TMPDIR.
    """
    report = Report(as_json=as_json, quiet=quiet)
    _check_outputs(output, polygons, force=force)
    chosen = whole_numbers(bands)
    parameters: dict[str, Any] = {
        "bandwidth": bandwidth,
        "tau": tau,
        "ratio": ratio,
        "sigma": sigma,
        "n_jobs": n_jobs,
        "start_label": 0 if output is not None and output.lower().endswith(".npy") else 1,
    }
    from quickshift.cli.segments import labels_of, opened_picture, size_facts, write_segments

    with scratch_folder() as scratch, opened_picture(file, chosen, max_pixels) as picture:
        parameters["convert2lab"] = picture.n_channels in (1, 3) if lab is None else lab
        with report.timed("segment"):
            labels = labels_of(
                picture, parameters, n_segments, scratch, progress=shows_progress(quiet)
            )
        with report.timed("write"):
            first = parameters["start_label"]
            n_polygons = write_segments(labels, picture, first, output, polygons, force=force)
        facts = size_facts(labels, first)
        del labels  # its file is in the scratch folder
    facts |= {"output": output, "polygons": polygons, "n_polygons": n_polygons}
    _show(report, facts)


def _check_outputs(output: str | None, polygons: str | None, *, force: bool) -> None:
    if output is not None and picture_format_of(output) == "jpeg":
        raise UsageError(f"{output} would blur the labels. Write .png, .tif or .npy.")
    for target in (output, polygons):
        check_target(target, force=force)
    if output is not None and picture_format_of(output) == "tiff":
        from quickshift.cli.files.rasters import check_rasters

        check_rasters()
    if polygons is not None:
        from quickshift.cli.files.polygons import check_polygons

        check_polygons(polygons)


def _show(report: Report, facts: dict[str, Any]) -> None:
    least, median, largest = facts["sizes"]
    lines = [
        f"Segments: {facts['n_segments']}, of {facts['n_pixels']} pixels",
        f"Sizes: {least} to {largest} pixels, median {median:.10g}",
        *([f"Outside: {facts['n_outside']} pixels"] if facts["n_outside"] else []),
        *written(facts["output"], "one label per pixel"),
        *written(facts["polygons"], f"{facts['n_polygons']} polygons"),
    ]
    report.show(facts, [keyed(lines)])
