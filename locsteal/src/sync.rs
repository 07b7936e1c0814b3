//! The atomics, locks and cells that protocols between threads are written with: those of `std`, or, when built with
//! `--cfg loom`, those of the model checker, which then runs this very code, or, for the simulator, those that count.

#[cfg(all(feature = "simulator", not(loom)))]
pub(crate) mod counted;

#[cfg(all(feature = "simulator", not(loom)))]
pub(crate) use self::counted::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Condvar, fence};
#[cfg(not(any(feature = "simulator", loom)))]
pub(crate) use std::sync::{
    Condvar,
    atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, fence},
};
#[cfg(not(loom))]
pub(crate) use std::{
    hint::spin_loop,
    sync::atomic::Ordering,
    sync::{Mutex, MutexGuard},
    thread::yield_now,
};

#[cfg(loom)]
pub(crate) use loom::{
    hint::spin_loop,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence},
    sync::{Condvar, Mutex, MutexGuard},
    thread::yield_now,
};

/// For numbers that order nothing, and that the model checker need not look at.
pub(crate) mod unordered {
    #[cfg(all(feature = "simulator", not(loom)))]
    pub(crate) use super::counted::AtomicU64;
    #[cfg(not(all(feature = "simulator", not(loom))))]
    pub(crate) use std::sync::atomic::AtomicU64;
}

/// A cell whose owner proves, at each access, that nobody writes at the same time.
#[derive(Debug)]
pub(crate) struct SharedCell<T>(
    #[cfg(not(loom))] std::cell::UnsafeCell<T>,
    #[cfg(loom)] loom::cell::UnsafeCell<T>,
);

impl<T> SharedCell<T> {
    pub(crate) fn new(value: T) -> Self {
        #[cfg(not(loom))]
        return Self(std::cell::UnsafeCell::new(value));
        #[cfg(loom)]
        return Self(loom::cell::UnsafeCell::new(value));
    }

    /// Calls `f` with a pointer to the value. Who writes through it must be alone with the cell meanwhile; the model
    /// checker takes every such access for a write.
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(not(loom))]
        return f(self.0.get());
        #[cfg(loom)]
        return self.0.with_mut(f);
    }
}

impl<T: Copy> SharedCell<T> {
    /// # Safety
    ///
    /// No thread writes the cell during the call, and every write that could be read happened before it.
    #[cfg_attr(feature = "simulator", track_caller)]
    pub(crate) unsafe fn read(&self) -> T {
        #[cfg(all(feature = "simulator", not(loom)))]
        counted::touch(self, false);
        // SAFETY: the caller vouches that there is no concurrent write.
        #[cfg(not(loom))]
        return unsafe { *self.0.get() };
        // SAFETY: as above; the model checker verifies it.
        #[cfg(loom)]
        return self.0.with(|value| unsafe { *value });
    }

    /// # Safety
    ///
    /// No other thread reads or writes the cell during the call.
    #[cfg_attr(feature = "simulator", track_caller)]
    pub(crate) unsafe fn write(&self, value: T) {
        #[cfg(all(feature = "simulator", not(loom)))]
        counted::touch(self, true);
        // SAFETY: the caller vouches that the cell is its alone for now.
        #[cfg(not(loom))]
        return unsafe { *self.0.get() = value };
        // SAFETY: as above; the model checker verifies it.
        #[cfg(loom)]
        return self.0.with_mut(|slot| unsafe { *slot = value });
    }
}

/// Stands for the memory of something that several threads use and one of them frees: the model checker is told of
/// every use and of the end, and finds a use that may come after it. In other builds it is nothing.
#[derive(Debug)]
pub(crate) struct Memory(#[cfg(loom)] loom::cell::UnsafeCell<()>);

impl Memory {
    pub(crate) fn new() -> Self {
        Self(
            #[cfg(loom)]
            loom::cell::UnsafeCell::new(()),
        )
    }

    /// The memory is used.
    #[inline]
    pub(crate) fn used(&self) {
        #[cfg(loom)]
        self.0.with(|_| ());
    }

    /// The memory is about to be freed.
    #[inline]
    pub(crate) fn ends(&self) {
        #[cfg(loom)]
        self.0.with_mut(|_| ());
    }
}

/// Bytes that move between cores together: a cache line, or the pair of lines that the processor fetches at once.
/// What [`CachePadded`](crossbeam_utils::CachePadded) keeps apart.
#[cfg(not(loom))]
pub(crate) const LINES: usize = align_of::<crossbeam_utils::CachePadded<u8>>();

/// The size of a field, given a way to it.
#[cfg(not(loom))]
pub(crate) const fn size_of_field<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Says that each of these fields has its [`LINES`] for itself: some threads write it while others use what stands
/// beside it. Does not compile where that is not so.
macro_rules! alone_on_its_lines {
    ($type:ty: $($field:ident),+ $(,)?) => {
        // The model checker's atomics are of other sizes.
        #[cfg(not(loom))]
        const _: () = {
            use $crate::sync::{LINES, size_of_field};
            $(
                assert!(
                    std::mem::offset_of!($type, $field).is_multiple_of(LINES)
                        && size_of_field(|it: &$type| &it.$field).is_multiple_of(LINES),
                    concat!(stringify!($field), " shares a cache line with another field")
                );
            )+
        };
    };
}

pub(crate) use alone_on_its_lines;

/// Whether the elements of a list of fields have their [`LINES`] for themselves, given a way to the list.
#[cfg(not(loom))]
pub(crate) const fn elements_fill_lines<S, T>(_: fn(&S) -> &[T]) -> bool {
    size_of::<T>().is_multiple_of(LINES) && align_of::<T>().is_multiple_of(LINES)
}

/// As [`alone_on_its_lines`], for each element of these lists.
macro_rules! each_alone_on_its_lines {
    ($type:ty: $($field:ident),+ $(,)?) => {
        #[cfg(not(loom))]
        const _: () = {
            $(
                assert!(
                    $crate::sync::elements_fill_lines(|it: &$type| &it.$field),
                    concat!("elements of ", stringify!($field), " share cache lines")
                );
            )+
        };
    };
}

pub(crate) use each_alone_on_its_lines;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Intel's and AMD's processors fetch pairs of lines, some of ARM's have lines of 128 bytes.
    #[test]
    fn pairs_of_lines_are_kept_apart_where_the_processor_fetches_them_together() {
        if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            assert_eq!(LINES, 128);
        }
        assert!(LINES >= 32 && LINES.is_power_of_two());
    }
}
