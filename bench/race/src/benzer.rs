//! Benzer in the race: the same command line and the same JSON line as every peer (`bench/README.md`, "Protocol").

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use benzer_core::Level;
use benzer_core::estimate::of;
use benzer_core::field::text::{Scratch, Shingler, TextOptions};
use benzer_core::sketch::{Packing, SketchSpec, Sketcher};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

/// Documents whose shingles are sketched together.
const BATCH: usize = 256;

/// Options of `benzer-bench sketch` and `benzer-bench text`.
#[derive(Debug, Args)]
pub struct Options {
    /// Stem of the input files
    #[arg(long)]
    pub input: PathBuf,
    /// Registers per sketch
    #[arg(long, default_value_t = 128)]
    pub registers: u32,
    /// Timed runs after one that warms up
    #[arg(long, default_value_t = 7)]
    pub runs: usize,
    /// Bits kept of each register
    #[arg(long, default_value_t = 8)]
    pub bits: u32,
    /// The fastest vector instructions to use
    #[arg(long, value_enum)]
    pub level: Option<Limit>,
    /// Accepted because every contestant's driver passes it; the output is always one JSON line
    #[arg(long)]
    pub json: bool,
}

/// A limit on the kernels' path.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Limit {
    /// Plain words
    Scalar,
    /// 256-bit vectors
    Avx2,
    /// 512-bit vectors
    Avx512,
}

/// Pre-hashed sets to registers.
pub fn sketch(options: &Options) -> Result<()> {
    let entry = Entry::new(options)?;
    let elements = numbers(&options.input, "elements.u64")?;
    let offsets: Vec<usize> =
        numbers(&options.input, "offsets.u64")?.into_iter().map(|o| o as usize).collect();
    let mut words = vec![0; (offsets.len() - 1) * entry.spec.words()];
    let timing =
        timed(options.runs, || entry.sketcher.sketch_many(&elements, &offsets, black_box(&mut words)))?;
    let sizes: Vec<f64> = offsets.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
    let line = entry.line("sketch", "Sketcher::sketch_many", &timing)?;
    let amount = Amount { name: "n_elements", n: elements.len(), rate: "elements_per_s", unit: 1.0 };
    entry.print(line, &amount, &timing, &words, &sizes)
}

/// Texts to words to 5-grams to registers, with the default pipeline.
pub fn text(options: &Options) -> Result<()> {
    let entry = Entry::new(options)?;
    let texts = Texts::read(&options.input)?;
    let shingler = Shingler::new(&TextOptions::default())?;
    let mut words = vec![0; texts.len() * entry.spec.words()];
    let (mut scratch, mut elements, mut offsets) = (Scratch::default(), Vec::new(), Vec::new());
    let timing = timed(options.runs, || {
        let mut all = texts.iter();
        for words in words.chunks_mut(BATCH * entry.spec.words()) {
            let mut end = 0;
            offsets.clear();
            offsets.push(0);
            for text in all.by_ref().take(words.len() / entry.spec.words()) {
                end = shingler.write_elements(text, &mut scratch, &mut elements, end);
                offsets.push(end);
            }
            entry.sketcher.sketch_many(&elements[..end], &offsets, black_box(words))?;
        }
        Ok(())
    })?;
    let sizes: Vec<f64> = texts.iter().map(|text| shingler.features(text).len() as f64).collect();
    let api = format!("Shingler::elements and Sketcher::sketch_many, pipeline {}", shingler.pipeline());
    let line = entry.line("text", &api, &timing)?;
    let amount = Amount { name: "n_bytes", n: texts.data.len(), rate: "mb_per_s", unit: 1e6 };
    entry.print(line, &amount, &timing, &words, &sizes)
}

/// What a run works through, and the names of its figures.
struct Amount {
    name: &'static str,
    n: usize,
    rate: &'static str,
    /// So many make one of the rate.
    unit: f64,
}

struct Entry<'a> {
    options: &'a Options,
    spec: SketchSpec,
    sketcher: Box<dyn Sketcher>,
    level: Level,
}

impl<'a> Entry<'a> {
    fn new(options: &'a Options) -> Result<Self> {
        let level = match options.level {
            Some(Limit::Scalar) => Level::limit(Level::Scalar),
            Some(Limit::Avx2) => Level::limit(Level::Avx2),
            Some(Limit::Avx512) | None => Level::best(),
        };
        let spec = SketchSpec {
            registers: options.registers,
            packing: Packing::bits(options.bits)?,
            ..SketchSpec::default()
        };
        Ok(Self { options, sketcher: spec.sketcher()?, spec, level })
    }

    fn line(&self, task: &str, api: &str, timing: &Timing) -> Result<Value> {
        let input = self.options.input.file_name().context("`--input` names a file")?.to_string_lossy();
        Ok(json!({
            "peer": "benzer",
            "version": env!("CARGO_PKG_VERSION"),
            "task": task,
            "input": input,
            "registers": self.options.registers,
            "api": format!("{api}; {}, {}; {:?} kernels, built for plain x86-64", self.spec.family, self.spec.packing, self.level),
            "seconds": timing.seconds,
            "on_cpu": timing.on_cpu,
        }))
    }

    fn print(
        &self,
        mut line: Value,
        amount: &Amount,
        timing: &Timing,
        words: &[u64],
        sizes: &[f64],
    ) -> Result<()> {
        let mut sorted = timing.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        line["n_sets"] = json!(sizes.len());
        line[amount.name] = json!(amount.n);
        line[amount.rate] = json!(amount.n as f64 / sorted[sorted.len() / 2] / amount.unit);
        line["error"] = self.error(words, sizes)?;
        println!("{line}");
        Ok(())
    }

    /// The error of the estimates that a user gets, over the pairs of known J.
    fn error(&self, words: &[u64], sizes: &[f64]) -> Result<Value> {
        let Some(pairs) = pairs(&self.options.input)? else { return Ok(Value::Null) };
        let sketch = |row: usize| {
            let words = &words[row * self.spec.words()..][..self.spec.words()];
            self.sketcher.restore(words, sizes[row])
        };
        let (mut sum, mut absolute, mut squares, mut theory) = (0.0, 0.0, 0.0, 0.0);
        for &(a, b, jaccard) in &pairs {
            let estimate = of::jaccard(&sketch(a)?, &sketch(b)?)?.value().unwrap_or_default();
            let difference = estimate - jaccard;
            sum += difference;
            absolute += difference.abs();
            squares += difference * difference;
            theory += jaccard * (1.0 - jaccard) / f64::from(self.options.registers);
        }
        let n = pairs.len() as f64;
        Ok(json!({
            "n_pairs": pairs.len(),
            "bias": sum / n,
            "mean_abs": absolute / n,
            "rms": (squares / n).sqrt(),
            "variance_ratio": squares / theory,
        }))
    }
}

struct Timing {
    seconds: Vec<f64>,
    on_cpu: f64,
}

/// Wall-clock seconds of each run after one that warms up, and the share of them spent on the CPU.
fn timed(runs: usize, mut run: impl FnMut() -> benzer_core::Result<()>) -> Result<Timing> {
    ensure!(runs > 0, "`--runs` must be positive");
    run()?;
    let cpu = cpu_seconds();
    let mut seconds = Vec::with_capacity(runs);
    for _ in 0..runs {
        let start = Instant::now();
        run()?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    let on_cpu = (cpu_seconds() - cpu) / seconds.iter().sum::<f64>();
    Ok(Timing { seconds, on_cpu })
}

/// CPU time of the main thread so far, as Linux counts it; zero elsewhere.
fn cpu_seconds() -> f64 {
    let schedstat = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    schedstat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or_default() * 1e-9
}

fn with(stem: &Path, extension: &str) -> PathBuf {
    let name = stem.file_name().unwrap_or_default().to_string_lossy();
    stem.with_file_name(format!("{name}.{extension}"))
}

fn numbers(stem: &Path, extension: &str) -> Result<Vec<u64>> {
    let path = with(stem, extension);
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// Texts one after the other in one buffer, as Arrow keeps them for the peers.
struct Texts {
    data: String,
    bounds: Vec<usize>,
}

impl Texts {
    fn read(stem: &Path) -> Result<Self> {
        let path = with(stem, "jsonl");
        let lines = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut texts = Self { data: String::with_capacity(lines.len()), bounds: vec![0] };
        for line in lines.lines() {
            let document: Value = serde_json::from_str(line)?;
            texts.data.push_str(document["text"].as_str().context("a document has a text")?);
            texts.bounds.push(texts.data.len());
        }
        Ok(texts)
    }

    fn len(&self) -> usize {
        self.bounds.len() - 1
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.bounds.windows(2).map(|ends| &self.data[ends[0]..ends[1]])
    }
}

/// Pairs of rows with their exact J, where the input has them.
fn pairs(stem: &Path) -> Result<Option<Vec<(usize, usize, f64)>>> {
    let Ok(table) = fs::read_to_string(with(stem, "pairs.tsv")) else { return Ok(None) };
    let pair = |line: &str| -> Result<(usize, usize, f64)> {
        let fields = line.split('\t').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
        ensure!(fields.len() == 4, "expected four columns, got {}", fields.len());
        Ok((fields[0], fields[1], fields[2] as f64 / fields[3] as f64))
    };
    table.lines().skip(1).map(pair).collect::<Result<_>>().map(Some)
}
