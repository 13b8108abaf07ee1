"""Settings of the documentation site: `make docs` builds it without a network."""

import sys
from pathlib import Path

import franchise

sys.path.insert(0, str(Path(__file__).parent))  # for the extension beside this file

project = "franchise"
author = "The franchise developers"
project_copyright = author
release = version = franchise.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "myst_nb",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "site_extension",
]
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
templates_path = ["_templates"]
default_role = "py:obj"
smartquotes = False  # options of commands begin with two hyphens

# Docstrings
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Pages and tutorials
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Pages in HTML
html_theme = "pydata_sphinx_theme"
html_title = "franchise"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "franchise"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {  # pages that are no part of a section have no navigation on the left
    name: []
    for name in (
        "index",
        "install",
        "command-line",
        "faq",
        "glossary",
        "compare",
        "benchmarks",
        "scaling",
        "papers",
        "changelog",
        "architecture",
        "contributing",
        "code-of-conduct",
        "security",
    )
}
