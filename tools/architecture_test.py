#!/usr/bin/env python3
"""Tests of architecture.py, over small trees that are made up: python3 tools/architecture_test.py"""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import architecture

PICTURE = "# Architecture\n\n```mermaid\ngraph TD\n    cli --> index & dedup\n    index --> core\n    dedup[a deduplication] --> core\n```\n"
NEEDS = {"core": [], "index": ["core"], "dedup": ["core"], "cli": ["core", "index", "dedup"]}
# Modules that fill a folder, so that it is checked.
MANY = {f"m{i}.rs": "" for i in range(6)}


class Made(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


class Cycles(Made):
    def cycles(self, files: dict[str, str]) -> list[list[str]]:
        """The cycles of a crate of these files."""
        for path, text in {"lib.rs": "", **files}.items():
            self.write(f"crates/made/src/{path}", text)
        return [modules for _, modules, _ in architecture.Crate(self.root, self.root / "crates/made/src").cycles()]

    def test_a_line_of_modules_is_no_cycle(self) -> None:
        self.assertEqual(self.cycles({"a.rs": "use crate::b::B;", "b.rs": "use crate::c::C;", "c.rs": "use std::fmt;"}), [])

    def test_two_modules_at_the_top_that_import_each_other_are_one(self) -> None:
        self.assertEqual(self.cycles({"a.rs": "use crate::b::B;", "b.rs": "use crate::a::A;"}), [["a", "b"]])

    def test_through_super(self) -> None:
        self.assertEqual(self.cycles({"a.rs": "use super::b::B;", "b/mod.rs": "", "b/deep.rs": "fn f() { super::super::a::f() }"}), [["a", "b"]])

    def test_through_self_and_a_name_that_the_crate_has_from_a_module(self) -> None:
        self.assertEqual(self.cycles({"lib.rs": "pub use self::b::B;", "a.rs": "use crate::B;", "b.rs": "use crate::a::A;"}), [["a", "b"]])

    def test_through_self_in_a_module_with_a_body(self) -> None:
        self.assertEqual(self.cycles({"a.rs": "mod inner { use super::super::b::B; }", "b.rs": "use self::super::a::A;"}), [["a", "b"]])
        self.assertEqual(self.cycles({"a.rs": "mod b {}\nmod inner { use super::b::B; }", "b.rs": "use crate::a::A;"}), [])

    def test_through_the_braces_of_a_list(self) -> None:
        self.assertEqual(self.cycles({"a.rs": "use crate::{Error, b::{self, B}, c::d as e};", "b.rs": "", "c.rs": "use crate::{a, z::Z};"}), [["a", "c"]])

    def test_through_a_path_in_the_middle_of_code(self) -> None:
        self.assertEqual(self.cycles({"a.rs": "fn f<'a>(x: &'a str) { crate::b::g(x) }", "b.rs": "impl From<crate::a::A> for B {}"}), [["a", "b"]])

    def test_through_a_name_that_another_module_has_from_a_third(self) -> None:
        files = {"a.rs": "pub use crate::c::C;", "b.rs": "use crate::a::C as D;", "c.rs": "use crate::b::B;"}
        self.assertEqual(self.cycles(files), [["a", "b", "c"]])

    def test_a_name_that_leads_to_itself_ends(self) -> None:
        self.assertEqual(self.cycles({"a.rs": "use crate::b::B;", "b.rs": "pub use self::B;"}), [])

    def test_comments_and_strings_import_nothing(self) -> None:
        quiet = ["// use crate::a::A;", "/* use crate::a::A; */", "//! [`crate::a::A`]", 'const S: &str = "crate::a::A \\" crate::a::A";']
        quiet += ['const S: &str = r#"a " crate::a::A"#;', "const C: char = '\"'; // use crate::a::A;"]
        for text in quiet:
            self.assertEqual(self.cycles({"a.rs": "use crate::b::B;", "b.rs": text}), [], text)

    def test_code_after_a_string_counts(self) -> None:
        self.assertEqual(self.cycles({"a.rs": "use crate::b::B;", "b.rs": "const C: [char; 2] = ['\"', '\\''];\nuse crate::a::A;"}), [["a", "b"]])

    def test_what_is_for_tests_only_imports_nothing(self) -> None:
        quiet = ["#[cfg(test)]\nmod tests { use crate::a::A; }", "#[cfg(test)]\nuse crate::a::A;", "#[cfg(test)]\n#[inline]\nfn f(x: [u8; 2]) { crate::a::f() }"]
        quiet += ['#[cfg(all(test, feature = "f"))]\npub(crate) mod tests { use crate::a::A; }']
        for text in quiet:
            self.assertEqual(self.cycles({"a.rs": "use crate::b::B;", "b.rs": text}), [], text)

    def test_a_file_for_tests_only_imports_nothing(self) -> None:
        files = {"a.rs": "use crate::b::B;", "b/mod.rs": "#[cfg(test)]\nmod suite;", "b/suite/mod.rs": "mod x;", "b/suite/x.rs": "use crate::a::A;"}
        self.assertEqual(self.cycles(files), [])

    def test_code_after_tests_counts(self) -> None:
        self.assertEqual(self.cycles({"a.rs": "use crate::b::B;", "b.rs": "#[cfg(test)]\nmod tests {}\nuse crate::a::A;"}), [["a", "b"]])

    def test_a_folder_of_few_modules_may_have_one(self) -> None:
        files = {"x/mod.rs": "", "x/a.rs": "use super::b::B;", "x/b.rs": "use super::c::C;", "x/c.rs": "use super::a::A;"}
        self.assertEqual(self.cycles(files), [])
        self.assertEqual(self.cycles({**files, **{f"x/{name}": "" for name in MANY}}), [["a", "b", "c"]])

    def test_below_the_top_two_may_know_each_other(self) -> None:
        files = {"x/mod.rs": "", "x/a.rs": "use super::b::B;", "x/b.rs": "use super::a::A;", **{f"x/{name}": "" for name in MANY}}
        self.assertEqual(self.cycles(files), [])

    def test_the_message_says_who_knows_whom_where(self) -> None:
        self.cycles({"a.rs": "\nuse crate::b::B;", "b.rs": "use crate::a::A;"})
        (message,) = architecture.check_modules(self.root)
        self.assertIn("crates/made/src: a cycle of 2 modules: a b", message)
        self.assertIn("a knows b: crates/made/src/a.rs:2", message)
        self.assertIn("b knows a: crates/made/src/b.rs:1", message)


class Pictures(Made):
    def problems(self, text: str, needs: dict[str, list[str]] = NEEDS) -> list[str]:
        for crate, others in needs.items():
            lines = "".join(f"benzer-{other}.workspace = true\n" for other in others)
            self.write(
                f"crates/{crate}/Cargo.toml",
                f'[package]\nname = "benzer-{crate}"\n\n[dependencies]\nserde = "1"\n{lines}\n[dev-dependencies]\nbenzer-index.workspace = true\n',
            )
        return list(architecture.check_picture(self.root, text))

    def test_a_true_one_passes_and_needs_no_arrow_over_a_way(self) -> None:
        self.assertEqual(self.problems(PICTURE), [])

    def test_an_arrow_missing(self) -> None:
        (problem,) = self.problems(PICTURE.replace("index & dedup", "index"))
        self.assertIn("lacks cli --> dedup", problem)

    def test_an_arrow_too_many(self) -> None:
        (problem,) = self.problems(PICTURE.replace("index --> core", "index --> core & dedup"))
        self.assertIn("index --> dedup", problem)
        self.assertIn("crates/index/Cargo.toml does not name dedup", problem)

    def test_an_arrow_over_a_way(self) -> None:
        (problem,) = self.problems(PICTURE.replace("index & dedup", "index & dedup & core"))
        self.assertIn("cli --> core; crates/cli/Cargo.toml says dedup already, which needs core", problem)

    def test_a_crate_missing_and_one_that_is_not_there(self) -> None:
        problems = self.problems(PICTURE.replace("dedup", "read"))
        self.assertIn("ARCHITECTURE.md: the picture lacks the crate dedup", problems)
        self.assertIn("ARCHITECTURE.md: the picture has read, and there is no crates/read/Cargo.toml", problems)

    def test_no_picture(self) -> None:
        self.assertEqual(self.problems("# Architecture\n"), ["ARCHITECTURE.md: there is no picture of the crates (a Mermaid graph)"])

    def test_every_way_to_name_a_dependency(self) -> None:
        self.problems(PICTURE)
        headers = {
            "optional": '[dependencies]\nbenzer-core = { workspace = true, optional = true, features = ["benzer-index"] }\n',
            "table": '[dependencies.benzer-core]\npath = "../core"\n',
            "renamed": '[dependencies]\ncore = { package = "benzer-core", path = "../core" }\n',
            "platform": "[target.'cfg(unix)'.dependencies]\nbenzer-core.workspace = true\n",
        }
        for crate, text in headers.items():
            self.write(f"crates/{crate}/Cargo.toml", f'[package]\nname = "benzer-{crate}"\n\n{text}')
            self.assertEqual(architecture.dependencies(self.root)[crate], {"core"}, crate)


class Documents(Made):
    def problems(self, text: str) -> list[str]:
        self.write("docs/decisions/README.md", "[one](001-one.md)\n")
        self.write("docs/decisions/001-one.md", "see [the crates](../../ARCHITECTURE.md) and `verify/run.rs`\n")
        self.write("crates/made/src/verify/run.rs", "")
        self.write("ARCHITECTURE.md", text)
        return list(architecture.check_documents(self.root, text))

    def test_paths_that_exist(self) -> None:
        text = "[a](docs/decisions) [b](docs/decisions/001-one.md#x) [c](https://example.org/x) [d](#here)\n`verify/run.rs` `crates/made/src/verify` `docs/decisions/*.md`\n"
        self.assertEqual(self.problems(text + "`POST /search` `a.b` `estimate::of` `evidence.parquet`\n```\n`no/such.rs`\n```\n"), [])

    def test_paths_that_do_not(self) -> None:
        problems = self.problems("[a](docs/nothing.md), `verify/gone.rs`, `run.py`, and `erify/run.rs`\n")
        gone = ["docs/nothing.md", "erify/run.rs", "run.py", "verify/gone.rs"]
        self.assertEqual(problems, [f"ARCHITECTURE.md: {name} does not exist" for name in gone])

    def test_a_decision_that_names_what_is_gone_or_is_not_in_the_list(self) -> None:
        self.write("docs/decisions/002-two.md", "`verify/gone.rs`\n")
        problems = ["docs/decisions/002-two.md: verify/gone.rs does not exist", "docs/decisions/README.md: 002-two.md is not in the list"]
        self.assertEqual(self.problems("# Architecture\n"), problems)

    def test_as_many_lines_as_allowed_and_one_more(self) -> None:
        self.assertEqual(self.problems("line\n" * 250), [])
        self.assertEqual(self.problems("line\n" * 251), ["ARCHITECTURE.md: 251 lines, at most 250"])


class Measures(Made):
    def file(self, text: str) -> architecture.File:
        self.write("made.rs", text)
        return architecture.read(self.root / "made.rs", Path("made.rs"), ("made",))[0]

    def test_parameters_that_are_tuples(self) -> None:
        heads = {
            "fn f(a: u32, b: &str) {}": 0,
            "fn f(a: (u32, u32), b: &'a (u8, u8)) {}": 2,
            "fn f((a, b): (u32, u32)) -> [(u8, u8); 2] {}": 1,
            "fn f<F: Fn(u32, u32) -> u32>(f: F, g: impl Fn((u8, u8)), h: &[(u8, u8)], unit: ()) {}": 0,
        }
        for head, n_tuples in heads.items():
            self.assertEqual([found[3] for found in architecture.functions(self.file(head))], [n_tuples], head)

    def test_lines_of_functions_with_a_body(self) -> None:
        file = self.file("trait T {\n    fn a(&self);\n    fn b() -> [u8; 2] {\n        todo()\n    }\n}\n")
        self.assertEqual([found[1:3] for found in architecture.functions(file)], [("b", 3)])

    def test_fields_of_structs(self) -> None:
        file = self.file("struct A { a: Map<u8, u8>, b: (u8, u8), }\nstruct B(u8, u8);\nstruct C;\n")
        self.assertEqual([found[1:] for found in architecture.structs(file)], [("A", 2)])


if __name__ == "__main__":
    unittest.main()
