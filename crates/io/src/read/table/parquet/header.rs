//! The header of a page, in Thrift's compact protocol: how long the page is, how many values it has, how they are coded.
//!
//! The reading thread needs these few numbers to tell the rows of a page without decoding it. The whole header (with
//! statistics and checksum) is read again by the decoder. Format: <https://parquet.apache.org/docs/file-format/>.

/// What is known of a page from its header.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct PageHeader {
    pub(super) kind: PageKind,
    /// The bytes after the header.
    pub(super) compressed: i64,
    pub(super) uncompressed: i64,
    /// Values of a dictionary, or of a data page, nulls included.
    pub(super) n_values: i64,
    /// The code of the encoding.
    encoding: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum PageKind {
    Data,
    Dictionary,
    /// To be passed over.
    #[default]
    Other,
}

/// Why there is no header.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HeaderFault {
    /// The bytes end before it does.
    Short,
    /// It is none.
    Bad,
}

const BOOLEANS: [u8; 2] = [1, 2];
/// Either of them.
const BOOLEAN: u8 = BOOLEANS[0];
const BYTE: u8 = 3;
const INTEGERS: [u8; 3] = [4, 5, 6];
const I32: u8 = 5;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LISTS: [u8; 2] = [9, 10];
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const MAX_DEPTH: u32 = 16;

/// The types of the fields of a header, from number 1 on.
const HEADER: &[u8] = &[I32, I32, I32, I32, STRUCT, STRUCT, STRUCT, STRUCT];
/// Those of the part that is special to data pages, to dictionaries, and to data pages of version 2.
const DATA: &[u8] = &[I32, I32, I32, I32, STRUCT];
const DICTIONARY: &[u8] = &[I32, I32, BOOLEAN];
const DATA_2: &[u8] = &[I32, I32, I32, I32, I32, I32, BOOLEAN, STRUCT];

impl PageHeader {
    /// Reads a header; also gives its length.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, usize), HeaderFault> {
        let mut reader = ThriftReader { bytes, at: 0 };
        let mut header = Self::default();
        let mut last = 0;
        while let Some((field, of_type)) = reader.field(&mut last, HEADER)? {
            match field {
                1 => header.kind = PageKind::of_code(reader.integer()?),
                2 => header.uncompressed = reader.integer()?,
                3 => header.compressed = reader.integer()?,
                5 => header.read_kind(&mut reader, DATA, 2)?,
                7 => header.read_kind(&mut reader, DICTIONARY, 2)?,
                8 => header.read_kind(&mut reader, DATA_2, 4)?,
                _ => reader.skip(of_type, 0)?,
            }
        }
        let is_plausible = header.compressed >= 0 && header.uncompressed >= 0 && header.n_values >= 0;
        if is_plausible { Ok((header, reader.at)) } else { Err(HeaderFault::Bad) }
    }

    /// Whether the values are places in the dictionary.
    pub(super) fn is_dictionary_coded(&self) -> bool {
        matches!(self.encoding, 2 | 8)
    }

    /// The part of a header that is special to its kind.
    fn read_kind(
        &mut self,
        reader: &mut ThriftReader<'_>,
        types: &[u8],
        encoding: i64,
    ) -> Result<(), HeaderFault> {
        let mut last = 0;
        while let Some((field, of_type)) = reader.field(&mut last, types)? {
            match field {
                1 => self.n_values = reader.integer()?,
                field if field == encoding => self.encoding = reader.integer()?,
                _ => reader.skip(of_type, 0)?,
            }
        }
        Ok(())
    }
}

impl PageKind {
    fn of_code(code: i64) -> Self {
        match code {
            0 | 3 => Self::Data,
            2 => Self::Dictionary,
            _ => Self::Other,
        }
    }
}

/// True if these bytes are one struct, whatever it means, that the decoder can pass over in a time that they explain.
pub(super) fn is_struct(bytes: &[u8]) -> bool {
    ThriftReader { bytes, at: 0 }.skip(STRUCT, 0).is_ok()
}

struct ThriftReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl ThriftReader<'_> {
    /// Number and type of the next field, or nothing at the end of the struct. A field that should be of another type is a fault: the decoder does not look at types of fields that it knows.
    fn field(&mut self, last: &mut i64, types: &[u8]) -> Result<Option<(i64, u8)>, HeaderFault> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        *last = match byte >> 4 {
            0 => self.integer()?,
            delta => *last + i64::from(delta),
        };
        let of_type = byte & 0xf;
        let is_of = |wanted: u8| of_type == wanted || wanted == BOOLEAN && BOOLEANS.contains(&of_type);
        let wanted = usize::try_from(*last - 1).ok().and_then(|i| types.get(i));
        wanted.is_none_or(|wanted| is_of(*wanted)).then_some(Some((*last, of_type))).ok_or(HeaderFault::Bad)
    }

    fn skip(&mut self, of_type: u8, depth: u32) -> Result<(), HeaderFault> {
        match of_type {
            _ if depth > MAX_DEPTH => Err(HeaderFault::Bad),
            of_type if BOOLEANS.contains(&of_type) => Ok(()),
            of_type if INTEGERS.contains(&of_type) => self.integer().map(|_| ()),
            of_type if LISTS.contains(&of_type) => {
                let head = self.byte()?;
                let n = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                (0..n).try_for_each(|_| self.skip_element(head & 0xf, depth + 1))
            }
            BYTE => self.pass(1),
            DOUBLE => self.pass(8),
            BINARY => {
                let n = self.varint()?;
                self.pass(n)
            }
            MAP => {
                let n = self.varint()?;
                let types = if n == 0 { 0 } else { self.byte()? };
                (0..n).try_for_each(|_| {
                    self.skip_element(types >> 4, depth + 1)?;
                    self.skip_element(types & 0xf, depth + 1)
                })
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, of_type)) = self.field(&mut last, &[])? {
                    self.skip(of_type, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(HeaderFault::Bad),
        }
    }

    /// An element of a list or map. Nothing that is passed over has lists of booleans, and the decoder takes no bytes for them: it would count to billions because a few bytes say so.
    fn skip_element(&mut self, of_type: u8, depth: u32) -> Result<(), HeaderFault> {
        if BOOLEANS.contains(&of_type) { Err(HeaderFault::Bad) } else { self.skip(of_type, depth) }
    }

    fn pass(&mut self, n: u64) -> Result<(), HeaderFault> {
        let end = usize::try_from(n).ok().and_then(|n| self.at.checked_add(n)).ok_or(HeaderFault::Bad)?;
        if end > self.bytes.len() {
            return Err(HeaderFault::Short);
        }
        self.at = end;
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, HeaderFault> {
        let byte = *self.bytes.get(self.at).ok_or(HeaderFault::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64, HeaderFault> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(HeaderFault::Bad)
    }

    fn integer(&mut self) -> Result<i64, HeaderFault> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A data page with statistics that hold a text: fields 1, 2, 3, and 5 with 1, 2, 3, 4 and 5.
    fn header() -> Vec<u8> {
        let mut bytes = vec![0x15, 0, 0x15, 0x90, 0x03, 0x15, 0x80, 0x01, 0x2c];
        bytes.extend([0x15, 0xc8, 0x01, 0x15, 16, 0x15, 6, 0x15, 6, 0x1c, 0x18, 5]);
        bytes.extend(b"hello");
        bytes.extend([0, 0, 0]);
        bytes
    }

    #[test]
    fn a_header_is_read_and_cut_short_it_is_short() {
        let bytes = header();
        let (read, n) = PageHeader::read(&[&bytes[..], b"page"].concat()).unwrap();
        assert_eq!((read.kind, read.uncompressed, read.compressed), (PageKind::Data, 200, 64));
        assert_eq!((read.n_values, read.is_dictionary_coded(), n), (100, true, bytes.len()));
        for cut in 0..bytes.len() {
            assert_eq!(PageHeader::read(&bytes[..cut]), Err(HeaderFault::Short), "{cut}");
        }
    }

    #[test]
    fn what_the_decoder_would_count_for_hours_is_no_header() {
        // Field 9, a list of 2^31 - 1 booleans, in a header and in its data page.
        let list = [0x49, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0];
        let long = [&header()[..header().len() - 1], &list].concat();
        assert_eq!(PageHeader::read(&long), Err(HeaderFault::Bad));
        let long = [&header()[..header().len() - 2], &list, &[0]].concat();
        assert_eq!(PageHeader::read(&long), Err(HeaderFault::Bad));
        assert!(is_struct(&header()) && !is_struct(&long) && !is_struct(&header()[..9]));
        // Fields that the decoder knows, and takes for what they should be.
        for (at, wrong) in [(0, 0x16), (0, 0x19), (8, 0x29), (9, 0x18)] {
            let mut bytes = header();
            bytes[at] = wrong;
            assert_eq!(PageHeader::read(&bytes), Err(HeaderFault::Bad), "{at}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end_in_a_header_or_a_fault(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok((header, n)) = PageHeader::read(&bytes) {
                prop_assert!(n <= bytes.len() && header.compressed >= 0);
            }
        }
    }
}
