#!/usr/bin/env python3
"""bench/chart.py [--check]: draws the newest race of deduplications (results/*/dedup.json) as two pictures for the README, docs/images/race-{light,dark}.svg; or checks that they are drawn."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "images"
THEMES = {
    "light": {"ink": "#1f2328", "quiet": "#59636e", "bar": "#b6bec9", "ours": "#0a7d4f", "bad": "#b42318"},
    "dark": {"ink": "#f0f6fc", "quiet": "#9198a1", "bar": "#4a5463", "ours": "#3fbf85", "bad": "#ff8a80"},
}
# A second setting of a tool that is there already.
LEFT_OUT = {"daft-normalized"}
NAMES = {"benzer": "Benzer", "benzer-exact": "Benzer, --recall 1", "daft": "Daft"}
WIDTH, ROW, TOP, LEFT, BARS, SHOWN = 760, 30, 44, 150, 350, 14.0


def newest() -> Path:
    """The results of the last race."""
    return sorted((ROOT / "bench" / "results").glob("*/dedup.json"))[-1]


def picture(race: dict[str, Any], theme: dict[str, str]) -> str:
    """Bars of seconds, fastest first, with the share of removals that were wrong. A bar that does not fit is cut, and its number stands."""
    done = [r for r in race["results"] if "quality" in r and r["peer"] not in LEFT_OUT]
    done.sort(key=lambda r: median(r["seconds"]))
    height = TOP + ROW * len(done) + 12
    corpus = race["corpus"]
    title = f"Seconds to deduplicate {corpus['docs']:,} documents ({corpus['bytes'] / 1e6:.0f} MB) on one core"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}"'
        ' font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="14">',
        text(LEFT, 20, "seconds, from start to exit", theme["quiet"]),
        text(WIDTH - 12, 20, "wrong removals", theme["quiet"], "end"),
    ]
    for i, result in enumerate(done):
        lines += row(result, TOP + ROW * i, theme)
    return "\n".join([*lines, "</svg>"]) + "\n"


def row(result: dict[str, Any], y: int, theme: dict[str, str]) -> list[str]:
    """The bar of one tool."""
    seconds = median(result["seconds"])
    is_ours = result["peer"].startswith("benzer")
    is_cut = seconds > SHOWN
    width = max(2.0, BARS * min(seconds, SHOWN) / SHOWN)
    wrong = 1 - result["quality"]["justified"]
    fill = theme["ours"] if is_ours else theme["bar"]
    bar = f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="18" rx="2" fill="{fill}"/>'
    if is_cut:
        x = LEFT + width - 14
        bar += f'<path d="M{x:.1f} {y + 20}l6 -22M{x + 5:.1f} {y + 20}l6 -22" stroke="{theme["quiet"]}" fill="none"/>'
    number = f"{seconds:.2f}" if seconds < 10 else f"{seconds:.0f}"
    weight = "bold" if is_ours else "normal"
    return [
        text(LEFT - 10, y + 14, NAMES.get(result["peer"], result["peer"]), theme["ink"], "end", weight),
        bar,
        text(LEFT + width + 8, y + 14, number, theme["ink"], weight=weight),
        text(WIDTH - 12, y + 14, "none" if wrong == 0 else f"{100 * wrong:.1f}%", theme["ink"] if wrong == 0 else theme["bad"], "end", weight),
    ]


def text(x: float, y: float, content: str, fill: str, anchor: str = "start", weight: str = "normal") -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}">{escape(content)}</text>'


def main() -> None:
    """Draws both, or compares both."""
    race = json.loads(newest().read_text(encoding="utf-8"))
    FOLDER.mkdir(exist_ok=True)
    for name, theme in THEMES.items():
        file, drawn = FOLDER / f"race-{name}.svg", picture(race, theme)
        if sys.argv[1:] != ["--check"]:
            file.write_text(drawn, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != drawn:
            sys.exit(f"{file.name} does not show the newest results: run bench/chart.py")


if __name__ == "__main__":
    main()
