//! Large allocations in huge pages.
//!
//! A run touches each page of its buffers once, and a fault for every 4 KiB costs more than what is written there. So
//! allocations of [`LARGE`] bytes and more are memory maps of their own, which Linux is asked to back with pages of
//! 2 MiB; the rest goes to the system's allocator. Growing such an allocation moves page tables, not bytes. Some that
//! were given back wait for the next that is not longer, because the system clears every page that it hands out, and
//! the host of a virtual machine may have to find it first. A program that does much work sets a part of the heap aside in
//! huge pages, too, and has those of its threads there ([`reserve`]).

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// From here on an allocation is a map of its own.
pub const LARGE: usize = 1 << 20;
const PAGE: usize = 2 << 20;

/// Bytes of all maps that wait for the next allocation, at most.
const WAITING: usize = 32 << 20;

/// The maps that wait: address and length.
static SPARE: Mutex<[(usize, usize); WAITING / PAGE]> = Mutex::new([(0, 0); WAITING / PAGE]);

/// A map of this length, of those that were given back: the beginning of the shortest that has it. What is in it is what was written there.
fn take_spare(length: usize) -> Option<*mut u8> {
    let mut spare = SPARE.try_lock().ok()?;
    let found = spare.iter_mut().filter(|(_, other)| *other >= length).min_by_key(|(_, other)| *other)?;
    let at = found.0;
    *found = (at + length, found.1 - length);
    Some(at as *mut u8)
}

/// Keeps a map for later; false if there is no room for it.
fn keep_spare(at: *mut u8, length: usize) -> bool {
    let Ok(mut spare) = SPARE.try_lock() else { return false };
    let waiting: usize = spare.iter().map(|(_, length)| *length).sum();
    if waiting + length > WAITING {
        return false;
    }
    // Every map has a page at least, so there is a place while there is room.
    spare.iter_mut().find(|(_, length)| *length == 0).is_some_and(|place| {
        *place = (at as usize, length);
        true
    })
}

/// Has the system's allocator keep up to so much of what is given back.
const KEPT: libc::c_int = 16 << 20;

/// Tells the system's allocator what it cannot know: that memory it gives back will be wanted again at once, and costs a fault for each page then. For programs, before they begin.
pub fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: settings of the allocator, made before there is another thread; what is refused stays as it was.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        // What is larger has a map of its own anyway.
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE as libc::c_int);
        libc::mallopt(libc::M_TOP_PAD, LARGE as libc::c_int);
    }
    IS_OURS.store(true, Ordering::Relaxed);
}

/// Whether the settings of the system's allocator are ours to make.
static IS_OURS: AtomicBool = AtomicBool::new(false);

/// The most that [`reserve`] sets aside.
const RESERVED: usize = 1 << 30;

/// Sets aside so many bytes, or as many as make sense, for what the system's allocator will hand out: addresses only, which become huge pages when they are touched. Millions of small pieces cost as
/// many faults as a few large ones otherwise. For long work of so many threads on much data, once, and only after [`keep_memory`]: what is given back stays with the process from here on.
pub fn reserve(bytes: u64, threads: usize) {
    let bytes = usize::try_from(bytes).map_or(RESERVED, |bytes| bytes.min(RESERVED)) & !(PAGE - 1);
    if bytes == 0 || !IS_OURS.swap(false, Ordering::Relaxed) {
        return;
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = threads;
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: settings of the allocator, which may be refused; a block that is given back at once; and advice for addresses between that block and the end of the heap, which changes no content.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        if threads == 1 {
            // The thread that writes documents has its part of it, too.
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
        libc::mallopt(libc::M_TOP_PAD, bytes as libc::c_int);
        // Too long for what is there, so that the heap has to grow.
        libc::mallopt(libc::M_MMAP_THRESHOLD, 2 * PAGE as libc::c_int);
        let block = libc::malloc(PAGE + LARGE);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE as libc::c_int);
        // The heap of another thread is there as a whole, and does not grow page by page.
        libc::mallopt(libc::M_TOP_PAD, if threads == 1 { LARGE } else { HEAP - LARGE } as libc::c_int);
        let start = (block as usize).next_multiple_of(PAGE);
        let end = libc::sbrk(0) as usize & !(PAGE - 1);
        // Where the heap could not grow, the block lies elsewhere.
        if !block.is_null() && start < end && end - start <= bytes + 2 * PAGE {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE);
        }
        libc::free(block);
        if threads > 1 {
            HEAPS_FROM.store(libc::sbrk(0) as usize, Ordering::Relaxed);
        }
    }
}

/// Bytes of a heap that the system's allocator makes for another thread; it begins at a multiple of them.
const HEAP: usize = 64 << 20;
/// From this address on heaps are to be in huge pages; below is what was set aside.
static HEAPS_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);
/// The numbers of heaps that were asked for. Two with the same place here take turns.
static HEAPS: [AtomicUsize; 256] = [const { AtomicUsize::new(0) }; 256];
/// From here on it is looked whether an allocation is the first one in its heap.
const NOTED: usize = 4096;
/// Puts what is there into huge pages now (Linux 6.1).
const MADV_COLLAPSE: libc::c_int = 25;

/// Asks for huge pages in the heap of a block, unless that was done: there the buffers of a thread are, and the rows that it makes.
#[inline]
fn note(block: *mut u8, size: usize) -> *mut u8 {
    if size >= NOTED && block as usize >= HEAPS_FROM.load(Ordering::Relaxed) {
        let number = block as usize / HEAP;
        let place = &HEAPS[number % HEAPS.len()];
        if place.load(Ordering::Relaxed) != number {
            place.store(number, Ordering::Relaxed);
            let heap = (number * HEAP) as *mut libc::c_void;
            // SAFETY: advice that changes no content, whatever lies at these addresses.
            unsafe {
                libc::madvise(heap, HEAP, libc::MADV_HUGEPAGE);
                // The first huge page has small ones by now, where the system's allocator began to use it.
                libc::madvise(heap, PAGE, MADV_COLLAPSE);
            }
        }
    }
    block
}

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
// each method repeats; maps are aligned to 4096 bytes and at least as long as asked, zeroed if they are new, and one that
// waits is taken by one allocation only.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            return take_spare(mapped(layout.size())).unwrap_or_else(|| map(layout.size()));
        }
        // SAFETY: as the caller promises.
        note(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout.size(), layout.align()) {
            let Some(spare) = take_spare(mapped(layout.size())) else { return map(layout.size()) };
            // SAFETY: the map has that many bytes, and nobody else uses it.
            unsafe { ptr::write_bytes(spare, 0, layout.size()) };
            return spare;
        }
        // SAFETY: as the caller promises.
        note(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if is_large(layout.size(), layout.align()) {
            if !keep_spare(at, mapped(layout.size())) {
                // SAFETY: `at` is a map of this length, which nobody uses any more.
                unsafe { libc::munmap(at.cast(), mapped(layout.size())) };
            }
        } else {
            // SAFETY: as the caller promises.
            unsafe { System.dealloc(at, layout) };
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (before, after) = (is_large(layout.size(), layout.align()), is_large(size, layout.align()));
        if !before && !after {
            // SAFETY: as the caller promises.
            return note(unsafe { System.realloc(at, layout, size) }, size);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn block(n: usize) -> Vec<u8> {
        let layout = Layout::from_size_align(n, 1).unwrap();
        // SAFETY: the layout is not empty.
        let at = unsafe { LargePages.alloc(layout) };
        // SAFETY: all bytes are there, and written before they are read.
        unsafe { ptr::write_bytes(at, 7, n) };
        // SAFETY: as above.
        let bytes = unsafe { std::slice::from_raw_parts(at, n) }.to_vec();
        // SAFETY: it was allocated with this layout, and is not used any more.
        unsafe { LargePages.dealloc(at, layout) };
        bytes
    }

    #[test]
    fn what_is_used_again_is_zero_where_that_was_asked_for() {
        for n in [LARGE, PAGE, PAGE + 1, 9 * PAGE, WAITING, WAITING + 1] {
            for _ in 0..20 {
                assert!(block(n).iter().all(|byte| *byte == 7));
                let layout = Layout::from_size_align(n - 1, 8).unwrap();
                // SAFETY: the layout is not empty.
                let at = unsafe { LargePages.alloc_zeroed(layout) };
                // SAFETY: zeroed memory of that length.
                assert!(unsafe { std::slice::from_raw_parts(at, n - 1) }.iter().all(|byte| *byte == 0));
                // SAFETY: it was allocated with this layout, and is not used any more.
                unsafe { LargePages.dealloc(at, layout) };
            }
        }
    }

    #[test]
    fn only_so_much_waits() {
        let layout = Layout::from_size_align(PAGE, 1).unwrap();
        // SAFETY: the layout is not empty.
        let blocks: Vec<*mut u8> = (0..40).map(|_| unsafe { LargePages.alloc(layout) }).collect();
        let mut distinct = blocks.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 40);
        // SAFETY: they were allocated with this layout.
        blocks.into_iter().for_each(|at| unsafe { LargePages.dealloc(at, layout) });
        let waiting: usize = SPARE.lock().unwrap().iter().map(|(_, length)| *length).sum();
        assert!((PAGE..=WAITING).contains(&waiting), "{waiting}");
    }

    #[test]
    fn a_heap_that_was_set_aside_hands_out_memory_as_before() {
        reserve(u64::MAX, 1);
        assert!(!IS_OURS.load(Ordering::Relaxed), "settings that nobody made here");
        keep_memory();
        reserve(1 << 20, 1);
        assert!(IS_OURS.load(Ordering::Relaxed), "less than a page is nothing");
        // Several threads first: for one alone all have the same heap.
        reserve(64 << 20, 2);
        assert!(!IS_OURS.load(Ordering::Relaxed), "once");
        let in_thread = || {
            let blocks = [1, NOTED - 1, NOTED, 10 * NOTED, LARGE - 1].map(|n| (n, block(n)));
            blocks.iter().all(|(n, block)| block.len() == *n && block.iter().all(|byte| *byte == 7))
        };
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(in_thread)).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
        let n_heaps = HEAPS.iter().filter(|heap| heap.load(Ordering::Relaxed) != 0).count();
        assert_eq!(n_heaps > 0, cfg!(all(target_os = "linux", target_env = "gnu")), "heaps of threads");
        keep_memory();
        reserve(64 << 20, 1);
        let blocks: Vec<Vec<u8>> = (0..200).map(|i| vec![i as u8; 100_000 + i]).collect();
        assert!(blocks.iter().zip(0..200).all(|(block, i)| block.iter().all(|byte| *byte == i)));
    }
}
