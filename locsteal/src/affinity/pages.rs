//! Giving memory back to the system, so that it comes anew, from the node of whoever touches it first.
#![allow(unsafe_code, reason = "a system call")]

use std::mem::MaybeUninit;

/// Gives back the pages that lie within memory that holds nothing yet. Without effect where that is not possible.
///
/// An allocator hands out memory again that was freed, and its pages stay in the node where they were first touched.
pub(crate) fn give_back<T>(places: &mut [MaybeUninit<T>]) {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
    {
        // SAFETY: takes a number alone.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let Some(page) = usize::try_from(page).ok().filter(|page| page.is_power_of_two()) else {
            return;
        };
        let bytes = size_of_val(places);
        let start: *mut u8 = places.as_mut_ptr().cast();
        let before = start.align_offset(page);
        let whole = bytes.saturating_sub(before) & !(page - 1);
        if whole == 0 {
            return;
        }
        // SAFETY: the pages lie within the slice, which is exclusively borrowed, and whose elements may hold any bytes. The
        // call maps no page that was not mapped, and if it fails nothing has changed.
        unsafe { libc::madvise(start.add(before).cast(), whole, libc::MADV_DONTNEED) };
    }
    #[cfg(not(all(any(target_os = "linux", target_os = "android"), not(miri))))]
    let _ = places;
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn memory_around_whole_pages_stays_as_it_is() {
        for (first, last) in [(0, 0), (1, 100_000), (5000, 5001), (4096, 12_288), (7, 99_993)] {
            let mut bytes = vec![MaybeUninit::new(7_u8); 100_000];
            give_back(&mut bytes[first..last]);
            // SAFETY: every byte was written, and pages that were given back come anew as zeros.
            let bytes: Vec<u8> =
                bytes.into_iter().map(|byte| unsafe { byte.assume_init() }).collect();
            let stays = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 7);
            assert!(stays(&bytes[..first]) && stays(&bytes[last..]), "{first}..{last}");
        }
    }
}
