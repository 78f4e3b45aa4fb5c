//! Which buffers of a record batch belong to a column.
//!
//! A record batch lists its nodes (lengths) and buffers (places in its body) by walking down all fields. To read one column
//! without the others, its part of these lists is found by the same walk.

use arrow_ipc::MetadataVersion;
use arrow_schema::{DataType, Field, Fields, UnionMode};

/// Where one column stands in the lists of a record batch.
#[derive(Debug, Default)]
pub(super) struct ColumnPlace {
    pub(super) nodes: Vec<usize>,
    pub(super) buffers: Vec<usize>,
    /// For each column of views, how many buffers beyond the two that all have it has.
    pub(super) variadic: Vec<usize>,
}

impl ColumnPlace {
    /// Finds the column at a path; nothing if the lists do not fit the fields.
    pub(super) fn find(
        fields: &Fields,
        names: &[String],
        version: MetadataVersion,
        variadic: &[i64],
    ) -> Option<Self> {
        let mut walk = Walk { version, variadic, node: 0, buffer: 0, view: 0, found: Self::default() };
        walk.children(fields, names)?;
        Some(walk.found)
    }
}

/// How far the walk is in each list.
struct Walk<'a> {
    version: MetadataVersion,
    variadic: &'a [i64],
    node: usize,
    buffer: usize,
    view: usize,
    found: ColumnPlace,
}

impl Walk<'_> {
    /// Passes the fields; the one with the first name is looked into.
    fn children(&mut self, fields: &Fields, names: &[String]) -> Option<()> {
        let wanted = names.first().and_then(|name| fields.iter().position(|field| field.name() == name));
        for (i, field) in fields.iter().enumerate() {
            match wanted {
                Some(wanted) if wanted == i => self.take(field, &names[1..])?,
                _ => self.pass(field.data_type())?,
            }
        }
        Some(())
    }

    fn take(&mut self, field: &Field, names: &[String]) -> Option<()> {
        match field.data_type() {
            DataType::Struct(fields) if !names.is_empty() => {
                self.found.nodes.push(self.node);
                self.found.buffers.push(self.buffer);
                self.node += 1;
                self.buffer += 1;
                self.children(fields, names)
            }
            data_type => {
                let (node, buffer, view) = (self.node, self.buffer, self.view);
                self.pass(data_type)?;
                self.found.nodes.extend(node..self.node);
                self.found.buffers.extend(buffer..self.buffer);
                self.found.variadic.extend(view..self.view);
                Some(())
            }
        }
    }

    fn pass(&mut self, data_type: &DataType) -> Option<()> {
        self.node += 1;
        self.buffer += match data_type {
            DataType::Null | DataType::RunEndEncoded(..) => 0,
            DataType::Struct(_) | DataType::FixedSizeList(..) => 1,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => 3,
            DataType::ListView(_) | DataType::LargeListView(_) => 3,
            DataType::Utf8View | DataType::BinaryView => {
                let n = *self.variadic.get(self.view)?;
                self.view += 1;
                2 + usize::try_from(n).ok()?
            }
            DataType::Union(_, mode) => {
                let validity = usize::from(self.version < MetadataVersion::V5);
                validity + 1 + usize::from(*mode == UnionMode::Dense)
            }
            _ => 2,
        };
        match data_type {
            DataType::Struct(fields) => fields.iter().try_for_each(|field| self.pass(field.data_type())),
            DataType::Union(fields, _) => {
                fields.iter().try_for_each(|(_, field)| self.pass(field.data_type()))
            }
            DataType::List(child)
            | DataType::LargeList(child)
            | DataType::ListView(child)
            | DataType::LargeListView(child)
            | DataType::FixedSizeList(child, _)
            | DataType::Map(child, _) => self.pass(child.data_type()),
            DataType::RunEndEncoded(ends, values) => {
                self.pass(ends.data_type())?;
                self.pass(values.data_type())
            }
            _ => Some(()),
        }
    }
}
