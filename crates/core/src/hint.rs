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

/// Begins to bring an element into the cache for writing: where another processor has it, that one gives it up. A place past the end does no harm.
#[inline(always)]
pub fn prefetch_to_write<T>(slice: &[T], i: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        let place = slice.as_ptr().wrapping_add(i).addr();
        // The intrinsic becomes a prefetch for reading unless the whole program is compiled for a processor that has this one.
        // SAFETY: prefetching is allowed at every address, and changes nothing; a processor that does not know it does nothing.
        unsafe { std::arch::asm!("prefetchw [{}]", in(reg) place, options(nomem, nostack, preserves_flags)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, i);
}
