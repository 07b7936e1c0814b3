//! Arrays whose memory lies where loops will work on it.

use super::builder::range;
use crate::affinity::give_back;
use crate::pool::Pool;
use crate::sched::Schedule;

/// Begins to make a vector of `len` elements whose memory lies in the NUMA nodes of those who will work on it.
///
/// Memory comes from the node of the thread that touches it first. So each element is written by the seat whose block it
/// is in for every loop of `len` iterations on the same pool, under [`Schedule::Static`], and under [`Schedule::Steal`]
/// before anything is stolen. A loop over rows of such an array has the same blocks up to a row.
///
/// Each node gets whole pages, so it matters for arrays that are larger than the caches. It takes no more time than to fill the
/// array in any other way; on a machine of one node it is nothing but a parallel loop. Where a worker does not come in time,
/// another one, a near one if possible, fills its block. Nearness needs workers that stay in their nodes: see
/// [`Pool::locality`].
///
/// # Examples
///
/// ```
/// let n = 100_000;
/// let x = locsteal::first_touch(n).from_fn(|i| i as f64);
/// let mut y: Vec<f64> = locsteal::first_touch(n).zeroed();
///
/// let pairs = locsteal::source(&mut y).zip(&x).schedule(locsteal::Schedule::Static);
/// pairs.for_each(|(y, x)| *y += 2.0 * x);
/// assert_eq!(y[7], 14.0);
/// ```
pub fn first_touch<'a>(len: usize) -> FirstTouch<'a> {
    FirstTouch { len, threads: 0, pool: None }
}

/// A vector that is being made, begun by [`first_touch`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a vector is made by `zeroed`, `filled` or `from_fn`"]
pub struct FirstTouch<'a> {
    len: usize,
    threads: usize,
    pool: Option<&'a Pool>,
}

impl<'a> FirstTouch<'a> {
    /// The pool whose loops will work on it. By default [`Pool::global`].
    pub fn pool(self, pool: &'a Pool) -> Self {
        Self { pool: Some(pool), ..self }
    }

    /// How many threads those loops have at most; 0, the default, stands for the pool's width.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// The vector of default values: zeros, for numbers.
    ///
    /// ```
    /// let counts: Vec<u32> = locsteal::first_touch(1000).zeroed();
    /// assert_eq!(counts, vec![0; 1000]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`from_fn`](Self::from_fn).
    pub fn zeroed<T: Default + Send>(self) -> Vec<T> {
        self.from_fn(|_| T::default())
    }

    /// The vector of clones of a value.
    ///
    /// # Panics
    ///
    /// As [`from_fn`](Self::from_fn).
    pub fn filled<T: Clone + Send + Sync>(self, value: &T) -> Vec<T> {
        self.from_fn(|_| value.clone())
    }

    /// The vector of what `make` makes of each index.
    ///
    /// # Panics
    ///
    /// If the vector would be larger than `isize::MAX` bytes, or if `make` panics.
    pub fn from_fn<T: Send>(self, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let pool = self.pool.unwrap_or_else(|| Pool::global());
        let mut values = Vec::with_capacity(self.len);
        // With one node all memory is as near.
        if pool.shared().seats.topology().nodes().len() > 1 {
            give_back(values.spare_capacity_mut());
        }
        let elements = range(0..self.len).pool(pool).threads(self.threads);
        elements.schedule(Schedule::Static).collect_into(&mut values, make);
        values
    }
}
