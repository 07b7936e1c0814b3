//! The affinity guard by the real kernel, on a machine with one last-level cache.
//!
//! There the guard has nothing to choose and makes no call. So a second cache is made up whose CPUs are not there: the thread's
//! mask is told to hold them, too, which makes its own CPUs a part of it that a guard can confine it to. All else is real: the
//! guard's steps, and the calls that read and set the thread's mask.

use std::io;

use crate::affinity::guard_pin::Confines;
use crate::affinity::kernel::Kernel;
use crate::affinity::mask::{self, MaskCalls};
use crate::topology::{CpuSet, Topology};

pub use crate::affinity::Unpinned;

/// Two domains: the CPUs that the calling thread may use, and some that are not there.
#[derive(Debug)]
pub struct Stage {
    confines: Confines,
    /// One domain.
    alone: Confines,
    real: CpuSet,
    made_up: CpuSet,
}

/// The kernel, but that the thread's mask holds some CPUs more.
struct Wide<'a>(&'a Stage);

impl MaskCalls for Wide<'_> {
    fn get(&self, words: &mut [u64]) -> io::Result<usize> {
        let bytes = Kernel.get(words)?;
        let now = CpuSet::from_words(words.to_vec());
        // Confined to what is real, it holds no others.
        if now == self.0.real && !PINNED.get() {
            for (word, more) in words.iter_mut().zip(self.0.made_up.words()) {
                *word |= more;
            }
        }
        Ok(bytes.max(size_of_val(self.0.made_up.words())))
    }

    fn set(&self, words: &[u64]) -> io::Result<()> {
        PINNED.set(CpuSet::from_words(words.to_vec()).intersection(&self.0.made_up).is_empty());
        Kernel.set(words)
    }

    fn cpu(&self) -> Option<usize> {
        Kernel.cpu()
    }
}

thread_local! {
    /// Whether the thread has been confined to what is real.
    static PINNED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

impl Stage {
    /// `None` where the thread may use fewer than two CPUs, or its mask cannot be read: no guard acts then.
    pub fn new() -> Option<Self> {
        let real = mask::current().ok().filter(|cpus| cpus.len() >= 2)?;
        let next = real.iter().max()? + 1;
        let made_up: CpuSet = (next..next + 2).collect();
        let topology = Topology::builder().domain(&real).domain(&made_up).build().ok()?;
        let alone = Confines::new(Topology::builder().domain(&real).build().ok()?);
        Some(Self { confines: Confines::new(topology), alone, real, made_up })
    }

    /// Pins the calling thread to the CPUs that are there, until the result is dropped.
    ///
    /// # Errors
    ///
    /// Why it was not pinned.
    pub fn pin(&self) -> Result<impl Sized + '_, Unpinned> {
        self.confines.pin(0, Wide(self))
    }

    /// The same as on a machine of one cache.
    ///
    /// # Errors
    ///
    /// Always [`Unpinned::OneDomain`].
    pub fn pin_where_there_is_one(&self) -> Result<impl Sized + '_, Unpinned> {
        self.alone.pin(0, Kernel)
    }

    /// How many threads may be pinned at once.
    pub fn cap(&self) -> usize {
        self.real.len() - 1
    }

    /// Moves the calling thread to a CPU that it is not on.
    ///
    /// # Errors
    ///
    /// The kernel's.
    pub fn move_on(&self) -> io::Result<()> {
        let here = Kernel.cpu();
        let other = self.real.iter().find(|cpu| Some(*cpu) != here).into_iter().collect();
        mask::set(&other)
    }

    /// Gives the thread its mask back.
    ///
    /// # Errors
    ///
    /// The kernel's.
    pub fn restore(&self) -> io::Result<()> {
        mask::set(&self.real)
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, miri))))]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn the_guard_acts_by_the_real_kernel_and_gives_the_mask_back() {
        let Some(stage) = Stage::new() else {
            // A machine of one CPU: said by the command, too.
            assert!(mask::current().unwrap().len() < 2);
            return;
        };
        let before = mask::current().unwrap();
        for _ in 0..3 {
            let Ok(pin) = stage.pin() else { panic!("it acts") };
            assert_eq!(stage.pin().err(), Some(Unpinned::Nested));
            assert_eq!(mask::current().unwrap(), before);
            drop(pin);
        }
        // With as many threads pinned as may be, another one is refused.
        let (full, go_on) = (Barrier::new(stage.cap() + 1), Barrier::new(stage.cap() + 1));
        std::thread::scope(|scope| {
            for _ in 0..stage.cap() {
                scope.spawn(|| {
                    let pin = stage.pin();
                    full.wait();
                    go_on.wait();
                    assert!(pin.is_ok());
                });
            }
            full.wait();
            let refused = stage.pin().err();
            go_on.wait();
            assert_eq!(refused, Some(Unpinned::Full));
        });
        assert!(stage.pin_where_there_is_one().is_err());
        assert_eq!(mask::current().unwrap(), before);
    }
}
