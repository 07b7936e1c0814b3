//! Loops whose iterations own parts of an array.

use super::Loop;
use crate::loops::source::{
    ExactSource, IndexedSource, IntoParallelSource, OutOfBounds, ParallelSliceMut, ParallelSource,
    Whole,
};

/// Running it with parts of an array, each owned by one iteration.
impl<S: ParallelSource> Loop<'_, S> {
    /// Calls `body` with each index `i` and with `&mut array[i]`.
    ///
    /// ```
    /// let mut y = vec![0; 6];
    /// locsteal::range(1..6).step_by(2).for_each_mut(&mut y, |i, y_i| *y_i = 10 * i);
    /// assert_eq!(y, [0, 10, 0, 30, 0, 50]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the loop has an index that the array does not have; then no iteration is run.
    #[track_caller]
    pub fn for_each_mut<T: Send>(self, array: &mut [T], body: impl Fn(S::Item, &mut T) + Sync)
    where
        S: IndexedSource<Whole> + Sync,
    {
        let parts = array.into_parallel_source();
        self.with_parts(parts, body);
    }

    /// Calls `body` with each index `i` and with `&mut array[i * size..(i + 1) * size]`.
    ///
    /// Elements after the last whole part belong to no iteration.
    ///
    /// ```
    /// let (rows, columns) = (3, 4);
    /// let mut table = vec![0; rows * columns];
    /// locsteal::range(0..rows).for_each_chunk_mut(&mut table, columns, |i, row| {
    ///     for (j, cell) in row.iter_mut().enumerate() {
    ///         *cell = i * j;
    ///     }
    /// });
    /// assert_eq!(table[2 * columns + 3], 6);
    /// ```
    ///
    /// # Panics
    ///
    /// If `size` is 0, or if the loop has an index for which the array has no whole part; then no iteration is run.
    #[track_caller]
    pub fn for_each_chunk_mut<T: Send>(
        self,
        array: &mut [T],
        size: usize,
        body: impl Fn(S::Item, &mut [T]) + Sync,
    ) where
        S: IndexedSource<Whole> + Sync,
    {
        let parts = array.par_chunks_exact_mut(size);
        self.with_parts(parts, body);
    }

    #[inline]
    #[track_caller]
    fn with_parts<W: ExactSource>(self, parts: W, body: impl Fn(S::Item, W::Item) + Sync)
    where
        S: IndexedSource<Whole> + Sync,
    {
        let aligned = match self.source.checked_align(parts) {
            Ok(aligned) => aligned,
            Err(OutOfBounds { index, length }) => {
                panic!(
                    "{}: index {index} is out of bounds, the array has {length} parts",
                    self.label()
                )
            }
        };
        self.zip(aligned).for_each(move |(index, part)| body(index, part));
    }
}
