"""Sphinx's settings for the documentation; `website/build.py` hands it the pages and the version."""

import os

project = "vademecum"
author = "the vademecum authors"
copyright = "Apache-2.0"  # noqa: A001 -- Sphinx calls it so
version = release = os.environ["VADEMECUM_VERSION"]

extensions = ["myst_parser"]
myst_heading_anchors = 4
root_doc = "index"
templates_path = ["templates"]
nitpicky = True

html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme = "furo"  # brings all it shows; no fonts and no scripts from elsewhere
html_title = f"vademecum {version}"
html_show_sphinx = False
html_copy_source = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/versions.html",
        "sidebar/scroll-end.html",
    ]
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
