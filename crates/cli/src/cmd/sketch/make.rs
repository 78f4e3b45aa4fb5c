//! Making a sketch file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use benzer_core::sketch::SketchSpec;
use benzer_io::read::{self, Inputs, ReadOptions, Reader};
use benzer_sets::sketches::{Counts, Header, Ids, Made, Recipe, SketchWriter};
use serde::Serialize;

use super::Arguments;
use crate::Usage;
use crate::bar::Bar;
use crate::cmd::write_json;
use crate::options::sketches::SketchName;
use crate::rejects::{Rejects, check_places};
use crate::view::{self, Format, View, grouped};

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
    let inputs: Vec<PathBuf> = arguments.inputs.iter().map(PathBuf::from).collect();
    check_places(Some(output), arguments.rejects.as_deref(), &inputs)?;
    let reader = open(arguments)?;
    let header = Header { spec: recipe.spec().clone(), ids: ids(arguments, &reader) };
    let mut writer = SketchWriter::create(output, header)?;
    let mut rejects = Rejects::new(arguments.rejects.as_deref(), arguments.strict)?;
    let mut blank = 0;
    let bar = Bar::new(reader.progress());
    benzer_sets::sketches::make(reader, &recipe, threads(arguments), |made: Made| -> anyhow::Result<()> {
        writer.append(&made.records)?;
        blank += made.n_blank;
        made.rejected.iter().try_for_each(|rejected| rejects.add(rejected))?;
        bar.update();
        Ok(())
    })?;
    bar.finish();
    let counts = finish(writer, rejects.first())?;
    rejects.finish()?;
    let summary = Summary {
        file: output,
        documents: counts.records,
        empty: counts.empty,
        rejected: rejects.n_rejected(),
        blank,
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
        benzer_io::Error::Parameter(_) => Usage::new(error).into(),
        other => other.into(),
    })
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
