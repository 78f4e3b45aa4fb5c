//! Hints to the processor: they change how fast something is, never what.

/// Begins to bring an element into the cache. A place past the end does no harm.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], i: usize) {
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
