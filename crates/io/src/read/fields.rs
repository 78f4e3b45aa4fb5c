//! Which fields of a line are wanted, compiled into a tree that the scanner walks.
//!
//! A path is dotted: `text`, `meta.body`. A dot that belongs to a name is written `\.`, a backslash `\\`. Paths
//! go through objects only; an array has no fields.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::{Error, Result};

/// The place of a field inside a line: names of nested objects, outermost first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldPath {
    names: Vec<String>,
    written: Arc<str>,
}

impl FieldPath {
    /// The names along the path, outermost first.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl FromStr for FieldPath {
    type Err = Error;

    fn from_str(written: &str) -> Result<Self> {
        let mut names = vec![String::new()];
        let mut chars = written.chars();
        while let Some(c) = chars.next() {
            match c {
                '.' => names.push(String::new()),
                '\\' => names.last_mut().expect("starts with one name").extend(chars.next()),
                _ => names.last_mut().expect("starts with one name").push(c),
            }
        }
        if names.iter().any(String::is_empty) {
            let expected = "names joined by dots, such as `text` or `meta.body` (`\\.` for a dot in a name)";
            return Err(Error::parameter("field", expected, format!("`{written}`")));
        }
        Ok(Self { names, written: written.into() })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

/// The wanted fields as a tree. Each has a slot: the text fields in their order, then the id, then the order field.
#[derive(Debug, PartialEq)]
pub struct Fields {
    nodes: Vec<Node>,
    paths: Vec<FieldPath>,
    n_texts: usize,
    id: Option<usize>,
    order: Option<usize>,
}

/// One name on the way to a wanted field.
#[derive(Debug, Default, PartialEq)]
pub struct Node {
    children: Vec<(Box<str>, usize)>,
    /// The slots that end here: several when the id is also a text field.
    pub(crate) slots: Vec<usize>,
    /// The slots that end here or below. A repeated key empties them first, so that the last one wins whole.
    pub(crate) below: Vec<usize>,
}

impl Fields {
    pub fn new(texts: &[FieldPath], id: Option<&FieldPath>, order: Option<&FieldPath>) -> Result<Self> {
        if texts.is_empty() {
            return Err(Error::parameter("--text-field", "at least one field", "none"));
        }
        if let Some(i) = (1..texts.len()).find(|&i| texts[..i].iter().any(|t| t.names == texts[i].names)) {
            return Err(Error::parameter(
                "--text-field",
                "different fields",
                format!("`{}` twice", texts[i]),
            ));
        }
        let mut fields = Self {
            nodes: vec![Node::default()],
            paths: Vec::new(),
            n_texts: texts.len(),
            id: None,
            order: None,
        };
        for path in texts {
            fields.add(path);
        }
        fields.id = id.map(|path| fields.add(path));
        fields.order = order.map(|path| fields.add(path));
        Ok(fields)
    }

    fn add(&mut self, path: &FieldPath) -> usize {
        let slot = self.paths.len();
        self.paths.push(path.clone());
        let mut at = 0;
        for name in &path.names {
            let next = self.nodes[at].child(name.as_bytes()).unwrap_or_else(|| {
                self.nodes.push(Node::default());
                let next = self.nodes.len() - 1;
                self.nodes[at].children.push((name.as_str().into(), next));
                next
            });
            self.nodes[next].below.push(slot);
            at = next;
        }
        self.nodes[at].slots.push(slot);
        slot
    }

    pub fn node(&self, number: usize) -> &Node {
        &self.nodes[number]
    }

    pub fn n_slots(&self) -> usize {
        self.paths.len()
    }

    pub fn text_slots(&self) -> std::ops::Range<usize> {
        0..self.n_texts
    }

    #[inline]
    pub fn id_slot(&self) -> Option<usize> {
        self.id
    }

    #[inline]
    pub fn order_slot(&self) -> Option<usize> {
        self.order
    }

    /// The fields in the order of their slots.
    pub fn paths(&self) -> &[FieldPath] {
        &self.paths
    }

    /// The field of a slot as the user wrote it.
    pub fn name(&self, slot: usize) -> Arc<str> {
        Arc::clone(&self.paths[slot].written)
    }
}

impl Node {
    #[inline]
    pub fn child(&self, name: &[u8]) -> Option<usize> {
        self.children.iter().find(|(known, _)| known.as_bytes() == name).map(|&(_, number)| number)
    }

    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_at_dots_that_are_not_escaped() {
        let path: FieldPath = r"a.b\.c.d\\".parse().unwrap();
        assert_eq!(path.names(), ["a", "b.c", r"d\"]);
        assert_eq!(path.to_string(), r"a.b\.c.d\\");
    }

    #[test]
    fn a_path_with_an_empty_name_is_refused_with_an_example() {
        for bad in ["", ".", "a.", "a..b", r"\"] {
            let error = bad.parse::<FieldPath>().unwrap_err().to_string();
            assert!(error.contains("such as `text`"), "{error}");
        }
    }

    #[test]
    fn a_text_field_given_twice_is_refused() {
        let text: FieldPath = "text".parse().unwrap();
        let error = Fields::new(&[text.clone(), text], None, None).unwrap_err();
        assert_eq!(error.to_string(), "`--text-field` must be different fields, got `text` twice");
    }
}
