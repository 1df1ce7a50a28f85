"""A page in which a widget is rendered with a model that stands in for that of a notebook."""

import base64

__all__ = ["widget_page"]

# As in a notebook, every view hears what is set, the view that has set it included.
_MODEL = """
globalThis.model = {
  heard: [], saved: 0,
  get(name) { return this.state[name]; },
  set(name, value) {
    this.state[name] = value;
    for (const [event, hear] of this.heard) if (event === `change:${name}`) hear();
  },
  on(event, hear) { this.heard.push([event, hear]); },
  off(event, hear) {
    this.heard = this.heard.filter(([some, other]) => some !== event || other !== hear);
  },
  save_changes() { this.saved++; },
  rows(name) { return Array.from(new Int32Array(this.state[name].buffer)); },
  setRows(name, rows) { this.set(name, new DataView(Int32Array.from(rows).buffer)); },
};
"""


def widget_page(widget):
    """Return HTML that renders a widget, and whose function `again` renders another view."""
    data, module, labels, selection = (
        base64.b64encode(part).decode("ascii")
        for part in (
            widget.packed,
            widget._esm.encode("utf-8"),
            widget.labels.astype("<i4").tobytes(),
            widget.selection.astype("<i4").tobytes(),
        )
    )
    tau = "null" if widget.tau is None else widget.tau
    return f"""<!DOCTYPE html><html lang="en"><title>widget</title><style>{widget._css}</style>
<script type="module">
{_MODEL}
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
model.state = {{
  packed: bytes("{data}"), labels: bytes("{labels}"), selection: bytes("{selection}"), tau: {tau},
}};
const widget = (await import("data:text/javascript;base64,{module}")).default;
globalThis.again = async () => {{
  const el = document.body.appendChild(document.createElement("div"));
  return widget.render({{ model, el }});
}};
globalThis.remove = await again();
globalThis.rendered = true;
</script></html>"""
