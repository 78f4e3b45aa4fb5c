//! Marks on lines and records: five fields are added, and no byte of the others is changed.

use std::io::Write;

use super::verdict::Annotation;
use crate::error::{Error, Result};
use crate::read::{Format, Input, column_names};

/// The names of the fields that are added, in their order.
pub const ANNOTATIONS: [&str; 5] =
    ["dup_cluster_id", "dup_cluster_size", "dup_of", "dup_similarity", "is_duplicate"];

/// Appends a line of JSON with the five members before its last brace; all else stays byte for byte.
///
/// The line must be one that was read as a document. If it has members of these names already, they stay, and the new
/// ones come after them: of a repeated key the last one wins, here and in every common parser.
pub fn annotate_json(line: &str, annotation: &Annotation, out: &mut Vec<u8>) {
    let Some(brace) = line.rfind('}') else {
        out.extend_from_slice(line.as_bytes());
        return;
    };
    let members = line[..brace].trim_end();
    out.extend_from_slice(members.as_bytes());
    let [cluster_id, cluster_size, dup_of, similarity, is_duplicate] = ANNOTATIONS;
    json_member(cluster_id, &annotation.cluster_id, out);
    json_member(cluster_size, &annotation.cluster_size, out);
    json_member(dup_of, &annotation.dup_of, out);
    json_member(similarity, &annotation.similarity, out);
    json_member(is_duplicate, &annotation.is_duplicate, out);
    out.extend_from_slice(&line.as_bytes()[members.len()..]);
}

fn json_member(name: &str, value: &impl serde::Serialize, out: &mut Vec<u8>) {
    if !out.ends_with(b"{") {
        out.push(b',');
    }
    write!(out, "\"{name}\":").expect("memory takes all bytes");
    serde_json::to_writer(out, value).expect("strings, numbers and booleans are JSON");
}

/// Appends a record of CSV with five more fields at its end; all else stays byte for byte. What has no value is empty.
pub fn annotate_csv(record: &str, delimiter: u8, annotation: &Annotation, out: &mut Vec<u8>) {
    let Annotation { cluster_id, cluster_size, dup_of, similarity, is_duplicate } = annotation;
    let fields = [
        cluster_id.clone().unwrap_or_default(),
        cluster_size.to_string(),
        dup_of.clone().unwrap_or_default(),
        similarity.map(|similarity| similarity.to_string()).unwrap_or_default(),
        is_duplicate.to_string(),
    ];
    append_fields(record.as_bytes(), delimiter, &fields, out);
}

/// Appends the header of a CSV file with the five names at its end.
///
/// # Errors
/// A column that has one of the names already; a file of another format.
pub fn annotate_csv_header(input: &Input, out: &mut Vec<u8>) -> Result<()> {
    let Some(Format::Csv { delimiter }) = input.format() else {
        let got = input.format().map_or("an input that was not read", Format::name);
        let (path, expected, remedy) = (input.path.to_path_buf(), "csv or tsv", "read it as csv");
        return Err(Error::Format { path, expected, got, remedy });
    };
    let header = input.header().unwrap_or_default();
    let names = column_names(header, delimiter);
    check_names(names.iter().map(String::as_str), input)?;
    append_fields(header, delimiter, &ANNOTATIONS.map(str::to_owned), out);
    Ok(())
}

/// Refuses a file with a column of one of the names.
pub(super) fn check_names<'a>(mut names: impl Iterator<Item = &'a str>, input: &Input) -> Result<()> {
    match names.find(|name| ANNOTATIONS.contains(name)) {
        Some(column) => Err(Error::Annotated { path: input.path.to_path_buf(), column: column.to_owned() }),
        None => Ok(()),
    }
}

fn append_fields(record: &[u8], delimiter: u8, fields: &[String], out: &mut Vec<u8>) {
    let plain = record.strip_suffix(b"\r").unwrap_or(record);
    out.extend_from_slice(plain);
    for field in fields {
        out.push(delimiter);
        if field.bytes().any(|byte| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r')) {
            write!(out, "\"{}\"", field.replace('"', "\"\"")).expect("memory takes all bytes");
        } else {
            out.extend_from_slice(field.as_bytes());
        }
    }
    out.extend_from_slice(&record[plain.len()..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed() -> Annotation {
        Annotation {
            cluster_id: Some("a \"b\",\tc".into()),
            cluster_size: 3,
            dup_of: Some("x".into()),
            similarity: Some(0.875),
            is_duplicate: true,
        }
    }

    fn alone() -> Annotation {
        Annotation { cluster_id: None, cluster_size: 1, dup_of: None, similarity: None, is_duplicate: false }
    }

    fn json(line: &str, annotation: &Annotation) -> String {
        let mut out = Vec::new();
        annotate_json(line, annotation, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn members_are_added_before_the_last_brace_and_nothing_else_changes() {
        let marks = r#""dup_cluster_id":null,"dup_cluster_size":1,"dup_of":null,"dup_similarity":null,"is_duplicate":false"#;
        let annotated = json("  {\"a\": [1e400, {}], \"b\":\"}\" \t} \r", &alone());
        assert_eq!(annotated, format!("  {{\"a\": [1e400, {{}}], \"b\":\"}}\",{marks} \t}} \r"));
        assert_eq!(json("{ }", &alone()), format!("{{{marks} }}"));
        let marks = r#""dup_cluster_id":"a \"b\",\tc","dup_cluster_size":3,"dup_of":"x","dup_similarity":0.875,"is_duplicate":true"#;
        assert_eq!(json("{\"a\":{}}", &removed()), format!("{{\"a\":{{}},{marks}}}"));
    }

    #[test]
    fn members_that_are_there_already_lose_against_the_new_ones() {
        let annotated = json("{\"dup_of\":\"old\",\"is_duplicate\":1}", &removed());
        let value: serde_json::Value = serde_json::from_str(&annotated).unwrap();
        assert_eq!((&value["dup_of"], &value["is_duplicate"]), (&"x".into(), &true.into()));
        assert!(annotated.starts_with("{\"dup_of\":\"old\",\"is_duplicate\":1,"));
    }

    #[test]
    fn fields_are_added_before_the_line_end_and_quoted_where_they_must() {
        let csv = |record: &str, delimiter, annotation: &Annotation| {
            let mut out = Vec::new();
            annotate_csv(record, delimiter, annotation, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(csv("1,\"a\nb\"\r", b',', &alone()), "1,\"a\nb\",,1,,,false\r");
        assert_eq!(csv("1", b',', &removed()), "1,\"a \"\"b\"\",\tc\",3,x,0.875,true");
        assert_eq!(csv("1\t", b'\t', &alone()), "1\t\t\t1\t\t\tfalse");
    }
}
