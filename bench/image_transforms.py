"""What happens to photos: every transform of the race of pictures, and the files of all of them.

A transform has a group (what is done), a name (how strongly) and a function of a picture and of random numbers of that picture alone, so that the files are the same in
every run. Everything but the JPEG group is saved with quality 90, as somebody who shares a picture does.
"""

import io
import random
from pathlib import Path

import numpy
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps


def resized(factor):
    return lambda picture, _: picture.resize(
        (max(1, round(picture.width * factor)), max(1, round(picture.height * factor))), Image.LANCZOS
    )


def cropped(kept):
    """Keeps this share of both sides, somewhere."""

    def crop(picture, draw):
        width, height = round(picture.width * kept), round(picture.height * kept)
        left, top = draw.randint(0, picture.width - width), draw.randint(0, picture.height - height)
        return picture.crop((left, top, left + width, top + height))

    return crop


def rotated(degrees):
    """Around the middle, in the same frame (what leaves it is lost); by quarters in a new one."""
    whole = degrees % 90 == 0
    return lambda picture, _: picture.rotate(degrees, Image.BICUBIC, expand=whole)


def gamma(exponent):
    table = [round(255 * (i / 255) ** exponent) for i in range(256)]
    return lambda picture, _: picture.point(table * len(picture.getbands()))


def noisy(sigma):
    def add(picture, draw):
        values = numpy.asarray(picture, numpy.float32)
        noise = numpy.random.default_rng(draw.getrandbits(64)).normal(0, sigma, values.shape)
        return Image.fromarray(numpy.clip(values + noise, 0, 255).astype(numpy.uint8))

    return add


def lettered(lines):
    def write(picture, draw):
        picture = picture.copy()
        pen = ImageDraw.Draw(picture)
        size = picture.height // 8
        for line in range(lines):
            at = (draw.randint(0, picture.width // 3), (line + 1) * picture.height // (lines + 1) - size // 2)
            pen.text(at, "Holiday 2026", fill=(255, 255, 255), font_size=size, stroke_width=2, stroke_fill=(0, 0, 0))
        return picture

    return write


def framed(share, colour):
    return lambda picture, _: ImageOps.expand(picture, round(share * min(picture.size)), colour)


def enhanced(kind, factor):
    return lambda picture, _: kind(picture).enhance(factor)


def transforms():
    """(group, name, function, JPEG quality) of each."""

    def same(picture, _):
        return picture

    yield from (("resize", f"x{f}", resized(f), 90) for f in (0.25, 0.5, 0.75, 1.5, 2))
    yield from (("jpeg", f"q{q}", same, q) for q in (10, 20, 30, 50, 70, 90))
    yield from (("crop", f"to {k}%", cropped(k / 100), 90) for k in (90, 80, 70, 60, 50, 40))
    yield from (("rotation", f"{d} degrees", rotated(d), 90) for d in (1, 2, 5, 10, 20, 30, 45, 60, 90, 135, 180))
    yield ("flip", "left-right", lambda p, _: ImageOps.mirror(p), 90)
    yield ("flip", "top-bottom", lambda p, _: ImageOps.flip(p), 90)
    yield from (("brightness", f"x{f}", enhanced(ImageEnhance.Brightness, f), 90) for f in (0.5, 0.7, 1.3, 1.5))
    yield from (("contrast", f"x{f}", enhanced(ImageEnhance.Contrast, f), 90) for f in (0.5, 0.7, 1.3, 1.6))
    yield from (("gamma", f"{g}", gamma(g), 90) for g in (0.5, 0.7, 1.5, 2))
    yield from (("blur", f"{r} px", lambda p, _, r=r: p.filter(ImageFilter.GaussianBlur(r)), 90) for r in (1, 2, 3, 4))
    yield from (("noise", f"sd {s}", noisy(s), 90) for s in (5, 10, 20, 30))
    yield from (("text", f"{n} lines", lettered(n), 90) for n in (1, 3))
    yield ("grey", "grey", lambda p, _: ImageOps.grayscale(p), 90)
    yield from (("border", f"{s}% {c}", framed(s / 100, c), 90) for s, c in ((5, "white"), (10, "black"), (20, "white")))


def write_all(photos, folder):
    """Writes every transform of every photo; gives (group, name, folder) of each transform."""
    folder = Path(folder)
    written = []
    for number, (group, name, change, quality) in enumerate(transforms()):
        place = folder / f"{number:02}"
        place.mkdir(parents=True, exist_ok=True)
        written.append((group, name, place))
        for photo in photos:
            path = place / (Path(photo).stem + ".jpg")
            if path.exists():
                continue
            picture = Image.open(photo).convert("RGB")
            out = io.BytesIO()
            change(picture, random.Random(f"{photo.stem} {group} {name}")).save(out, "JPEG", quality=quality)
            path.write_bytes(out.getvalue())
    return written


def leaves(number):
    """A picture like no other: discs that lie upon each other, with radii of a power law, as edges in photos have."""
    draw = numpy.random.default_rng(number)
    width, height, discs = 320, 240, 600
    radii = 3 / (0.03 + 0.97 * draw.random(discs))
    xs, ys = draw.random(discs) * width, draw.random(discs) * height
    colours = draw.random((discs, 3)) * 235
    picture = numpy.full((height, width, 3), 128, numpy.float32)
    for radius, x, y, colour in zip(radii, xs, ys, colours, strict=True):
        top, left = max(0, int(y - radius)), max(0, int(x - radius))
        part = picture[top : int(y + radius) + 2, left : int(x + radius) + 2]
        rows, columns = numpy.ogrid[top : top + part.shape[0], left : left + part.shape[1]]
        part[(columns - x) ** 2 + (rows - y) ** 2 < radius**2] = colour
    return Image.fromarray(picture.astype(numpy.uint8)).filter(ImageFilter.GaussianBlur(0.7))


def write_leaves(n, folder):
    """Writes n pictures, every tenth of which is a changed copy of the one before, by each of the transforms in turn that keep most of a picture."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    changes = [(change, quality) for group, name, change, quality in transforms() if (group, name) in KEPT]
    for number in range(n):
        path = folder / f"{number:06}.jpg"
        if path.exists():
            continue
        if number % 10 == 9:
            change, quality = changes[number // 10 % len(changes)]
            picture = change(leaves(number - 1), random.Random(number))
        else:
            picture, quality = leaves(number), 90
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=quality)
        path.write_bytes(out.getvalue())


KEPT = {("resize", "x0.5"), ("jpeg", "q30"), ("crop", "to 80%"), ("rotation", "10 degrees"), ("flip", "left-right"), ("brightness", "x0.7")}
