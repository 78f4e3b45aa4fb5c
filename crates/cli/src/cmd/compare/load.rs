//! From the arguments to what is compared.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use benzer_core::Features;
use benzer_core::field;
use benzer_core::field::values::ValuesOptions;
use benzer_core::sketch::Sketcher;
use benzer_sets::sketches::MAGIC;

use super::{Arguments, Content, Kind, Subject, Subjects, stored};
use crate::Usage;
use crate::options::sketches::SketchName;
use crate::options::text;

pub(super) fn load(arguments: &Arguments, files: &[OsString]) -> anyhow::Result<Subjects> {
    let n_stored = files.iter().filter(|file| is_sketch_file(file)).count();
    if n_stored == files.len() {
        return stored::load(arguments, files);
    }
    ensure!(
        n_stored == 0,
        Usage::new(
            "sketch files can be compared with sketch files only; sketch the other files first (`benzer sketch`)"
        )
    );
    if !arguments.ids.is_empty() {
        bail!(Usage::new(format!(
            "--ids chooses documents of a sketch file, and `{}` is none; make one with `benzer sketch INPUT -o FILE.bsk`",
            Path::new(&files[0]).display()
        )));
    }
    if files.len() < 2 {
        bail!(Usage::new("one file has nothing to be compared with; name two or more"));
    }
    note_repetitions(files);
    if arguments.set { sets(arguments, files) } else { texts(arguments, files) }
}

fn texts(arguments: &Arguments, files: &[OsString]) -> anyhow::Result<Subjects> {
    let shingler = arguments.text.shingler()?;
    let sketchers = sketchers(arguments, shingler.pipeline().as_str())?;
    let mut subjects = Vec::new();
    for file in files {
        let text = read(file)?;
        if has_documents(file) {
            let name = Path::new(file).display();
            talk!(
                "note: `{name}` is taken as one text; to compare its documents, `benzer sketch` it and name them with --ids"
            );
        }
        let features = shingler.features(&text);
        subjects.push(subject(subjects.len(), file, features, Content::Text(text), &sketchers)?);
    }
    let elements = text::describe(&shingler);
    Ok(Subjects { subjects, kinds: kinds(arguments, &sketchers), elements, shingler: Some(shingler) })
}

fn sets(arguments: &Arguments, files: &[OsString]) -> anyhow::Result<Subjects> {
    let options = ValuesOptions { bag: arguments.text.bag };
    let sketchers = sketchers(arguments, options.pipeline().as_str())?;
    let mut subjects = Vec::new();
    for file in files {
        let text = read(file)?;
        let items: Vec<String> =
            text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect();
        let features = options.features(&field::Content::values(items.iter().map(String::as_str)))?;
        subjects.push(subject(subjects.len(), file, features, Content::Items(items), &sketchers)?);
    }
    let elements = if options.bag { "items, repetitions counted" } else { "items" }.to_owned();
    Ok(Subjects { subjects, kinds: kinds(arguments, &sketchers), elements, shingler: None })
}

fn subject(
    number: usize,
    file: &OsStr,
    features: Features,
    content: Content,
    sketchers: &[Box<dyn Sketcher>],
) -> anyhow::Result<Subject> {
    let name = Path::new(file).display().to_string();
    if features.is_empty() {
        talk!(
            "warning: `{name}` has nothing to compare (no letter or digit in it): it is similar to nothing"
        );
    }
    let sketches = sketchers.iter().map(|sketcher| sketcher.sketch(&features)).collect::<Result<_, _>>()?;
    Ok(Subject {
        label: label(number),
        name,
        size: features.size(),
        features: Some(features),
        content,
        sketches,
    })
}

fn names(arguments: &Arguments) -> Vec<SketchName> {
    match &arguments.sketch[..] {
        [] => vec![SketchName::default_for(arguments.text.bag)],
        names => names.to_vec(),
    }
}

fn sketchers(arguments: &Arguments, pipeline: &str) -> anyhow::Result<Vec<Box<dyn Sketcher>>> {
    let names = names(arguments);
    if let Some(name) = names.iter().find(|name| arguments.text.bag && !name.is_weighted()) {
        bail!(Usage::new(format!(
            "--sketch {name} does not see repetitions; with --bag use weighted, or weighted:b8"
        )));
    }
    Ok(names.iter().map(|name| arguments.sketches.sketcher(name, pipeline)).collect::<Result<_, _>>()?)
}

fn kinds(arguments: &Arguments, sketchers: &[Box<dyn Sketcher>]) -> Vec<Kind> {
    let specs = sketchers.iter().map(|sketcher| (**sketcher.spec()).clone());
    names(arguments).iter().zip(specs).map(|(name, spec)| Kind { name: name.to_string(), spec }).collect()
}

/// A, B, ..., Z, AA, AB, ...
pub(super) fn label(number: usize) -> String {
    let last = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => last.to_string(),
        more => format!("{}{last}", label(more - 1)),
    }
}

/// A whole file, or standard input, as text.
fn read(file: &OsStr) -> anyhow::Result<String> {
    let name = Path::new(file).display();
    let mut bytes = Vec::new();
    if file == "-" {
        std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
    } else if Path::new(file).is_dir() {
        bail!("`{name}` is a folder; name files in it");
    } else {
        bytes = fs::read(file).with_context(|| format!("cannot read `{name}`"))?;
    }
    if let Some((format, remedy)) = compressed(&bytes) {
        bail!("`{name}` is {format}; decompress it first (`{remedy}`)");
    }
    let text = String::from_utf8(bytes).map_err(|error| not_text(&name.to_string(), &error))?;
    let text = text.strip_prefix('\u{feff}').map_or(text.as_str(), |rest| rest).to_owned();
    ensure!(!text.trim().is_empty(), "`{name}` is empty; name a file with something in it");
    Ok(text)
}

fn not_text(name: &str, error: &std::string::FromUtf8Error) -> anyhow::Error {
    let bytes = error.as_bytes();
    let good = error.utf8_error().valid_up_to();
    if bytes[..bytes.len().min(8192)].contains(&0) {
        return anyhow::anyhow!("`{name}` is a binary file; only text in UTF-8 can be compared");
    }
    let line = 1 + bytes[..good].iter().filter(|&&byte| byte == b'\n').count();
    anyhow::anyhow!("`{name}` line {line}: invalid UTF-8 at byte {good}; convert it first (`iconv -t utf-8`)")
}

fn compressed(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        [0x1f, 0x8b, ..] => Some(("compressed with gzip", "gunzip")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(("compressed with zstd", "zstd -d")),
        _ => None,
    }
}

fn is_sketch_file(file: &OsStr) -> bool {
    let mut start = [0; MAGIC.len()];
    // A pipe such as `/dev/fd/63` can be read only once.
    let regular = fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
    regular && File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *MAGIC
}

/// Whether its name says that it holds many documents.
fn has_documents(file: &OsStr) -> bool {
    let name = Path::new(file).extension().unwrap_or_default();
    ["jsonl", "ndjson", "csv", "tsv"].iter().any(|known| name == *known)
}

fn note_repetitions(files: &[OsString]) {
    let mut seen = HashSet::new();
    for file in files {
        let path = fs::canonicalize(file).unwrap_or_else(|_| file.into());
        if !seen.insert(path) {
            talk!("note: `{}` is compared with itself", Path::new(file).display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_go_on_after_z() {
        assert_eq!([0, 25, 26, 27, 701, 702].map(label), ["A", "Z", "AA", "AB", "ZZ", "AAA"]);
    }
}
