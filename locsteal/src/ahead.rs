//! Asking for memory before it is needed.
//!
//! A worker comes from the notice to the loop's frame, from there to the code, from there to what it works on: each a line that is in the
//! caller's cache, and each known only when the one before has come. Told of all of them at once it gets them in the time of
//! one.
#![allow(unsafe_code, reason = "an instruction of the processor")]

/// Where something is that a thread will need: where its lines begin, and how many bytes to fetch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    first: usize,
    bytes: usize,
}

/// What stands at the front is needed by everybody; of something large the rest may not be.
const MOST: usize = 256;

impl Ahead {
    #[inline]
    pub(crate) fn of<T: ?Sized>(it: &T) -> Self {
        let first = std::ptr::from_ref(it).cast::<()>().addr();
        Self { first, bytes: size_of_val(it).min(MOST) }
    }

    /// Has the lines brought to the calling thread's core, if the processor likes to. It is not waited for, reads nothing, and does no
    /// harm where the memory is gone.
    #[inline]
    pub(crate) fn fetch(self) {
        const LINE: usize = 64;
        let begin = self.first & !(LINE - 1);
        for line in (begin..self.first + self.bytes).step_by(LINE) {
            fetch_line(line);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline]
fn fetch_line(at: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

    let line = std::ptr::without_provenance::<i8>(at);
    // SAFETY: the instruction is part of every x86-64 processor. It is a hint: it does not access memory as the program sees it, and
    // any address will do.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line) };
}

/// There is no stable way to say it.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline]
fn fetch_line(_at: usize) {}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn anything_can_be_asked_for() {
        let large = [0_u8; 1000];
        for ahead in [
            Ahead::default(),
            Ahead::of(&()),
            Ahead::of(&large),
            Ahead::of(&large[7..9]),
            Ahead { first: 8, bytes: MOST },
        ] {
            ahead.fetch();
        }
        assert_eq!(Ahead::of(&large).bytes, MOST);
        assert_eq!(Ahead::of(&large[7..9]).bytes, 2);
    }
}
