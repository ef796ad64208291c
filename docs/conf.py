"""Sphinx's configuration of the site; `make docs` lays out its source (stage.py) and builds it, warnings as errors."""

import sys
import warnings
from pathlib import Path

import mercer

HERE = Path(__file__).resolve().parent
LOGO = str(HERE / "_static" / "logo.svg")
sys.path.insert(0, str(HERE))  # for typeset

project = "mercer"
author = "The mercer developers"
copyright = author  # noqa: A001  # Sphinx's name
version = release = mercer.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "typeset",
]

# Markdown as it is written on forges: their anchors, and nothing that only Sphinx would understand.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "dollarmath"]
highlight_language = "none"
pygments_style = "friendly"

# The stubs are written by stage.py, one for every public name.
autosummary_generate = False
autodoc_typehints = "none"
autodoc_member_order = "alphabetical"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
html_math_renderer = "mathml"

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"demo\.py$",
    "doc_module": ("mercer",),
    "backreferences_dir": "reference/backreferences",
    "within_subsection_order": "ExampleTitleSortKey",
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 10,
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "matplotlib_animations": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "mercer"
html_static_path = [str(HERE / "_static")]
html_css_files = ["mercer.css"]
html_favicon = LOGO
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"image_light": LOGO, "image_dark": LOGO, "text": "mercer"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_prev_next": True,
}
html_sidebars = {"index": []}

copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = "div.highlight-python pre, div.highlight-sh pre, div.highlight-default pre"

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
