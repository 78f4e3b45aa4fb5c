//! Hints to the processor and to the kernel: they change how fast something is, never what.

/// Begins to bring an element into the cache. A place past the end does no harm.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], i: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = slice.as_ptr().wrapping_add(i).cast::<i8>();
        // SAFETY: prefetching is allowed at every address, and reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, i);
}

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
pub(crate) fn with_room<T>(n: usize) -> Vec<T> {
    let room = Vec::with_capacity(n);
    large_pages(&room);
    room
}
