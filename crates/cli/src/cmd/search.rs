//! `benzer search`: the documents of a collection that are similar to a text, a file or one of them.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use benzer_core::field::{Content, Document};
use benzer_index::{Answer, Explanation, Index, Keeps, Measure, Piece, Query, QueryDocument};
use clap::Args;

use crate::Usage;
use crate::options::collection::text_fields;
use crate::options::db::{DbArguments, failed};
use crate::options::search::{FieldRules, SearchKind};
use crate::output::{Align, Table, View, grouped, printable};

pub const ABOUT: &str = "\
Find the documents of a collection that are similar to a text, a file, or one of them.

Every match has its similarity: exact where the collection keeps documents, else the estimate with its 95% interval. The \
answer says which share of the documents at the threshold the collection finds.

--top finds the most similar documents whatever their similarity. --containing and --contained find documents of which one \
lies in the other, in collections made with --containment. --with finds the documents that have most in common with two \
others at once.";

const EXAMPLES: &str = "\
Examples:
  benzer search articles --id trains-16
  benzer search articles --file trains.txt --limit 3 --explain
  benzer search articles --id trains-16 --top 5
  benzer search articles --id bread-13 --with bread-14
  benzer search parts --file trains-part.txt --containing --threshold 0.9
  benzer search papers --id trains-16 --weights title=0,text=1
  benzer search papers --id trains-16 --rule any --field-thresholds text=0.9
  benzer search articles --id trains-16 --format json
";

/// What to look for.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The collection
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    db: DbArguments,
    #[command(flatten)]
    subject: Subject,
    /// The field of --text and --file, by which documents are compared [default: the only field of text, or of pictures]
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,
    /// The least similarity [default: that of the collection]
    #[arg(long, value_name = "T")]
    threshold: Option<f64>,
    /// Matches to show
    #[arg(long, value_name = "N", default_value_t = Query::DEFAULT_LIMIT)]
    limit: usize,
    /// Matches to pass over first
    #[arg(long, value_name = "N", default_value = "0")]
    offset: usize,
    /// Compare these fields only
    #[arg(long, value_name = "FIELDS", value_delimiter = ',')]
    fields: Vec<String>,
    /// Say what the documents share, what not, and where
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    together: FieldRules,
    #[command(flatten)]
    kind: SearchKind,
}

/// What documents are to be similar to: one of three.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Subject {
    /// A text
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// A file with a text, or `-`; for a field of pictures a picture
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A document of the collection
    #[arg(long, value_name = "ID")]
    id: Option<String>,
}

impl Arguments {
    fn query(&self) -> Query {
        Query {
            threshold: self.threshold,
            limit: self.limit,
            offset: self.offset,
            fields: self.fields.clone(),
            explain: self.explain,
            weights: self.together.weights(),
            thresholds: self.together.thresholds(),
            rule: self.together.rule(),
            measure: self.kind.measure(),
            ratio: self.kind.ratio,
            top: self.kind.top,
        }
    }
}

pub fn run(arguments: &Arguments, view: &View, out: &mut dyn Write) -> anyhow::Result<()> {
    let index = arguments.db.read(&arguments.name)?;
    let mut query = arguments.query();
    let Subject { text, file, id } = &arguments.subject;
    let document = match (text, file) {
        (Some(text), _) => Some(document(arguments, &index, text.clone())?),
        (_, Some(file)) => Some(of_file(arguments, &index, file)?),
        _ => None,
    };
    // A text or a picture is one field: what it does not have says nothing against a document.
    if let Some(document) = document.as_ref().filter(|_| query.fields.is_empty()) {
        query.fields = document.fields.keys().cloned().collect();
    }
    let asked = match (id, &document) {
        (Some(id), _) => QueryDocument::Id(id),
        (_, Some(document)) => QueryDocument::Document(document),
        _ => bail!(Usage::new("give --text, --file or --id")),
    };
    let answer = match &arguments.kind.with {
        Some(with) => index.three_way_search([asked, QueryDocument::Id(with)], &query),
        None => index.search_by(asked, &query),
    };
    let answer = answer.map_err(failed)?;
    view.show(out, &answer, || {
        render(&answer, &index, arguments, view) + &compared_by(&query, &index, arguments)
    })
}

/// A file as a document that is in no collection: a text, or a picture.
fn of_file(arguments: &Arguments, index: &Index, path: &Path) -> anyhow::Result<Document> {
    let bytes = read(path)?;
    #[cfg(feature = "image")]
    if let Some(field) = picture_field(arguments, index, &bytes)? {
        let content = Content::from(benzer_core::field::image::encode(&bytes));
        return Ok(Document::new("\u{1}", [(field, content)]));
    }
    let text = String::from_utf8(bytes);
    document(arguments, index, text.with_context(|| format!("`{}` is not a text in UTF-8", path.display()))?)
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    if path != Path::new("-") {
        return std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()));
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(bytes)
}

/// The field of pictures that a file is for: the one that was named, or the only one, unless the file is a text and there is a field for it.
#[cfg(feature = "image")]
fn picture_field(arguments: &Arguments, index: &Index, bytes: &[u8]) -> anyhow::Result<Option<String>> {
    use benzer_core::field::Kind;

    let fields = || index.settings().schema.fields();
    let pictures: Vec<&str> =
        fields().filter(|(_, spec)| matches!(spec.kind, Kind::Image(_))).map(|(name, _)| name).collect();
    let has_text = fields().any(|(_, spec)| matches!(spec.kind, Kind::Text(_)));
    match (&arguments.field, &pictures[..]) {
        (Some(field), _) => Ok(pictures.contains(&field.as_str()).then(|| field.clone())),
        (None, []) => Ok(None),
        (None, _) if has_text && std::str::from_utf8(bytes).is_ok() => Ok(None),
        (None, [only]) => Ok(Some((*only).to_owned())),
        (None, all) => {
            bail!(Usage::new(format!("--field must name one of the fields of pictures: {}", all.join(", "))))
        }
    }
}

/// A text as a document that is in no collection.
fn document(arguments: &Arguments, index: &Index, text: String) -> anyhow::Result<Document> {
    let texts = text_fields(index.settings());
    let field = match (&arguments.field, &texts[..]) {
        (Some(field), _) => field.clone(),
        (None, [only]) => (*only).to_owned(),
        (None, _) => {
            bail!(Usage::new(format!("--field must name one of the fields of text: {}", texts.join(", "))))
        }
    };
    // An id that no document has: control characters are not written into ids by accident.
    Ok(Document::new("\u{1}", [(field, Content::from(text))]))
}

fn render(answer: &Answer, index: &Index, arguments: &Arguments, view: &View) -> String {
    let mut text = String::new();
    let kind = match (arguments.kind.measure(), &arguments.kind.with) {
        (_, Some(_)) => "three-way",
        (Measure::Jaccard, None) => "similarity",
        _ => "containment",
    };
    let mut table = Table::default()
        .column("id", Align::Left)
        .column(kind, Align::Right)
        .column("estimate", Align::Right)
        .column("95% interval", Align::Left);
    for found in &answer.matches {
        let measured = found.estimate.measured();
        table.row([
            printable(&found.id),
            format!("{:.4}", found.similarity),
            measured.map_or_else(String::new, |measured| format!("{:.3}", measured.value)),
            measured
                .map_or_else(String::new, |measured| format!("{:.3} to {:.3}", measured.low, measured.high)),
        ]);
    }
    match answer.matches.is_empty() {
        true => text.push_str("nothing similar\n"),
        false => text.push_str(&table.render(view)),
    }
    for found in &answer.matches {
        for field in &found.fields {
            if let Some(explanation) = &field.explanation {
                text.push_str(&explained(&found.id, &field.field, explanation));
            }
        }
    }
    for warning in &answer.warnings {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text + &summary(answer, index, arguments)
}

/// The fields that a search was limited to without being asked.
fn compared_by(query: &Query, index: &Index, arguments: &Arguments) -> String {
    let is_part = !query.fields.is_empty() && query.fields.len() < index.settings().fields.len();
    match arguments.fields.is_empty() && is_part {
        true => format!("compared by `{}` only; --fields names others\n", query.fields.join("`, `")),
        false => String::new(),
    }
}

/// How many there are, and which share of them was found.
fn summary(answer: &Answer, index: &Index, arguments: &Arguments) -> String {
    let how = if index.settings().keeps == Keeps::Documents { "exact" } else { "estimated" };
    let (shown, all) = (grouped(answer.matches.len() as u64), grouped(answer.n_matches as u64));
    let recall = 100.0 * answer.recall;
    if arguments.kind.top.is_some() {
        let of = if how == "exact" { "documents" } else { "sketches" };
        let mut text = format!(
            "\nthe {shown} most similar; {how} similarity; {recall:.0}% of what comparing with all {of} gives\n"
        );
        if answer.shown < answer.recall {
            text.push_str(&format!(
                "estimates rank: about {:.0}% of the truly most similar are shown, the others are hardly less similar; keep documents where the order matters\n",
                100.0 * answer.shown
            ));
        }
        return text;
    }
    let mut text = format!(
        "\n{shown} of {all}; {how} similarity; {recall:.1}% of the documents at the threshold are compared, more above\n"
    );
    if answer.shown < answer.recall {
        text.push_str(&format!(
            "estimates decide: {:.0}% of the documents exactly at the threshold are shown, more above; ask for less to miss fewer, or keep documents\n",
            100.0 * answer.shown
        ));
    }
    if let Some(last) = answer.recall_by_ratio.last() {
        let by_ratio = answer.recall_by_ratio.iter();
        let by_ratio: Vec<String> = by_ratio
            .map(|found| format!("{:.1}% up to {:.1} times", 100.0 * found.recall, found.ratio))
            .collect();
        text.push_str(&format!(
            "by size ratio: {}; documents that differ by more than {:.1} times are not looked for\n",
            by_ratio.join(", "),
            last.ratio
        ));
    }
    text
}

fn explained(id: &str, field: &str, explanation: &Explanation) -> String {
    let at = |place: Option<[usize; 2]>| place.map_or(String::new(), |[from, to]| format!("{from}-{to}"));
    let piece = |piece: &Piece| {
        let places = [("query", piece.in_query), ("match", piece.in_match)];
        let places: Vec<String> = places
            .into_iter()
            .filter(|(_, place)| place.is_some())
            .map(|(name, place)| format!("{name} {}", at(place)))
            .collect();
        let places = if places.is_empty() { String::new() } else { format!("  ({})", places.join(", ")) };
        format!("    {}{places}\n", printable(&piece.text.replace(['\n', '\r'], " ")))
    };
    let some = |name: &str, n: u64, some: &[Piece]| {
        format!("  {} {name}\n{}", grouped(n), some.iter().map(piece).collect::<String>())
    };
    format!(
        "\n{}, {field}:\n{}{}{}",
        printable(id),
        some("in both, such as", explanation.n_shared, &explanation.shared),
        some("in the query only, such as", explanation.n_query, &explanation.query_only),
        some("in the match only, such as", explanation.n_match, &explanation.match_only)
    )
}
