//! Hints to the processor and to the kernel: they change how fast something is, never what.

pub(crate) use benzer_core::hint::prefetch;

/// A vector so large is worth large pages.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// Asks for large pages for the memory of a vector, before it is written: what is read at random then costs fewer walks through page tables.
#[cfg(target_os = "linux")]
pub(crate) fn large_pages<T>(memory: &Vec<T>) {
    const PAGE: usize = 4096;
    let (start, bytes) = (memory.as_ptr() as usize, memory.capacity() * size_of::<T>());
    if bytes < LARGE {
        return;
    }
    let (first, end) = (start.next_multiple_of(PAGE), (start + bytes) / PAGE * PAGE);
    // SAFETY: these are whole pages of the vector, and the advice changes nothing that is in them. A system that does not take it says so, and all stays as it is.
    unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
}

/// Other systems are not asked.
#[cfg(not(target_os = "linux"))]
pub(crate) fn large_pages<T>(_: &Vec<T>) {}

/// An empty vector with room for `n`, on large pages.
pub(crate) fn with_capacity<T>(n: usize) -> Vec<T> {
    let room = Vec::with_capacity(n);
    large_pages(&room);
    room
}

/// `n` numbers or arrays of numbers that are zero, on large pages. Memory of the system is zero, so nothing has to be written.
pub(crate) fn zeros<T: Clone + Default>(n: usize) -> Vec<T> {
    let zeros = vec![T::default(); n];
    large_pages(&zeros);
    zeros
}
