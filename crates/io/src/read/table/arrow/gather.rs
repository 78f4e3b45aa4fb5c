//! Some buffers of a body, without the others.

use arrow_buffer::Buffer;

use super::messages::ArrowMessages;
use crate::read::table::TableFault;

/// Buffers begin at multiples of this, as decoders want it.
const ALIGNMENT: usize = 64;

/// Reads the wanted buffers of a body of `n` bytes, and passes the others. Gives them one after the other, and their new
/// places.
pub(super) fn gather(
    messages: &mut ArrowMessages,
    wanted: &[arrow_ipc::Buffer],
    n: u64,
) -> Result<(Buffer, Vec<arrow_ipc::Buffer>), TableFault> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&i| (wanted[i].offset(), wanted[i].length()));
    let (mut body, mut at) = (Vec::new(), 0);
    let mut places = vec![arrow_ipc::Buffer::new(0, 0); wanted.len()];
    let mut last: Option<usize> = None;
    for i in order {
        let (offset, length) = (wanted[i].offset() as u64, wanted[i].length() as u64);
        match last {
            // Two columns have the same ancestor.
            Some(last) if wanted[last] == wanted[i] => {
                places[i] = places[last];
                continue;
            }
            _ if length == 0 => continue,
            _ if offset < at => return Err(TableFault::arrow("buffers that overlap")),
            _ => {}
        }
        messages.pass(offset - at)?;
        body.resize(body.len().next_multiple_of(ALIGNMENT), 0);
        places[i] = arrow_ipc::Buffer::new(body.len() as i64, length as i64);
        if messages.append(length, &mut body)? < length {
            return Err(TableFault::arrow("the file ends inside of a record batch"));
        }
        (at, last) = (offset + length, Some(i));
    }
    messages.pass(n - at)?;
    Ok((Buffer::from_vec(body), places))
}
