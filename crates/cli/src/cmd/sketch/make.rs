//! Making a sketch file.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, ensure};
use benzer_core::sketch::SketchSpec;
use benzer_dedup::files::{FileWriter, Files};
use benzer_dedup::read::{self, Inputs, Progress, ReadOptions, Reader};
use benzer_dedup::sketches::{Counts, Header, Ids, Made, Recipe, Rejected, SketchWriter};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::Arguments;
use crate::Usage;
use crate::cmd::write_json;
use crate::options::sketches::SketchName;
use crate::view::{self, Format, View, grouped, printable};

/// So many rejected lines are named on standard error.
const NAMED: usize = 5;

/// What was made, for programs.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    file: &'a Path,
    documents: u64,
    empty: u64,
    rejected: u64,
    blank: u64,
    bytes: u64,
    spec: &'a SketchSpec,
}

/// Sketches all inputs.
pub(super) fn run(
    output: &Path,
    arguments: &Arguments,
    view: &View,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if output == Path::new("-") {
        bail!(Usage::new("--output must be a file: a sketch file gets its name when it is whole"));
    }
    let recipe = recipe(arguments)?;
    let reader = open(arguments)?;
    check_places(output, arguments, &reader)?;
    let header = Header { spec: recipe.spec().clone(), ids: ids(arguments, &reader) };
    let mut writer = SketchWriter::create(output, header)?;
    let mut rejects = Rejects::new(arguments)?;
    let bar = Bar::new(reader.progress());
    benzer_dedup::sketches::make(reader, &recipe, threads(arguments), |made: Made| -> anyhow::Result<()> {
        writer.append(&made.records)?;
        rejects.blank += made.n_blank;
        made.rejected.iter().try_for_each(|rejected| rejects.add(rejected))?;
        bar.update();
        Ok(())
    })?;
    bar.finish();
    let counts = finish(writer, rejects.first.first().map(String::as_str))?;
    rejects.finish(arguments)?;
    let summary = Summary {
        file: output,
        documents: counts.records,
        empty: counts.empty,
        rejected: rejects.n_rejected,
        blank: rejects.blank,
        bytes: std::fs::metadata(output).map_or(0, |metadata| metadata.len()),
        spec: recipe.spec(),
    };
    tell(&summary);
    if view.format == Format::Json { write_json(out, &summary) } else { Ok(()) }
}

fn recipe(arguments: &Arguments) -> anyhow::Result<Recipe> {
    let bag = arguments.text.bag;
    let name = arguments.sketch.clone().unwrap_or_else(|| SketchName::usual(bag));
    if bag && !name.is_weighted() {
        bail!(Usage::new(format!(
            "--sketch {name} does not see repetitions; with --bag use weighted, or weighted:b8"
        )));
    }
    let shingler = arguments.text.shingler()?;
    let spec = name.spec(&arguments.sketches, shingler.pipeline().as_str());
    Ok(Recipe::new(shingler, &spec).map_err(|error| Usage::new(format!("--sketch {name}: {error}")))?)
}

fn open(arguments: &Arguments) -> anyhow::Result<Reader> {
    let inputs: Inputs = arguments.inputs.iter().map(PathBuf::from).collect();
    let options = ReadOptions {
        text_fields: arguments.text_field.clone(),
        id_field: arguments.id_field.clone(),
        format: arguments.input_format,
        per_file: arguments.per_file,
        ..ReadOptions::default()
    };
    read::open(inputs, options).map_err(|error| match error {
        benzer_dedup::Error::Parameter { .. } => Usage::new(error).into(),
        other => other.into(),
    })
}

/// Refuses to write over an input, over the other output, or over a file of rejects that is none.
fn check_places(output: &Path, arguments: &Arguments, reader: &Reader) -> anyhow::Result<()> {
    let rejects = arguments.rejects.as_deref();
    for (flag, path) in [("--output", Some(output)), ("--rejects", rejects)] {
        let Some(path) = path else { continue };
        if reader.inputs().iter().any(|input| is_same(path, &input.path)) {
            bail!(Usage::new(format!("{flag} `{}` is also an input; write to another name", path.display())));
        }
    }
    let Some(rejects) = rejects else { return Ok(()) };
    if is_same(rejects, output) {
        bail!(Usage::new("--rejects and --output name the same file; write the rejects to another name"));
    }
    ensure!(
        is_replaceable(rejects),
        "`{}` exists and is not a file of rejects; move it away, or write to another name",
        rejects.display()
    );
    Ok(())
}

/// True if both names lead to one file; one that does not exist yet is compared by its folder and name.
fn is_same(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| {
        path.canonicalize().ok().or_else(|| {
            let folder =
                path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(folder.canonicalize().ok()?.join(path.file_name()?))
        })
    };
    place(a).is_some_and(|a| place(b) == Some(a))
}

/// True if there is no file, an empty one, or one whose first line is a rejected line as this command writes it.
fn is_replaceable(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return true };
    let mut first = String::new();
    let read = std::io::BufReader::new(file.take(1 << 20)).read_line(&mut first);
    read.is_ok_and(|n| n == 0)
        || serde_json::from_str::<serde_json::Value>(&first)
            .is_ok_and(|row| ["file", "line", "offset", "reason"].iter().all(|key| row.get(key).is_some()))
        || std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}

fn ids(arguments: &Arguments, reader: &Reader) -> Ids {
    match arguments.id_field {
        Some(_) => Ids::Field,
        None => Ids::Rows(reader.inputs().iter().map(|input| input.path.display().to_string()).collect()),
    }
}

fn threads(arguments: &Arguments) -> usize {
    arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
}

fn finish(writer: SketchWriter, first_reject: Option<&str>) -> anyhow::Result<Counts> {
    if writer.counts().records == 0 {
        match first_reject {
            Some(reject) => bail!("no line could be read, so nothing was written; the first: {reject}"),
            None => bail!("there are no documents in the input, so nothing was written"),
        }
    }
    Ok(writer.finish()?)
}

fn tell(summary: &Summary<'_>) {
    let Summary { file, documents, empty, bytes, .. } = summary;
    let size = view::bytes(*bytes as f64);
    talk!(
        "{} documents sketched to `{}` ({size}), {}",
        grouped(*documents),
        file.display(),
        of(summary.spec)
    );
    if *empty > 0 {
        talk!("{} without a letter or digit, similar to nothing", grouped(*empty));
    }
}

fn of(spec: &SketchSpec) -> String {
    format!("{} bytes each: {} x {}, {}", spec.bytes(), spec.family, spec.registers, spec.packing)
}

/// The lines that were rejected: the first ones for the terminal, all for a file.
struct Rejects {
    strict: bool,
    file: Option<FileWriter>,
    first: Vec<String>,
    n_rejected: u64,
    blank: u64,
}

#[derive(Serialize)]
struct RejectLine<'a> {
    file: String,
    line: u64,
    offset: u64,
    reason: String,
    raw: Option<std::borrow::Cow<'a, str>>,
}

impl Rejects {
    fn new(arguments: &Arguments) -> anyhow::Result<Self> {
        let file = arguments.rejects.as_deref().map(|path| Files::new().create(path)).transpose()?;
        Ok(Self { strict: arguments.strict, file, first: Vec::new(), n_rejected: 0, blank: 0 })
    }

    fn add(&mut self, Rejected { reject, line }: &Rejected) -> anyhow::Result<()> {
        ensure!(!self.strict, "{reject} (--strict, so nothing was written)");
        self.n_rejected += 1;
        if self.first.len() < NAMED {
            self.first.push(printable(&reject.to_string()));
        }
        if let Some(file) = &mut self.file {
            let row = RejectLine {
                file: reject.file.display().to_string(),
                line: reject.line,
                offset: reject.offset,
                reason: reject.reason.to_string(),
                raw: line.as_deref().map(String::from_utf8_lossy),
            };
            file.append(&[serde_json::to_vec(&row)?.as_slice(), b"\n"].concat())?;
        }
        Ok(())
    }

    fn finish(&mut self, arguments: &Arguments) -> anyhow::Result<()> {
        for reject in &self.first {
            talk!("rejected: {reject}");
        }
        if self.n_rejected > 0 {
            let all = match &arguments.rejects {
                Some(file) => format!("all of them are in `{}`", file.display()),
                None => "`--rejects FILE` keeps them all".to_owned(),
            };
            let lines = if self.n_rejected == 1 { "line" } else { "lines" };
            talk!("{} {lines} rejected; {all}", grouped(self.n_rejected));
        }
        self.file.take().map(FileWriter::commit).transpose()?;
        Ok(())
    }
}

/// Bytes read so far, on a terminal.
struct Bar {
    bar: ProgressBar,
    progress: Progress,
}

impl Bar {
    fn new(progress: &Progress) -> Self {
        let bar = match progress.bytes_total() {
            _ if !std::io::stderr().is_terminal() => ProgressBar::hidden(),
            Some(total) => {
                ProgressBar::new(total).with_style(style("{wide_bar} {bytes}/{total_bytes} {eta}"))
            }
            None => ProgressBar::new_spinner().with_style(style("{spinner} {bytes} {elapsed}")),
        };
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, progress: progress.clone() }
    }

    fn update(&self) {
        self.bar.set_position(self.progress.bytes_read());
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is a constant")
}
