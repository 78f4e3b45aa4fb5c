//! Large allocations in huge pages.
//!
//! A run touches each page of its buffers once, and a fault for every 4 KiB costs more than what is written there. So
//! allocations of [`LARGE`] bytes and more are memory maps of their own, which Linux is asked to back with pages of
//! 2 MiB; the rest goes to the system's allocator. Growing such an allocation moves page tables, not bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;

/// From here on an allocation is a map of its own.
pub const LARGE: usize = 1 << 20;
/// The size of a huge page.
const PAGE: usize = 2 << 20;

/// The system's allocator, and memory maps for what is large.
#[derive(Debug, Clone, Copy, Default)]
pub struct LargePages;

fn is_large(size: usize, align: usize) -> bool {
    size >= LARGE && align <= 4096
}

/// The bytes that a map for `size` has. Linux puts a map at a multiple of a huge page only if it is one itself.
fn mapped(size: usize) -> usize {
    size.saturating_add(PAGE - 1) & !(PAGE - 1)
}

fn map(size: usize) -> *mut u8 {
    let length = mapped(size);
    // SAFETY: a new private map without address hint disturbs no other memory.
    let at = unsafe {
        libc::mmap(
            ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return ptr::null_mut();
    }
    // SAFETY: the range was just mapped; the advice changes no content, and may be refused.
    unsafe { libc::madvise(at, length, libc::MADV_HUGEPAGE) };
    at.cast()
}

// SAFETY: every block comes from `System` or from a map, told apart by size and alignment alone, which the caller of
// each method repeats; maps are zeroed, aligned to 4096 bytes and at least as long as asked.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            return map(layout.size());
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            return map(layout.size());
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if is_large(layout.size(), layout.align()) {
            // SAFETY: `at` is a map of this length, which nobody uses any more.
            unsafe { libc::munmap(at.cast(), mapped(layout.size())) };
        } else {
            // SAFETY: as the caller promises.
            unsafe { System.dealloc(at, layout) };
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (before, after) = (is_large(layout.size(), layout.align()), is_large(size, layout.align()));
        if !before && !after {
            // SAFETY: as the caller promises.
            return unsafe { System.realloc(at, layout, size) };
        }
        if before && after {
            let (old, new) = (mapped(layout.size()), mapped(size));
            if old == new {
                return at;
            }
            // SAFETY: `at` is a map of `old` bytes; the caller gives up the old address.
            let moved = unsafe { libc::mremap(at.cast(), old, new, libc::MREMAP_MAYMOVE) };
            return if moved == libc::MAP_FAILED { ptr::null_mut() } else { moved.cast() };
        }
        // SAFETY: the size is not zero and fits the alignment, as the caller promises.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both blocks hold that many bytes and do not overlap; the old one is given up.
            unsafe {
                ptr::copy_nonoverlapping(at, new, layout.size().min(size));
                self.dealloc(at, layout);
            }
        }
        new
    }
}
