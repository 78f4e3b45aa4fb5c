//! What keeps memory and threads bounded, whatever is asked.

mod memory;
mod pool;

pub use memory::{MemoryBudget, Reservation};
pub use pool::{LongPool, Pool};
