"""What the race of pictures says: recall without a single false match, speed, curves of precision and recall."""

from __future__ import annotations

from typing import Any

# Groups in which different colours are told apart in the curves.
COLOURS = ["#b9502a", "#2f56a6", "#2a7a6b", "#d99a3d", "#7a4fa0", "#59626d", "#1e9ab0", "#a03a60"]
WIDTH, HEIGHT, MARGIN = 640, 420, 56


def methods(race: dict[str, Any]) -> dict[str, tuple[dict[str, Any], float]]:
    """By name: the result it is in, and the score that no two different photos reach."""
    found = {}
    for result in race["results"]:
        for name, negatives in result["negatives"].items():
            found[name] = (result, max(negatives))
    return found


def summary(race: dict[str, Any]) -> dict[str, Any]:
    """Recall by transform and method, where no different photos are taken for one."""
    rows = []
    for group, transform in race["transforms"]:
        recalls = {}
        for name, (result, limit) in methods(race).items():
            scores = result["scores"][transform][name]
            recalls[name] = sum(score > limit for score in scores) / len(scores)
        words = sorted(race["results"][0]["words"][transform])
        rows.append(
            {
                "group": group,
                "transform": transform,
                "recall": recalls,
                "words": {"5%": words[len(words) // 20], "median": words[len(words) // 2]},
            }
        )
    return {
        **{key: race[key] for key in ("date", "commit", "command", "machine", "photos")},
        "highest score of different photos": {name: limit for name, (_, limit) in methods(race).items()},
        "milliseconds": {name: took for result in race["results"] for name, took in result["milliseconds"].items()},
        "rows": rows,
        **({"dedup": race["dedup"]} if "dedup" in race else {}),
    }


def markdown(found: dict[str, Any]) -> str:
    names = list(found["rows"][0]["recall"])
    lines = [
        f"# Changed photos found again, {found['date']}",
        "",
        f"{found['photos']} photos, each changed in {len(found['rows'])} ways; commit {found['commit']}, {found['machine']['cpu']}, one core.",
        "Recall when the limit of every method is the highest score of any two different photos: no false match at all. The last columns are the Jaccard similarity of the",
        "visual words, of which the bands of `local` are made.",
        "",
        "| transform | " + " | ".join(names) + " | words, 5% | words, median |",
        "|---|" + "---:|" * (len(names) + 2),
    ]
    for row in found["rows"]:
        recalls = " | ".join(f"{row['recall'][name]:.2f}" for name in names)
        words = row["words"]
        lines.append(f"| {row['transform']} | {recalls} | {words['5%']:.3f} | {words['median']:.3f} |")
    lines += ["", "| work, one core | ms a photo |", "|---|---:|"]
    lines += [f"| {name} | {took:.2f} |" for name, took in found["milliseconds"].items()]
    lines += ["", "`decode` comes on top of `thumbnail` and `local`; the hashes of the peers have it inside. `check` is the geometric check of one pair."]
    if "dedup" in found:
        done = found["dedup"]
        counts, seconds = done["counts"], done["seconds"]
        lines += [
            "",
            f"`benzer dedup --image` of {counts['read']:,} made pictures of 320 x 240 pixels on one core: {done['wall']:.1f} s ({counts['read'] / done['wall']:.0f} pictures/s), of which reading and describing them "
            f"{seconds['read']:.1f} s, deciding {seconds['decide']:.1f} s. Of {counts['read'] * (counts['read'] - 1) // 2:,} pairs {counts['candidates']:,} shared a key and {counts['checked']:,} were checked. "
            f"{done['removed_copies']:,} of {done['copies']:,} changed copies were removed, and {done['wrong']} other pictures.",
        ]
    return "\n".join(lines) + "\n"


def curves(race: dict[str, Any]) -> dict[str, str]:
    """A curve of each method, by group of transforms."""
    groups: dict[str, list[str]] = {}
    for group, transform in race["transforms"]:
        groups.setdefault(group, []).append(transform)
    return {group: picture(group, transforms, race) for group, transforms in groups.items()}


def points(positives: list[float], negatives: list[float]) -> list[tuple[float, float]]:
    """(recall, precision) at every limit, from the strictest on."""
    limits = sorted({score for score in positives if score > 0}, reverse=True)
    found = []
    for limit in limits:
        right = sum(score >= limit for score in positives)
        wrong = sum(score >= limit for score in negatives)
        found.append((right / len(positives), right / (right + wrong)))
    return found


def picture(group: str, transforms: list[str], race: dict[str, Any]) -> str:
    """The different photos of all transforms count against every group: precision is rather too low than too high."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{MARGIN}" y="24" font-size="15">Precision and recall: {group}</text>',
    ]
    right, bottom = WIDTH - 190, HEIGHT - MARGIN

    def at(recall: float, precision: float) -> tuple[float, float]:
        return MARGIN + recall * (right - MARGIN), bottom - precision * (bottom - 40)

    for tick in (0, 0.25, 0.5, 0.75, 1):
        (x, y), (end, _) = at(0, tick), at(1, tick)
        parts.append(f'<path d="M{x} {y:.1f}H{end}" stroke="#ddd"/><text x="{x - 34}" y="{y + 4:.1f}">{tick}</text>')
        parts.append(f'<text x="{at(tick, 0)[0] - 8:.1f}" y="{bottom + 18}">{tick}</text>')
    parts.append(f'<text x="{(MARGIN + right) / 2 - 20}" y="{HEIGHT - 14}">recall</text>')
    for number, (name, (result, _)) in enumerate(methods(race).items()):
        positives = [score for transform in transforms for score in result["scores"][transform][name]]
        line = points(positives, result["negatives"][name])
        colour = COLOURS[number % len(COLOURS)]
        if line:
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in line))
            parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{right + 16}" y="{60 + 18 * number}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
