//! Arrays whose pages nobody has touched yet: the peer's own loop touches them first, as its user's program would.
//!
//! From two mebibytes on an array starts on a huge-page edge and asks for huge pages, so that which physical pages a
//! process happened to get, and hence which cache sets they share, does not decide who wins.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

const HUGE_PAGE: usize = 2 << 20;

/// Types for which zeroed memory is a value and that need no drop.
///
/// # Safety
///
/// All-zero bytes are a valid value of the type, and its alignment is at most a page.
pub(crate) unsafe trait Plain: Copy + Send + Sync {}
// SAFETY: zero is a value of each of these, and they align to at most eight bytes.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}

/// An owned, zeroed array straight from the kernel.
pub(crate) struct Array<T: Plain> {
    start: NonNull<T>,
    len: usize,
    mapping: NonNull<libc::c_void>,
    mapped: usize,
}

// SAFETY: the array owns its mapping alone, and `T` is `Send`.
unsafe impl<T: Plain> Send for Array<T> {}
// SAFETY: shared access only reads, and `T` is `Sync`.
unsafe impl<T: Plain> Sync for Array<T> {}

impl<T: Plain> Array<T> {
    /// `len` zeros, none of whose pages has been touched.
    ///
    /// # Panics
    ///
    /// If the system has no memory to map.
    pub(crate) fn zeroed(len: usize) -> Self {
        let bytes = (len * size_of::<T>()).max(1);
        let huge = bytes >= HUGE_PAGE;
        let mapped = if huge { bytes + HUGE_PAGE } else { bytes };
        // SAFETY: a fresh private mapping at an address of the kernel's choice touches no existing object.
        let mapping = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        assert!(mapping != libc::MAP_FAILED, "no memory for an array of {bytes} bytes");
        let mapping = NonNull::new(mapping).expect("a mapping at a chosen address is not null");
        let start = if huge {
            let skip = mapping.as_ptr().align_offset(HUGE_PAGE);
            // SAFETY: the mapping is one huge page longer than the array, so the aligned start and the whole array
            // after it lie inside.
            let start = unsafe { mapping.byte_add(skip) };
            ask_for_huge_pages(start, bytes);
            start
        } else {
            mapping
        };
        Self { start: start.cast(), len, mapping, mapped }
    }
}

#[cfg(target_os = "linux")]
fn ask_for_huge_pages(start: NonNull<libc::c_void>, bytes: usize) {
    // SAFETY: advice about a range inside our own mapping; refusal is harmless and ignored.
    unsafe { libc::madvise(start.as_ptr(), bytes, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages(_start: NonNull<libc::c_void>, _bytes: usize) {}

impl<T: Plain> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the mapping holds `len` zeroed or since overwritten values at `start`, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> DerefMut for Array<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T: Plain> Drop for Array<T> {
    fn drop(&mut self) {
        // SAFETY: the range is exactly the one mapped in `zeroed`, and no reference outlives `self`.
        unsafe { libc::munmap(self.mapping.as_ptr(), self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_zeroed_writable_and_aligned() {
        for len in [0, 1, 1_000, 400_000] {
            let mut array = Array::<f64>::zeroed(len);
            assert_eq!(array.len(), len);
            assert!(array.iter().all(|x| x.to_bits() == 0));
            array.fill(1.5);
            assert!(array.iter().all(|x| x.to_bits() == 1.5f64.to_bits()));
            let page = if len * 8 >= HUGE_PAGE { HUGE_PAGE } else { 4096 };
            assert!((array.as_ptr() as usize).is_multiple_of(page));
        }
    }
}
