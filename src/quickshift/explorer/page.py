"""One HTML file: style, script and data inside, and no request to anywhere."""

import base64
import hashlib
import html
import re
from functools import cache
from importlib.resources import files

__all__ = ["page", "script", "style"]

# Every module comes after those that it imports.
_MODULES = (
    *("unpack", "dom", "recut", "ladder", "cells", "scatter", "marks", "plot"),
    *("cut_panel", "view", "decision", "tree", "panels", "clusters", "picture", "regression"),
    *("app", "widget"),
)
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_WIDE_STYLE = "html, body { height: 100%; margin: 0; }\n"


@cache
def _web(name: str) -> str:
    return (files("quickshift.explorer") / "web" / name).read_text(encoding="utf-8")


@cache
def style() -> str:
    """Return the style sheet."""
    return _web("style.css")


@cache
def script() -> str:
    """Return all JavaScript as one text: each module as a function that returns its exports."""
    return "\n".join(map(_as_function, _MODULES))


def _as_function(name: str) -> str:
    text = _web(f"{name}.js")
    exported = ", ".join(match[1] for match in _EXPORT.findall(text))
    inside = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = \2_js;", text))
    return f"const {name}_js = (() => {{\n{inside}return {{ {exported} }};\n}})();"


def page(packed: bytes, title: str) -> str:
    """Return an HTML page that shows a payload.

    The content security policy of the page allows its own script and style, and nothing else: a
    text that came to be markup by some mistake could neither run nor load anything.

    Parameters
    ----------
    packed : bytes
        From `pack`.
    title : str
        Title of the page, as text.

    Returns
    -------
    str
    """
    code, look = f"{script()}\napp_js.start();\n", _WIDE_STYLE + style()
    policy = (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(look)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{html.escape(title)}</title>
<style>{look}</style>
</head>
<body>
<main class="quickshift"></main>
<noscript>This page needs JavaScript, which it contains.</noscript>
<script type="text/plain" id="data">{base64.b64encode(packed).decode("ascii")}</script>
<script type="module">{code}</script>
</body>
</html>
"""


def _hash(text: str) -> str:
    """Return the source of a content security policy that allows exactly this text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
