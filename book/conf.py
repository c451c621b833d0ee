"""Sphinx's settings for the book. tools/book.py gathers its pages, copies this file beside them and starts Sphinx."""

import html
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import Sphinx

project = "Learning to Ponder"
ABOUT = "Networks that decide for themselves how long to think, taught in notebooks that you run."
html_title = project
language = "en"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "sphinx_copybutton"]
exclude_patterns = ["download"]  # the notebooks as they are committed, to be fetched

nb_execution_mode = "off"
nb_merge_streams = True
nb_render_markdown_format = "myst"  # so that formulas in the sentences below figures are formulas
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
smartquotes = False

default_role = "py:obj"  # in docstrings: a link where there is something of that name
autodoc_default_options = {"members": True, "member-order": "bysource", "show-inheritance": True}
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 80

html_theme = "furo"
html_static_path = ["_static"]
html_favicon = "_static/favicon.svg"
html_css_files = ["book.css"]
html_js_files = [("book.js", {"defer": "defer"})]
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_domain_indices = False
mathjax_path = "mathjax/tex-chtml.js"  # copied from a package: nothing is fetched when a page is read
copybutton_selector = "div.cell_input pre, div.highlight-python pre, div.highlight-default pre"


def with_alt_text(plain: Any) -> Any:
    """The renderer of pictures, with the alternative text that myst-nb leaves behind in the notebook."""

    def render(self: NbElementRenderer, data: MimeData) -> list[nodes.Element]:
        (image,) = plain(self, data)
        image["alt"] = data.output_metadata[data.mime_type]["alt"]
        return [image]

    return render


def tag_whole_equations(app: Sphinx, tree: nodes.document) -> None:
    r"""Keep an equation with \tag out of the `split` that Sphinx puts around every \\, where no tag may stand."""
    for equation in tree.findall(nodes.math_block):
        if r"\tag" in equation.astext():
            equation["no-wrap"] = True
            equation.children = [nodes.Text(rf"\[{equation.astext()}\]")]


def mend_docstring(app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Take a docstring as the plain text that it is: a star is a star. Drop what Python says of fields by itself."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()
    lines[:] = [re.sub(r"(`[^`]*`)|([*|\\])", lambda found: found[1] or f"\\{found[2]}", line) for line in lines]


def leave_out_others(app: Sphinx, kind: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out functions that a module only imports, where autodoc itself does not see that."""
    return True if (getattr(thing, "__module__", None) or "ponder").partition("_")[0] != "ponder" else None


def give_headings_a_level(app: Sphinx, page: str, template: str, context: dict, tree: nodes.document | None) -> None:
    """Say of the headings in the list at the left which level they are, as ARIA wants it and Sphinx does not."""
    lists = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = lists.replace('role="heading"', 'role="heading" aria-level="2"')


def mend_folds(app: Sphinx, page: str, template: str, context: dict, tree: nodes.document | None) -> None:
    """Let a fold be called what stands on it, not "Toggle hidden content"."""
    if "body" in context:
        context["body"] = context["body"].replace(' aria-label="Toggle hidden content"', "")


def describe(app: Sphinx, page: str, template: str, context: dict, tree: nodes.document | None) -> None:
    """Say in the head of a page what it is about, by its first paragraph that is more than links, and its picture."""
    if page == "404":  # it is shown at any address
        context["metatags"] += f'<base href="{urlsplit(app.config.html_baseurl).path}">'
    if tree is None:
        return
    texts = [text.astext() for text in tree.findall(nodes.paragraph) if not text.next_node(nodes.reference)]
    words = " ".join(next((text for text in texts if len(text.split()) > 5), ABOUT).split())
    pictures = [app.builder.images.get(image["uri"]) for image in tree.findall(nodes.image)]
    picture = next((name for name in pictures if name and name.endswith(".png")), "preview.png")
    said = {
        "description": words,
        "og:title": context["title"],
        "og:description": words,
        "og:type": "article",
        "og:image": f"{app.config.html_baseurl}_images/{picture}",
    }
    for name, content in said.items():
        kind = "property" if name.startswith("og:") else "name"
        context["metatags"] += f'<meta {kind}="{name}" content="{html.escape(content)}">\n'


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    NbElementRenderer.render_image = with_alt_text(NbElementRenderer.render_image)
    app.connect("doctree-read", tag_whole_equations)
    app.connect("autodoc-process-docstring", mend_docstring, priority=100)  # before Napoleon reads the arguments
    app.connect("autodoc-skip-member", leave_out_others)
    app.connect("html-page-context", give_headings_a_level, priority=900)  # after Furo has written the list
    app.connect("html-page-context", mend_folds)
    app.connect("html-page-context", describe)
