//! `benzer compare`: exact and estimated similarity of two or more files, or of stored sketches.
//!
//! ```text
//! files --load--> subjects: features, sketches --measure--> Comparison --show--> table or JSON
//! ```

mod explain;
mod flow;
#[cfg(feature = "image")]
mod image;
mod load;
mod measure;
mod show;
mod stored;

use std::ffi::OsString;
use std::io::Write;

use benzer_core::Features;
use benzer_core::field::text::Shingler;
use benzer_core::sketch::{Sketch, SketchSpec};
use clap::Args;

use crate::options::sketches::{HELP, SketchArguments, SketchName};
use crate::options::text::TextArguments;
use crate::output::View;

pub const ABOUT: &str = "\
Exact and estimated similarity of two or more files: Jaccard similarity and containment, sizes of \
intersection and union, for every pair, every three and all of them; estimates with their 95% interval.

A file is one text, or with --set one set with an item on each line. A sketch file (made by \
`benzer sketch`) is recognised by its content; --ids says which of its documents to compare.";

const EXAMPLES: &str = "\
Examples:
  benzer compare a.txt b.txt
  benzer compare a.txt b.txt c.txt --sketch fast,b1,odd --registers 256
  benzer compare a.txt b.txt --explain -n 3
  benzer compare bay.png bay-part.jpg --explain points.png
  benzer compare --set monday.txt tuesday.txt --format json
  benzer sketch articles.jsonl --id-field id -o articles.bsk
  benzer compare articles.bsk --ids tides-1 tides-2

";

/// What to compare, and how.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{HELP}"))]
pub struct Arguments {
    /// Two or more files (`-` is standard input), or sketch files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<OsString>,
    /// A file is a set with an item on each line, not a text
    #[arg(long, conflicts_with_all = ["unit", "ngram", "strip_diacritics", "stop_words"])]
    set: bool,
    /// Which documents of the sketch files to compare
    #[arg(long, value_name = "ID", num_args = 1..)]
    ids: Vec<String>,
    /// Show shared and differing shingles, and the differences in the text; of pictures, draw the points that lie upon each other into this PNG
    #[arg(long, value_name = "PNG", num_args = 0..=1)]
    explain: Option<Option<OsString>>,
    /// The sketches to estimate from, such as `b8,odd` [default: b8, with --bag weighted:b8]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Sketches")]
    sketch: Vec<SketchName>,
    #[command(flatten)]
    sketches: SketchArguments,
    #[command(flatten)]
    text: TextArguments,
}

impl Arguments {
    /// The files to compare. What follows `--explain` on the command line is one of them, if they are not pictures; in a variable or a file it only says yes.
    fn all_files(&self) -> Vec<OsString> {
        let mut files = self.files.clone();
        let typed: Vec<OsString> = std::env::args_os().skip_while(|word| word != "compare").collect();
        let flag = typed.iter().position(|word| word == "--explain");
        if let (Some(Some(file)), Some(flag)) = (&self.explain, flag) {
            let place = typed[..flag].iter().filter(|word| self.files.contains(word)).count();
            files.insert(place.min(files.len()), file.clone());
        }
        files
    }
}

struct Subjects {
    subjects: Vec<Subject>,
    kinds: Vec<Kind>,
    /// What the elements are, in words: `5-word shingles`.
    elements: String,
    /// How the texts were cut, if there are texts.
    shingler: Option<Shingler>,
}

impl Subjects {
    fn noun(&self) -> &'static str {
        match self.subjects.first().map(|subject| &subject.content) {
            Some(Content::Text(_)) => "shingles",
            Some(Content::Items(_)) => "items",
            _ => "elements",
        }
    }
}

struct Subject {
    label: String,
    /// The file, or the id of a stored sketch.
    name: String,
    /// Number of elements, or the sum of their counts.
    size: f64,
    /// Not known of a stored sketch.
    features: Option<Features>,
    content: Content,
    /// One for each kind.
    sketches: Vec<Sketch>,
}

enum Content {
    Text(String),
    Items(Vec<String>),
    Stored,
}

struct Kind {
    name: String,
    spec: SketchSpec,
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    #[cfg(feature = "image")]
    if image::are_pictures(&arguments.files) {
        return image::run(arguments, view, out);
    }
    let files = arguments.all_files();
    let subjects = load::load(arguments, &files)?;
    let mut compared = measure::measure(&subjects)?;
    if arguments.explain.is_some() {
        compared.explanations = explain::explain(&subjects)?;
    }
    view.show(out, &compared, || show::render(&compared, &subjects, view))
}
