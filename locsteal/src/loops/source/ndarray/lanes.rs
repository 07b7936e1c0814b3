//! Rows, columns and other lanes of 2-dimensional arrays.

use ndarray::iter::{Lanes, LanesIter, LanesIterMut, LanesMut};
use ndarray::{ArrayView1, ArrayViewMut1, Ix1};

use super::strided::{self, LaneChunk, LaneMutChunk};
use crate::loops::source::{
    DetachedSource, IntoParallelSource, Length, ParallelSource, RepeatableSource,
};

/// Lanes that are only read, such as `a.rows()`.
#[derive(Debug)]
pub struct LanesSource<'a, A>(strided::Lanes<A, &'a A>);

impl<A> Clone for LanesSource<'_, A> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// Lanes that may be changed, such as `a.rows_mut()`.
#[derive(Debug)]
pub struct LanesMutSource<'a, A>(strided::Lanes<A, &'a mut A>);

// Both: SAFETY:
// 1. The number of lanes is a plain value that nothing changes.
// 2. A chunk goes over the positions `first..=last`, from both ends, and makes for each the lane that `ndarray` would.
// 3. Lanes of an array that is borrowed exclusively have no element in common, and by promise 6 none is handed out twice. The sources
//    are `Sync` only if `A` is `Sync`, and if it is `Send` respectively.
// 4. Items are views that borrow, and own no elements.

// SAFETY: above.
unsafe impl<'a, A> ParallelSource for LanesSource<'a, A> {
    type Item = ArrayView1<'a, A>;
    type Chunk = LaneChunk<'a, A>;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.0.count)
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> LaneChunk<'a, A> {
        // SAFETY: by promise 5 these are positions.
        unsafe { LaneChunk::new(&self.0, first as usize..last as usize + 1) }
    }
}

// SAFETY: above.
unsafe impl<'a, A> ParallelSource for LanesMutSource<'a, A> {
    type Item = ArrayViewMut1<'a, A>;
    type Chunk = LaneMutChunk<'a, A>;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.0.count)
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> LaneMutChunk<'a, A> {
        // SAFETY: by promise 5 these are positions, and by promise 6 none of them is in another chunk.
        unsafe { LaneMutChunk::new(&self.0, first as usize..last as usize + 1) }
    }
}

// SAFETY: a chunk borrows the array.
#[diagnostic::do_not_recommend]
unsafe impl<A> DetachedSource for LanesSource<'_, A> {}

// SAFETY: a chunk holds shared references to an array that no source changes.
#[diagnostic::do_not_recommend]
unsafe impl<A> RepeatableSource for LanesSource<'_, A> {}

// SAFETY: a chunk borrows the array.
#[diagnostic::do_not_recommend]
unsafe impl<A> DetachedSource for LanesMutSource<'_, A> {}

#[diagnostic::do_not_recommend]
impl<'a, A> IntoParallelSource for Lanes<'a, A, Ix1> {
    type Item = ArrayView1<'a, A>;
    type Source = LanesSource<'a, A>;

    #[inline]
    fn into_parallel_source(self) -> LanesSource<'a, A> {
        self.into_iter().into_parallel_source()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, A> IntoParallelSource for LanesIter<'a, A, Ix1> {
    type Item = ArrayView1<'a, A>;
    type Source = LanesSource<'a, A>;

    #[inline]
    fn into_parallel_source(self) -> LanesSource<'a, A> {
        LanesSource(strided::Lanes::shared(self))
    }
}

#[diagnostic::do_not_recommend]
impl<'a, A> IntoParallelSource for LanesMut<'a, A, Ix1> {
    type Item = ArrayViewMut1<'a, A>;
    type Source = LanesMutSource<'a, A>;

    #[inline]
    fn into_parallel_source(self) -> LanesMutSource<'a, A> {
        self.into_iter().into_parallel_source()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, A> IntoParallelSource for LanesIterMut<'a, A, Ix1> {
    type Item = ArrayViewMut1<'a, A>;
    type Source = LanesMutSource<'a, A>;

    #[inline]
    fn into_parallel_source(self) -> LanesMutSource<'a, A> {
        LanesMutSource(strided::Lanes::exclusive(self))
    }
}
