"""Turns the text files of Debian packages into prose: one sentence per line, an empty line between paragraphs.

Markup goes, punctuation and capitals stay. A sentence occurs once: later repetitions are dropped, so that nothing is similar
in the corpus but what the generator makes similar. Only the standard library, and nothing whose result depends on the
Python version: character classes are written out.
"""

from __future__ import annotations

import gzip
import html
import re
import subprocess
import tarfile
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

SKIPPED_BLOCKS = re.compile(r"<(script|style|pre|head|nav|table|svg|footer)\b.*?</\1\s*>|<!--.*?-->", re.S | re.I)
PARAGRAPH_TAGS = re.compile(r"</?(p|div|li|ul|ol|dl|dt|dd|h[1-6]|br|hr|blockquote|section|article|body|td|tr)\b[^>]*>", re.I)
ANY_TAG = re.compile(r"<[^>]*>")
DICTIONARY_MARKS = re.compile(r"\[[^\]]*\]|[{}]")
SENSE = re.compile(r"\n +(?:[a-z]+ )?[0-9]+[.:] |\n +(?=--)|; (?=\")|(?<=\")(?=;)")
BLANK_LINES = re.compile(r"\n[ \t\r]*\n+")
SPACES = re.compile(r"[ \t\r\n\f\v]+")
ROFF_FONT = re.compile(r"\\f(?:\[[^\]]*\]|\([A-Z]{2}|.)|\\[&/,|^%:)]|\\s[-+]?[0-9]+")
ROFF_CHARACTER = re.compile(r"\\(?:\(([a-zA-Z]{2})|\[([a-zA-Z]{2})\]|([-e~' ]))")
ROFF_NAMES = {"aq": "'", "cq": "'", "oq": "'", "dq": '"', "lq": '"', "rq": '"', "hy": "-", "en": "-", "em": "--", "bu": "*"}
ROFF_TEXT_MACROS = {"B", "I", "BR", "IR", "RB", "RI", "BI", "IB", "SM", "SB"}
SENTENCE_END = re.compile(r'(?<=[.!?])["\')]* +(?=["\'(]?[A-Z])')
TYPOGRAPHY = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2026": "...",
        "\u00a0": " ",
        "\u2010": "-",
        "\u2011": "-",
        "\u00ad": "",
    }
)

# Printable ASCII but for underscore, backslash and backtick: what is left out marks code rather than prose.
ENGLISH = re.compile(r"""["'(]?[A-Za-z][ -\[\]^a-~]*[.!?:;]["')]*""")
SYMBOL = re.compile(r"[\[\]{}<>|=#$%&*+@^~]")
WORD = re.compile(r"[A-Za-z0-9]+")
# Function words tell English prose from lists of names and from other languages in ASCII.
FUNCTION_WORDS = frozenset(
    "the a an of to in is are was be and or for that this it with as by on not from at if you can will which have has but".split()
)
IDEOGRAPHIC_END = re.compile(r"(?<=[\u3002\uff01\uff1f])")
NOT_ASCII = re.compile(r"[^\x00-\x7f]")
PROSE_SYMBOLS = re.compile(r"[<>{}|\\=_$#*^~@]")


def english(packages: list[Path]) -> Iterator[list[str]]:
    """Paragraphs of English sentences, in package and file order, without repetitions."""
    seen: set[bytes] = set()
    for paragraph in _paragraphs(packages):
        sentences = [s for s in SENTENCE_END.split(paragraph.translate(TYPOGRAPHY)) if _is_english(s)]
        yield from _unseen(sentences, seen)


def foreign(packages: list[Path]) -> Iterator[list[str]]:
    """Paragraphs in which other scripts or accented letters occur, without repetitions."""
    seen: set[bytes] = set()
    for paragraph in _paragraphs(packages):
        sentences = [part.strip() for s in SENTENCE_END.split(paragraph) for part in IDEOGRAPHIC_END.split(s)]
        yield from _unseen([s for s in sentences if _is_foreign(s)], seen)


def _is_english(sentence: str) -> bool:
    if not 30 <= len(sentence) <= 600 or not ENGLISH.fullmatch(sentence):
        return False
    words = WORD.findall(sentence)
    letters = sum(map(len, words))
    if len(words) < 6 or letters > 9 * len(words) or letters < 0.7 * len(sentence):
        return False
    if len(SYMBOL.findall(sentence)) * 40 > len(sentence):
        return False
    return sum(word.lower() in FUNCTION_WORDS for word in words) * 8 >= len(words)


def _is_foreign(sentence: str) -> bool:
    size = len(sentence.encode())
    return 40 <= size <= 600 and len(NOT_ASCII.findall(sentence)) * 40 >= len(sentence) and not PROSE_SYMBOLS.search(sentence)


def _unseen(sentences: list[str], seen: set[bytes]) -> Iterator[list[str]]:
    kept = []
    for sentence in sentences:
        key = blake2b(" ".join(WORD.findall(sentence.lower()) or [sentence]).encode(), digest_size=12).digest()
        if key not in seen:
            seen.add(key)
            kept.append(sentence)
    if kept:
        yield kept


def _paragraphs(packages: list[Path]) -> Iterator[str]:
    for package in packages:
        for name, data in _files(package):
            for paragraph in _split(name, data):
                text = SPACES.sub(" ", paragraph).strip()
                if len(text) >= 30:
                    yield text


def _files(package: Path) -> Iterator[tuple[str, bytes]]:
    """Regular files of a package, without unpacking it to the disk."""
    process = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout, tarfile.open(fileobj=process.stdout, mode="r|") as archive:
        for member in archive:
            if member.isfile() and _reader(member.name) is not None:
                stream = archive.extractfile(member)
                assert stream is not None
                yield member.name, stream.read()
    if process.wait() != 0:
        raise RuntimeError(f"dpkg-deb could not read {package.name}")


def _reader(name: str):
    base = name.removesuffix(".gz").removesuffix(".dz")
    if re.search(r"\.x?html?$", base):
        return _html
    if re.search(r"/man/.*\.[1-9][a-z]*$", base):
        return _roff
    if re.search(r"/fortunes/[a-z0-9-]+$", base):
        return _fortunes
    if base.endswith(".dict"):
        return _dictionary
    if re.search(r"(\.(txt|TXT|info|info-[0-9]+)|/(changelog|NEWS|README)[^/]*)$", base):
        return _plain
    return None


def _split(name: str, data: bytes) -> list[str]:
    if name.endswith((".gz", ".dz")):
        data = gzip.decompress(data)
    reader = _reader(name)
    assert reader is not None
    return reader(data.decode("utf-8", errors="replace"))


def _plain(text: str) -> list[str]:
    return BLANK_LINES.split(text)


def _dictionary(text: str) -> list[str]:
    text = SENSE.sub("\n\n", DICTIONARY_MARKS.sub("", text))
    # Definitions are written without capital and full stop; as sentences they get both.
    senses = (SPACES.sub(" ", sense).strip(" ;") for sense in BLANK_LINES.split(text))
    return [sense[:1].upper() + sense[1:] + ("." if sense[-1:].isalnum() else "") for sense in senses]


def _fortunes(text: str) -> list[str]:
    return text.split("\n%\n")


def _html(text: str) -> list[str]:
    text = SKIPPED_BLOCKS.sub("\n\n", text)
    text = ANY_TAG.sub("", PARAGRAPH_TAGS.sub("\n\n", text))
    return [html.unescape(paragraph) for paragraph in BLANK_LINES.split(text)]


def _roff(text: str) -> list[str]:
    lines = []
    for line in text.split("\n"):
        if line.startswith((".", "'")):
            macro, _, rest = line[1:].strip().partition(" ")
            line = rest.replace('"', "") if macro in ROFF_TEXT_MACROS else ""
        line = ROFF_CHARACTER.sub(_roff_character, ROFF_FONT.sub("", line))
        lines.append(line)
    return BLANK_LINES.split("\n".join(lines))


def _roff_character(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    if name:
        return ROFF_NAMES.get(name, " ")
    return "\\" if match[3] == "e" else match[3]
