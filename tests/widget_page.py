"""A page in which a widget is rendered with a model that stands in for that of a notebook."""

import base64

__all__ = ["widget_page"]

_MODEL = """
globalThis.model = {
  state: {}, heard: {}, saved: 0,
  get(name) { return this.state[name]; },
  set(name, value) { this.state[name] = value; },
  on(name, heard) { this.heard[name] = heard; },
  save_changes() { this.saved++; },
  receive(name, value) { this.state[name] = value; this.heard[`change:${name}`](); },
};
"""


def widget_page(esm, packed):
    """Return HTML that renders a widget."""
    data = base64.b64encode(packed).decode("ascii")
    module = base64.b64encode(esm.encode("utf-8")).decode("ascii")
    return f"""<!DOCTYPE html><html lang="en"><title>widget</title><div id="root"></div>
<script type="module">
{_MODEL}
const bytes = Uint8Array.from(atob("{data}"), (c) => c.charCodeAt(0));
model.state = {{ packed: new DataView(bytes.buffer), tau: null }};
const widget = (await import("data:text/javascript;base64,{module}")).default;
await widget.render({{ model, el: document.querySelector("#root") }});
globalThis.rendered = true;
</script></html>"""
