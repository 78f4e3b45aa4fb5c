//! The decisions are those of the definition whatever the form of the inputs, their order, the threads, the memory and the checkpoints; and all results are the same bytes whatever is not among the inputs.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use benzer_dedup::request::Request;
use parquet::arrow::ArrowWriter;

use crate::corpus::{self, Document, Random};
use crate::evidence;
use crate::lab::{self, Lab};
use crate::oracle;

#[derive(Debug, Clone, Copy)]
enum Form {
    Plain,
    Gzip,
    Zstd,
    Parquet,
}

const FORMS: [Form; 4] = [Form::Plain, Form::Gzip, Form::Zstd, Form::Parquet];

impl Form {
    fn extension(self) -> &'static str {
        match self {
            Self::Plain => "jsonl",
            Self::Gzip => "jsonl.gz",
            Self::Zstd => "jsonl.zst",
            Self::Parquet => "parquet",
        }
    }

    fn content(self, documents: &[Document]) -> Vec<u8> {
        let lines = corpus::lines(documents);
        match self {
            Self::Plain => lines.into_bytes(),
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
                encoder.write_all(lines.as_bytes()).unwrap();
                encoder.finish().unwrap()
            }
            Self::Zstd => zstd::encode_all(lines.as_bytes(), 1).unwrap(),
            Self::Parquet => {
                let column = |value: fn(&Document) -> &str| -> ArrayRef {
                    Arc::new(documents.iter().map(|document| Some(value(document))).collect::<StringArray>())
                };
                let columns =
                    [("id", column(|document| &document.id)), ("text", column(|document| &document.text))];
                let rows = RecordBatch::try_from_iter(columns).unwrap();
                let mut writer = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
                writer.write(&rows).unwrap();
                writer.into_inner().unwrap()
            }
        }
    }
}

/// Bytes of the table in memory: nothing, some of it, all.
const MEMORY: [u64; 3] = [0, 2_890_000, u64::MAX];

fn request(lab: &Lab, threads: usize, in_memory: u64, checkpoint: Option<u64>) -> Request {
    lab.request("out").with(|request| {
        request.resources.threads = threads;
        request.resources.in_memory = in_memory;
        request.resources.checkpoint = checkpoint;
        // Plain files are read again where their lines are needed.
        request.resources.held = 0;
        request.resources.page_cache = 0;
        request.results.overwrite = true;
        request.input.read.batch_bytes = 700;
    })
}

/// Who is removed for whom by the definition.
fn expected(documents: &[Document], request: &Request) -> Vec<(String, String)> {
    let id = |row: usize| documents[row].id.clone();
    let removals = oracle::removals(documents, request).into_iter();
    let mut ids: Vec<_> = removals
        .map(|removal| match removal.kept {
            oracle::Kept::New(kept) => (id(removal.removed), id(kept)),
            oracle::Kept::Old(_) => unreachable!("there are no old documents"),
        })
        .collect();
    ids.sort();
    ids
}

#[test]
fn decisions_depend_on_texts_and_ids_alone() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let mut documents = corpus::documents(&mut random, 120, 30, false);
        let mut removed = 0;
        for form in FORMS {
            // Other files in another order for each form.
            random.shuffle(&mut documents);
            let lab = Lab::new();
            for (i, shard) in documents.chunks(1 + random.below(documents.len())).enumerate() {
                lab.write(&format!("{}.{}", i * 7919 % 31, form.extension()), form.content(shard));
            }
            let mut bytes = None;
            for threads in [1, 2, 5] {
                for in_memory in MEMORY {
                    for checkpoint in [None, Some(0)] {
                        let request = request(&lab, threads, in_memory, checkpoint);
                        let context = format!("{seed} {form:?} {threads} {in_memory} {checkpoint:?}");
                        lab::run(&request).unwrap();
                        let outputs = lab::outputs(&request.results.folder);
                        let found = evidence::read(&request.results.folder).into_iter();
                        let mut found: Vec<_> = found.map(|row| (row.removed_id, row.kept_id)).collect();
                        found.sort();
                        assert_eq!(found, expected(&documents, &request), "{context}");
                        removed += found.len();
                        lab::assert_same(&outputs, bytes.get_or_insert_with(|| outputs.clone()), &context);
                    }
                }
            }
        }
        assert!(removed > 0);
    }
}
