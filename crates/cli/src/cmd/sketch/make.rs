//! Making a sketch file.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::bail;
use benzer_core::sketch::SketchSpec;
use benzer_io::read::Reader;
use benzer_sets::sketches::{Counts, Header, Ids, Made, Recipe, SketchWriter};
use serde::Serialize;

use super::Arguments;
use crate::Usage;
use crate::options::sketches::SketchName;
use crate::options::{amount, input};
use crate::output::{self, Format, View, grouped, write_json};
use crate::reading::Bar;
use crate::reading::{Rejects, check_places};

#[derive(Debug, Serialize)]
struct SketchFile<'a> {
    file: &'a Path,
    documents: u64,
    empty: u64,
    rejected: u64,
    blank: u64,
    bytes: u64,
    spec: &'a SketchSpec,
}

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
    let reader = input::open(inputs, arguments.input.read_options())?;
    let header = Header { spec: recipe.spec().clone(), ids: ids(arguments, &reader) };
    let mut writer = SketchWriter::create(output, header)?;
    let mut rejects = Rejects::new(arguments.rejects.as_deref(), arguments.strict)?;
    let mut blank = 0;
    let bar = Bar::new(reader.progress());
    let threads = amount::threads(arguments.threads);
    benzer_flow::pipeline::run(reader, &recipe, threads, |made: Made| -> anyhow::Result<()> {
        writer.append(&made.records)?;
        blank += made.n_blank;
        made.rejected.iter().try_for_each(|rejected| rejects.add(rejected))?;
        bar.update();
        Ok(())
    })?;
    bar.finish();
    let counts = finish(writer, rejects.first())?;
    rejects.finish()?;
    let made = SketchFile {
        file: output,
        documents: counts.records,
        empty: counts.empty,
        rejected: rejects.n_rejected(),
        blank,
        bytes: std::fs::metadata(output).map_or(0, |metadata| metadata.len()),
        spec: recipe.spec(),
    };
    report(&made);
    if view.format == Format::Json { write_json(out, &made) } else { Ok(()) }
}

fn recipe(arguments: &Arguments) -> anyhow::Result<Recipe> {
    let bag = arguments.text.bag;
    let name = arguments.sketch.clone().unwrap_or_else(|| SketchName::default_for(bag));
    if bag && !name.is_weighted() {
        bail!(Usage::new(format!(
            "--sketch {name} does not see repetitions; with --bag use weighted, or weighted:b8"
        )));
    }
    let shingler = arguments.text.shingler()?;
    let spec = name.spec(&arguments.sketches, shingler.pipeline().as_str());
    Ok(Recipe::new(shingler, &spec).map_err(|error| Usage::new(format!("--sketch {name}: {error}")))?)
}

fn ids(arguments: &Arguments, reader: &Reader) -> Ids {
    match arguments.input.id_field {
        Some(_) => Ids::Field,
        None => Ids::Rows(reader.inputs().iter().map(|input| input.path.display().to_string()).collect()),
    }
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

fn report(made: &SketchFile<'_>) {
    let SketchFile { file, documents, empty, bytes, .. } = made;
    let size = output::bytes(*bytes as f64);
    talk!("{} documents sketched to `{}` ({size}), {}", grouped(*documents), file.display(), of(made.spec));
    if *empty > 0 {
        talk!("{} without a letter or digit, similar to nothing", grouped(*empty));
    }
}

fn of(spec: &SketchSpec) -> String {
    format!("{} bytes each: {} x {}, {}", spec.bytes(), spec.family, spec.registers, spec.packing)
}
