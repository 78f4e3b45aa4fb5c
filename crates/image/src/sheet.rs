//! `report.html` of a run over pictures: a contact sheet of its clusters.
//!
//! One file that asks for nothing else, as the report of documents: previews are inside of it, there is no script, and a policy in its head forbids scripts and requests.

use std::fmt::Write;
use std::fs;

use benzer_core::field::image::{encode, preview};

use super::decide::{Decided, Geometry, Reason, Removal};
use super::extract::Read;
use super::{Kept, Options};
use benzer_dedup::report::{STYLE, counted, escape, grouped};

/// Clusters that are shown, the largest first.
const CLUSTERS: usize = 60;
/// Removed pictures of a cluster that are shown.
const MEMBERS: usize = 11;
/// The longer side of a preview.
const SIDE: u32 = 180;
const REJECTS: usize = 20;
/// What the sheet adds to the style of reports.
const OWN_STYLE: &str = "\
.sheet { display: grid; grid-template-columns: repeat(auto-fill, minmax(11.5rem, 1fr)); gap: .75rem; align-items: start; }
.sheet figure { padding: .6rem; } .sheet figure.kept { border: 2px solid var(--kept); }
.sheet img { display: block; max-width: 100%; height: auto; margin: 0 auto; border-radius: 4px; }
.sheet figcaption { overflow-wrap: anywhere; font-size: .82rem; }
";

pub(super) fn render(options: &Options, read: &Read, decided: &Decided) -> String {
    let counts = &decided.counts;
    let what_became = match options.kept {
        Kept::Listed => "Nothing was copied or changed.",
        Kept::Copied => {
            "The kept files are copied to <code>pictures/</code>; the originals are as they were."
        }
        Kept::Linked => {
            "The kept files are linked in <code>pictures/</code>; the originals are as they were."
        }
    };
    let mut out = String::with_capacity(1 << 20);
    out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n");
    out.push_str("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n");
    let _ = write!(
        out,
        "<title>Duplicate pictures</title>\n<style>\n{STYLE}{OWN_STYLE}</style>\n</head>\n<body>\n"
    );
    let _ = write!(
        out,
        "<header class=\"top\">\n<h1>Duplicate pictures</h1>\n<p class=\"lead\">{} of {} are another picture that is kept: cropped, turned, resized, saved again or copied. {what_became}</p>\n</header>\n<main>\n",
        counted(counts.removed, "picture"),
        grouped(counts.read - counts.rejected)
    );
    out.push_str("<div class=\"cards\">\n");
    for (class, number, name) in [
        ("kept", counts.kept, "kept"),
        ("removed", counts.removed, "removed"),
        ("", counts.copies, "of them with the same bytes"),
        ("", counts.rejected, "files that cannot be read"),
        ("", counts.empty, "pictures without a keypoint, like nothing"),
    ] {
        let _ =
            writeln!(out, "<div class=\"card {class}\"><b>{}</b><span>{name}</span></div>", grouped(number));
    }
    out.push_str("</div>\n");
    clusters(options, read, decided, &mut out);
    rejects(read, &mut out);
    let _ = write!(
        out,
        "</main>\n<footer>Written by benzer {}. Every removal with its reason is in <code>evidence.parquet</code>, the kept files are in <code>kept.txt</code>.</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    );
    out
}

fn clusters(options: &Options, read: &Read, decided: &Decided, out: &mut String) {
    let mut clusters: Vec<&[Removal]> = decided.removals.chunk_by(|a, b| a.kept == b.kept).collect();
    clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.len()));
    let _ = writeln!(out, "<h2>{}</h2>", counted(clusters.len() as u64, "cluster"));
    if clusters.is_empty() {
        out.push_str("<p>No two of the pictures are one.</p>\n");
        return;
    }
    let shown = clusters.len().min(CLUSTERS);
    if shown < clusters.len() {
        let _ = writeln!(out, "<p>The {shown} largest are shown.</p>");
    }
    out.push_str("<p>The first picture of each is kept. Under every other one: how many points of it lie upon points of the kept one, and how it was changed.</p>\n");
    for cluster in &clusters[..shown] {
        let kept = cluster[0].kept;
        let _ =
            writeln!(out, "<h3>{}</h3>\n<div class=\"sheet\">", counted(cluster.len() as u64 + 1, "picture"));
        figure(options, read, kept, "kept", "kept", out);
        for removal in cluster.iter().take(MEMBERS) {
            figure(options, read, removal.removed, "", &caption(&removal.reason), out);
        }
        out.push_str("</div>\n");
        if cluster.len() > MEMBERS {
            let _ = writeln!(out, "<p class=\"quiet\">and {} more</p>", cluster.len() - MEMBERS);
        }
    }
}

fn caption(reason: &Reason) -> String {
    let Reason::Geometry(Geometry { agreement, .. }) = reason else { return "the same bytes".to_owned() };
    let transform = &agreement.transform;
    let mut parts = vec![counted(agreement.inliers.len() as u64, "point")];
    if transform.mirrored {
        parts.push("mirrored".to_owned());
    }
    if transform.degrees().abs() >= 0.5 {
        parts.push(format!("turned by {:.0}\u{b0}", transform.degrees()));
    }
    parts.join(", ")
}

fn figure(options: &Options, read: &Read, number: usize, class: &str, caption: &str, out: &mut String) {
    let picture = &read.pictures[number];
    let path = read.path(picture);
    let name = escape(&read.inputs[picture.input].relative.display().to_string());
    let _ = write!(out, "<figure class=\"{class}\">");
    let small = fs::read(path).ok().and_then(|bytes| preview(&bytes, &options.limits, SIDE).ok());
    if let Some(small) = small {
        let _ = write!(out, "<img alt=\"{name}\" src=\"data:image/jpeg;base64,{}\">", encode(&small));
    }
    let (width, height) = picture.size;
    let _ = writeln!(
        out,
        "<figcaption><b>{name}</b><br>{width} &times; {height}, {} bytes<br>{caption}</figcaption></figure>",
        grouped(read.inputs[picture.input].bytes)
    );
}

fn rejects(read: &Read, out: &mut String) {
    if read.rejects.is_empty() {
        return;
    }
    let _ = writeln!(out, "<h2>{} cannot be read</h2>\n<ul>", counted(read.rejects.len() as u64, "file"));
    for line in read.rejected().iter().take(REJECTS) {
        let _ = writeln!(out, "<li>{}</li>", escape(line));
    }
    out.push_str("</ul>\n");
}
