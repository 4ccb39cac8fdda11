"""From a Vega-Lite specification to SVG that needs nothing else: no script, no class, no reference to anything outside.

What the renderer writes is parsed and written anew. Elements and attributes that say nothing are left out, numbers keep
two decimals, ids are those of the chart: the same chart is the same bytes wherever in a process it is drawn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from evalkit.charts.palette import PAPER, dark_style
from evalkit.charts.vega import Spec
from evalkit.charts.words import clean

_SVG = "{http://www.w3.org/2000/svg}"
_DRAWN = {"g", "path", "text", "tspan", "line", "rect", "defs", "clipPath", "linearGradient", "stop", "circle"}
_KEPT = {
    *("transform", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "r", "cx", "cy", "width", "height", "id"),
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "fill-opacity"),
    *("stroke-opacity", "opacity", "text-anchor", "font-size", "font-weight", "font-style", "font-family", "clip-path"),
    *("stroke-miterlimit", "offset", "stop-color"),
}
_NUMERIC = {"transform", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "width", "height", "r", "cx", "cy"}
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_DEFAULTS = {"opacity": "1", "font-family": "sans-serif", "font-weight": "normal"}


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawn chart: its size in pixels, and its elements as they stand inside an ``<svg>``."""

    width: float
    height: float
    inner: str


def draw(spec: Spec, name: str) -> Drawing:
    """Draw a chart.

    Args:
        spec: The Vega-Lite specification.
        name: Begins each id of the chart, so that charts on one page do not share any.
    """
    import vl_convert

    root = ET.fromstring(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))  # noqa: S314 - our renderer wrote it
    inner = "".join(_written(child, name) for child in _plain(root))
    return Drawing(float(root.attrib["width"]), float(root.attrib["height"]), inner)


def _plain(element: ET.Element) -> Iterator[ET.Element]:
    """Yield the children of an element that show anything."""
    for child in element:
        kind = child.tag.removeprefix(_SVG)
        if kind not in _DRAWN or child.get("display") == "none":
            continue
        if kind == "rect" and child.get("fill") == "transparent":
            continue
        if kind == "path" and (not child.get("d") or child.get("class") == "background"):
            continue
        if kind == "g" and not list(_plain(child)):
            continue
        yield child


def _written(element: ET.Element, name: str) -> str:
    kind = element.tag.removeprefix(_SVG)
    attributes = "".join(
        f' {key}="{_attribute(key, value, name)}"'
        for key, value in element.attrib.items()
        if key in _KEPT and _DEFAULTS.get(key) != value
    )
    inner = escaped(element.text or "") if kind in ("text", "tspan") else ""
    inner += "".join(_written(child, name) for child in _plain(element))
    if kind == "g" and not attributes:
        return inner
    return f"<{kind}{attributes}>{inner}</{kind}>" if inner else f"<{kind}{attributes}/>"


def _attribute(key: str, value: str, name: str) -> str:
    if key == "id":
        return escaped(f"{name}-{value}")
    if key in _NUMERIC:
        value = _NUMBER.sub(lambda found: f"{round(float(found[0]), 2) + 0.0:g}", value)
    return escaped(_REFERENCE.sub(lambda found: f"url(#{name}-{found[1]})", value))


def escaped(text: str) -> str:
    """Escape a text for an element or an attribute; what XML cannot carry becomes U+FFFD.

    >>> escaped('<a b="c">&')
    '&lt;a b=&quot;c&quot;&gt;&amp;'
    """
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;")


def whole(width: float, height: float, title: str, description: str, inner: str, name: str, *, alone: bool) -> str:
    """Return an SVG element that tells what it shows.

    Args:
        width: In pixels.
        height: In pixels.
        title: What it is.
        description: What it says, for those who do not see it.
        inner: Its elements.
        name: Begins its ids.
        alone: Whether it is a file of its own, which then brings its own ground and dark colours.
    """
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    ground = f'<style>{dark_style()}</style><rect width="100%" height="100%" fill="{PAPER}"/>' if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{name}-title {name}-desc" '
        f'font-family="sans-serif"><title id="{name}-title">{escaped(title)}</title>'
        f'<desc id="{name}-desc">{escaped(description)}</desc>{ground}{inner}</svg>'
    )
