"""Sphinx configuration. The build works offline: no intersphinx, no remote images."""

from pathlib import Path

import quickshift

project = "quickshift"
author = "The quickshift developers"
copyright = author
release = quickshift.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
nitpicky = False

autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"  # the numpydoc sections state types and shapes
numpydoc_show_class_members = False  # docs/_templates lists them, without scikit-learn's
default_role = "py:obj"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"^(?!plot_)",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

# The live page of explore.md.
_fitted = quickshift.QuickShift().fit(quickshift.datasets.blobs(3000, centers=6, seed=1)[0])
quickshift.explore(_fitted, Path(__file__).parent / "_static/explorer.html")

myst_heading_anchors = 3  # for links to headings, as on GitHub
html_theme = "pydata_sphinx_theme"
html_title = "quickshift"
html_static_path = ["_static"]
html_show_sourcelink = False
# Pages without subpages.
_ALONE = (
    "getting_started",
    "local_scale",
    "cluster_tree",
    "modal_regression",
    "images",
    "plots",
    "explore",
    "large_data",
    "command_line",
)
_WIDE = "benchmarks", "studies/*", "plots_compared"  # pages with wide tables
html_sidebars = {page: [] for page in (*_ALONE, *_WIDE)}
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
