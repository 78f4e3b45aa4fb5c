#!/usr/bin/env python3
"""The crates are built as ARCHITECTURE.md says: no cycles between modules, a true picture, files that exist.

    python3 tools/architecture.py [--measure] [ROOT]

1. No import cycle between the modules of a crate, nor between those of a folder with more than five of them. What counts are paths through `crate`, `super` and `self`,
   followed through re-exports to where a name is defined. Comments, strings and what is built for tests only do not count. Below the top of a crate two modules may know each other.
2. The picture (the first Mermaid graph) has every crate and an arrow A --> B exactly where `[dependencies]` of A name B and no other dependency of A needs B: the transitive reduction.
3. ARCHITECTURE.md has at most 250 lines. Every path that it or a page of docs/decisions names exists: a link from the page, a path in backticks from the root or as the end of a
   path below crates (`verify/run.rs`). The list of decisions has all of them.

Prints what is wrong and exits with 1. `--measure` prints what is long, large and ambiguous instead, and ends with one line of figures.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

MAX_LINES = 250
# A folder below the top of a crate is checked if it has more modules.
FEW_MODULES = 5
# What `--measure` lists is above these.
MAX_FUNCTION_LINES, MAX_FILE_LINES, MAX_FIELDS, MAX_TYPES = 50, 400, 12, 3

Module = tuple  # of names, from the root of the crate
Graph = dict  # from a name to {name: why}

# Comments and literals. A lifetime is no literal: it has no second quote.
OPAQUE = re.compile(r"""//[^\n]*|/\*.*?\*/|b?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\(?:u\{\w+\}|x..|.)|[^'\\\n])'""", re.S)
TEST_ONLY = re.compile(r"#\[cfg\((?:test|all\(test\b[^\]]*\))\)\]")


# Rust


@dataclass
class File:
    """A source file: what is code in it, everything else blank, so that places are those of the file."""

    path: Path
    module: Module
    text: str
    closings: dict[int, int]
    n_lines: int

    def line(self, at: int) -> str:
        number = self.text.count("\n", 0, at) + 1
        return f"{self.path}:{number}"

    def inside(self, opening: int) -> str:
        """What is between the bracket at this place and its partner."""
        return self.text[opening + 1 : self.closings[opening]]

    def item_end(self, at: int) -> int:
        """The place behind the item that begins here: behind its semicolon or its braces."""
        while at < len(self.text) and self.text[at] not in ";{)]}":
            at = self.closings.get(at, at) + 1
        return self.closings.get(at, at) + 1


def blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def read(path: Path, shown: Path, module: Module) -> tuple[File, set[Module]]:
    """A file, and the modules that it declares for tests only."""
    text = OPAQUE.sub(lambda m: blank(m.group()), path.read_text(encoding="utf-8"))
    closings, open_at = {}, []
    for bracket in re.finditer(r"[()\[\]{}]", text):
        if bracket.group() in "([{":
            open_at.append(bracket.start())
        elif open_at:
            closings[open_at.pop()] = bracket.start()
    file, tests, end = File(shown, module, text, closings, text.count("\n")), set(), 0
    for attribute in TEST_ONLY.finditer(text):
        if attribute.start() < end:
            continue
        end = file.item_end(attribute.end())
        item = file.text[attribute.start() : end]
        if declared := re.search(r"\bmod (\w+);", item):
            tests.add((*module, declared.group(1)))
        file.text = file.text[: attribute.start()] + blank(item) + file.text[end:]
        file.n_lines -= item.count("\n")
    return file, tests


def crate_files(root: Path, src: Path) -> list[File]:
    """The files of a crate that are not for tests only."""
    files, tests = [], set()
    for path in sorted(src.rglob("*.rs")):
        *folders, name = path.relative_to(src).with_suffix("").parts
        module = tuple(folders) if name in ("mod", "lib", "main") else (*folders, name)
        file, declared = read(path, path.relative_to(root), module)
        files.append(file)
        tests |= declared
    return [file for file in files if not any(file.module[:n] in tests for n in range(len(file.module) + 1))]


def split(text: str) -> list[str]:
    """The parts between the commas that are in no bracket."""
    parts, depth = [""], 0
    for character in text.replace("->", "  "):
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def use_tree(text: str) -> Iterator[tuple[list[str], str]]:
    """The paths of `a::{b, c::d as e}`, each with the name that it brings."""
    head, brace, rest = text.partition("{")
    names = re.findall(r"\w+", head.partition(" as ")[0])
    if brace:
        for part in split(rest[: rest.rindex("}")]):
            for path, name in use_tree(part):
                if path == ["self"]:
                    yield names, names[-1] if name == "self" else name
                else:
                    yield names + path, name
    elif names:
        yield names, re.findall(r"\w+", head)[-1]


class Crate:
    """The modules of a crate and who knows whom."""

    def __init__(self, root: Path, src: Path) -> None:
        self.name, self.src = src.parent.name, src.relative_to(root)
        self.files = crate_files(root, src)
        self.modules = {file.module[:n] for file in self.files for n in range(len(file.module) + 1)}
        self.imported: dict[Module, dict[str, list[str]]] = defaultdict(dict)
        for file in self.files:
            for use in re.finditer(r"\buse ([^;]+);", file.text):
                for path, name in use_tree(use.group(1)):
                    self.imported[file.module].setdefault(name, path)

    def folders(self) -> dict[Module, list[str]]:
        """The names of the modules in each folder; the crate itself is the folder without a name."""
        found = defaultdict(list)
        for module in sorted(self.modules - {()}):
            found[module[:-1]].append(module[-1])
        return found

    def paths(self, file: File) -> Iterator[tuple[int, Module, list[str]]]:
        """Every path that begins with crate, self or super: its place, the module that it is in, its names."""
        inner = [(m.end() - 1, m.group(1)) for m in re.finditer(r"\bmod (\w+)\s*\{", file.text)]
        for found in re.finditer(r"\b(?:crate|self|super)::(?:\w+::)*(?:\w+|(\{))", file.text):
            module = file.module + tuple(name for at, name in inner if at < found.start() < file.closings[at])
            end = file.closings[found.end() - 1] + 1 if found.group(1) else found.end()
            for path, _ in use_tree(file.text[found.start() : end]):
                yield found.start(), module, path

    def met(self, module: Module, path: list[str], hops: int = 8) -> Iterator[Module]:
        """The modules that a path leads to: the one that it names, and where that has the name from."""
        at, origin, rest = module, None, []
        for n, name in enumerate(path):
            if name == "crate":
                at = ()
            elif name == "super":
                at = at[:-1]
            elif (*at, name) in self.modules:
                at = (*at, name)
            elif name != "self":
                origin, rest = self.imported[at].get(name), path[n + 1 :]
                break
        yield at
        if hops and origin and (origin[0] in ("crate", "self", "super") or (*at, origin[0]) in self.modules):
            yield from self.met(at, origin + rest, hops - 1)

    def graphs(self) -> dict[Module, Graph]:
        """For each folder, which of its modules knows which other, and one line where."""
        graphs: dict[Module, Graph] = defaultdict(lambda: defaultdict(dict))
        for file in self.files:
            for place, module, path in self.paths(file):
                for other in self.met(module, path):
                    n = next((n for n, (a, b) in enumerate(zip(module, other)) if a != b), None)
                    if n is not None:
                        graphs[module[:n]][module[n]].setdefault(other[n], file.line(place))
        return graphs

    def cycles(self) -> Iterator[tuple[Path, list[str], Graph]]:
        """Folder, modules and graph of every cycle."""
        graphs = self.graphs()
        for folder, names in self.folders().items():
            if not folder or len(names) > FEW_MODULES:
                for modules in components(graphs[folder]):
                    if not folder or len(modules) > 2:
                        yield self.src.joinpath(*folder), modules, graphs[folder]


# Graphs


def reachable(graph: Graph, start: str) -> set[str]:
    found, waiting = set(), [start]
    while waiting:
        for name in graph.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def components(graph: Graph) -> list[list[str]]:
    """The sets of names that reach each other, of two and more."""
    reach = {name: reachable(graph, name) for name in graph}
    found = {tuple(sorted(b for b in reach[a] if a in reach.get(b, ()))) for a in reach}
    return sorted(list(part) for part in found if len(part) > 1)


def shortest_cycle(graph: Graph, names: list[str]) -> list[str]:
    """One of the shortest, its first name again at the end."""
    ways = [[name] for name in names]
    while True:
        ways = [[*way, name] for way in ways for name in graph.get(way[-1], ()) if name in names and name not in way[1:]]
        for way in ways:
            if way[0] == way[-1]:
                return way


# Checks


def check_modules(root: Path) -> Iterator[str]:
    for src in sorted(root.glob("crates/*/src")):
        for folder, modules, graph in Crate(root, src).cycles():
            way = shortest_cycle(graph, modules)
            why = "".join(f"\n    {a} knows {b}: {graph[a][b]}" for a, b in zip(way, way[1:]))
            yield f"{folder}: a cycle of {len(modules)} modules: {' '.join(modules)}; in it{why}"


def dependencies(root: Path) -> dict[str, set[str]]:
    """What the [dependencies] of each crate under crates/ name of the others, by folder."""
    manifests = {path.parent.name: path.read_text(encoding="utf-8") for path in root.glob("crates/*/Cargo.toml")}
    folders = {re.search(r'^name = "([^"]+)"', text, re.M).group(1): folder for folder, text in manifests.items()}
    found: dict[str, set[str]] = {folder: set() for folder in manifests}
    for folder, text in manifests.items():
        for header, body in re.findall(r"^\[([^\]\n]+)\]\n(.*?)(?=^\[|\Z)", text, re.M | re.S):
            if heading := re.search(r"(?:^|\.)dependencies(?:\.([\w-]+))?$", header):
                named = re.findall(r'^([\w-]+)|\bpackage = "([\w-]+)"', body, re.M)
                found[folder] |= {folders[name] for name in (heading.group(1), *itertools.chain(*named)) if name in folders}
    return found


def picture(text: str) -> tuple[set[str], set[tuple[str, str]]]:
    """The names and arrows of the first Mermaid graph."""
    block = re.search(r"^```mermaid\n(.*?)^```", text, re.M | re.S)
    names, arrows = set(), set()
    for line in block.group(1).splitlines() if block else []:
        steps = [re.findall(r"[\w-]+", re.sub(r"\[[^\]]*\]", "", step)) for step in line.split("%%")[0].split("-->")]
        for left, right in zip(steps, steps[1:]):
            names.update(left, right)
            arrows.update(itertools.product(left, right))
    return names, arrows


def check_picture(root: Path, text: str) -> Iterator[str]:
    needs = dependencies(root)
    reach = {a: reachable(needs, a) for a in needs}
    wanted = {(a, b) for a in needs for b in needs[a] if not any(b in reach[c] for c in needs[a])}
    names, drawn = picture(text)
    if not drawn:
        yield "ARCHITECTURE.md: there is no picture of the crates (a Mermaid graph)"
        return
    for name in sorted(needs.keys() - names):
        yield f"ARCHITECTURE.md: the picture lacks the crate {name}"
    for name in sorted(names - needs.keys()):
        yield f"ARCHITECTURE.md: the picture has {name}, and there is no crates/{name}/Cargo.toml"
    for a, b in sorted(wanted - drawn):
        yield f"ARCHITECTURE.md: the picture lacks {a} --> {b}, which crates/{a}/Cargo.toml has"
    for a, b in sorted(drawn - wanted):
        if {a, b} <= needs.keys():
            between = sorted(c for c in needs[a] if b in reach[c])
            why = f"says {between[0]} already, which needs {b}" if b in needs[a] else f"does not name {b}"
            yield f"ARCHITECTURE.md: the picture has {a} --> {b}; crates/{a}/Cargo.toml {why}"


def missing_paths(root: Path, page: Path, below_crates: set[str]) -> Iterator[str]:
    """What a page names in backticks or as a link, outside of blocks, and nobody has."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in target and not (page.parent / target).exists():
            yield target
    for name in re.findall(r"`(\w[\w./*-]*)`", text):
        is_path = "/" in name or re.search(r"\.(rs|py|md|sh|toml)$", name)
        if is_path and not any(root.glob(name)) and name.rstrip("/") not in below_crates:
            yield name


def check_documents(root: Path, text: str) -> Iterator[str]:
    n_lines = len(text.splitlines())
    if n_lines > MAX_LINES:
        yield f"ARCHITECTURE.md: {n_lines} lines, at most {MAX_LINES}"
    paths = [path.relative_to(root).parts for path in root.glob("crates/**/*")]
    below_crates = {"/".join(parts[n:]) for parts in paths for n in range(1, len(parts))}
    decisions = sorted(root.glob("docs/decisions/[0-9]*.md"))
    listed = root / "docs/decisions/README.md"
    for page in (root / "ARCHITECTURE.md", listed, *decisions):
        for name in sorted(set(missing_paths(root, page, below_crates))):
            yield f"{page.relative_to(root)}: {name} does not exist"
    for page in decisions:
        if f"({page.name})" not in listed.read_text(encoding="utf-8"):
            yield f"{listed.relative_to(root)}: {page.name} is not in the list"


def problems(root: Path) -> list[str]:
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    return [*check_modules(root), *check_picture(root, text), *check_documents(root, text)]


# Measures


def functions(file: File) -> Iterator[tuple[int, str, int, int]]:
    """Place, name, lines and number of tuple parameters of every function with a body."""
    for found in re.finditer(r"\bfn (\w+)", file.text):
        opening, depth = found.end(), 0
        while depth or file.text[opening] != "(":
            arrow = file.text[opening - 1 : opening + 1] == "->"
            depth += (file.text[opening] == "<") - (file.text[opening] == ">" and not arrow)
            opening += 1
        end = file.item_end(file.closings[opening] + 1)
        if file.text[end - 1] == "}":
            types = [re.split(r"(?<!:):(?!:)", parameter, maxsplit=1)[-1] for parameter in split(file.inside(opening))]
            tuples = [re.match(r"\s*(?:&\s*(?:'\w+\s+)?(?:mut\s+)?)*\((.*)\)$", kind, re.S) for kind in types]
            n_tuples = sum(len(split(m.group(1))) > 1 for m in tuples if m)
            yield found.start(), found.group(1), file.text.count("\n", found.start(), end) + 1, n_tuples


def structs(file: File) -> Iterator[tuple[int, str, int]]:
    """Place, name and number of fields of every struct with named fields."""
    for found in re.finditer(r"\bstruct (\w+)[^;{(]*\{", file.text):
        yield found.start(), found.group(1), len(split(file.inside(found.end() - 1)))


def measure(root: Path) -> None:
    n_lines, n_in_cycles = 0, 0
    long, tuples, large, files, types = [], [], [], [], defaultdict(set)
    for crate in (Crate(root, src) for src in sorted(root.glob("crates/*/src"))):
        for folder, modules, _ in crate.cycles():
            n_in_cycles += len(modules)
            print(f"cycle of {len(modules)} in {folder}: {' '.join(modules)}")
        for file in crate.files:
            n_lines += file.n_lines
            if file.n_lines > MAX_FILE_LINES:
                files.append((file.n_lines, str(file.path)))
            for place, name, length, n_tuples in functions(file):
                if length > MAX_FUNCTION_LINES:
                    long.append((length, f"{file.line(place)} {name}"))
                if n_tuples:
                    tuples.append((n_tuples, f"{file.line(place)} {name}"))
            for place, name, n_fields in structs(file):
                # The options of a command may be many.
                if n_fields > MAX_FIELDS and name != "Arguments":
                    large.append((n_fields, f"{file.line(place)} {name}"))
            for name in re.findall(r"^(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type) (\w+)", file.text, re.M):
                if name not in ("Error", "Result", "Arguments"):
                    types[crate.name, name].add(file.path)
    names = [(len(found), f"{crate} {name}") for (crate, name), found in types.items() if len(found) > MAX_TYPES]
    for title, found in (
        (f"functions of more than {MAX_FUNCTION_LINES} lines", long),
        ("functions with parameters that are tuples", tuples),
        (f"structs of more than {MAX_FIELDS} fields", large),
        (f"files of more than {MAX_FILE_LINES} lines", files),
        (f"names of more than {MAX_TYPES} types in a crate", names),
    ):
        print(f"\n{title}: {len(found)}")
        for number, what in sorted(found, key=lambda row: (-row[0], row[1])):
            print(f"{number:6} {what}")
    n_tuples = sum(number for number, _ in tuples)
    print(
        f"\n{n_lines} lines, {n_in_cycles} modules in cycles, {len(long)} long functions, {n_tuples} tuple parameters, {len(large)} large structs, "
        f"{len(files)} large files, {len(names)} overloaded names"
    )


def main(arguments: list[str]) -> int:
    root = Path(next((word for word in arguments if not word.startswith("-")), Path(__file__).resolve().parent.parent))
    if "--measure" in arguments:
        measure(root)
        return 0
    found = problems(root)
    for problem in found:
        print(problem, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
