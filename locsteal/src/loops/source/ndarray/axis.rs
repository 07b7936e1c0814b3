//! Views along an axis, one by one or several at once.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use ndarray::Dimension;
use ndarray::iter::{AxisChunksIter, AxisChunksIterMut, AxisIter, AxisIterMut};

use crate::loops::source::{
    DetachedSource, IntoParallelSource, Length, ParallelSource, RepeatableSource,
};

mod sealed {
    pub trait Sealed {}
}

/// An iterator of `ndarray` that can be split at an item.
pub trait SplitAxis: DoubleEndedIterator + ExactSizeIterator + sealed::Sealed {
    #[doc(hidden)]
    fn split(self, index: usize) -> (Self, Self)
    where
        Self: Sized;
}

/// Views along an axis that are only read.
#[derive(Clone, Debug)]
pub struct AxisSource<I> {
    views: I,
}

/// Views along an axis whose elements may be changed.
///
/// A chunk is split off the iterator that the source was made of, under a lock that is held for as long as that takes.
pub struct AxisMutSource<I> {
    len: usize,
    /// What is left, by the position of the first item.
    pieces: Mutex<BTreeMap<usize, I>>,
}

impl<I: SplitAxis> AxisMutSource<I> {
    fn new(views: I) -> Self {
        Self { len: views.len(), pieces: Mutex::new(BTreeMap::from([(0, views)])) }
    }
}

impl<I> fmt::Debug for AxisMutSource<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AxisMutSource").field("len", &self.len).finish_non_exhaustive()
    }
}

// SAFETY:
// 1. The iterator is a plain value that nothing changes, and tells its length exactly.
// 2. A clone that has been split before `first` and behind `last` yields the views between, from both ends.
// 3. A chunk is a clone. The iterators that implement `Clone` here hold a shared borrow of the array, and are `Sync` only if its
//    elements are.
// 4. Items are views that borrow, and own no elements.
unsafe impl<I: SplitAxis + Clone> ParallelSource for AxisSource<I> {
    type Item = I::Item;
    type Chunk = I;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.views.len())
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> I {
        let (_, rest) = self.views.clone().split(first as usize);
        rest.split((last - first) as usize + 1).0
    }
}

// SAFETY: a chunk is a clone of the iterator, which borrows the array.
#[diagnostic::do_not_recommend]
unsafe impl<I: SplitAxis + Clone> DetachedSource for AxisSource<I> {}

// SAFETY: a chunk is a clone of an iterator that nothing else refers to.
#[diagnostic::do_not_recommend]
unsafe impl<I: SplitAxis + Clone> RepeatableSource for AxisSource<I> {}

// SAFETY:
// 1. The length is a plain value that nothing changes.
// 2. The piece that holds the positions `first..=last` is split before `first` and behind `last`. By promise 6 there is one that holds
//    them all: pieces only lose what went to other chunks. Were that not so, `chunk` would panic.
// 3. A chunk is a part of the iterator that nobody else has. The source is `Sync` only if the iterator is `Send`, which it is only
//    if the elements are.
// 4. Items are views that borrow, and own no elements.
unsafe impl<I: SplitAxis> ParallelSource for AxisMutSource<I> {
    type Item = I::Item;
    type Chunk = I;

    #[inline]
    fn length(&self) -> Length {
        Length::from(self.len)
    }

    unsafe fn chunk(&self, first: u128, last: u128) -> I {
        let (first, last) = (first as usize, last as usize);
        let mut pieces = self.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        let start = pieces.range(..=first).next_back().map(|(start, _)| *start);
        let (start, piece) = start
            .and_then(|start| pieces.remove_entry(&start))
            .expect("no position is asked for twice");
        let (before, rest) = piece.split(first - start);
        let (chunk, after) = rest.split(last - first + 1);
        if before.len() > 0 {
            pieces.insert(start, before);
        }
        if after.len() > 0 {
            pieces.insert(last + 1, after);
        }
        chunk
    }
}

// SAFETY: a chunk is a part of the iterator, which borrows the array.
#[diagnostic::do_not_recommend]
unsafe impl<I: SplitAxis> DetachedSource for AxisMutSource<I> {}

macro_rules! axis {
    ($($iterator:ident => $source:ident, $make:expr;)*) => {$(
        impl<A, D: Dimension> sealed::Sealed for $iterator<'_, A, D> {}

        impl<A, D: Dimension> SplitAxis for $iterator<'_, A, D> {
            #[inline]
            fn split(self, index: usize) -> (Self, Self) {
                self.split_at(index)
            }
        }

        #[diagnostic::do_not_recommend]
        impl<'a, A, D: Dimension> IntoParallelSource for $iterator<'a, A, D> {
            type Item = <Self as Iterator>::Item;
            type Source = $source<Self>;

            #[inline]
            fn into_parallel_source(self) -> $source<Self> {
                $make(self)
            }
        }
    )*};
}

axis! {
    AxisIter => AxisSource, |views| AxisSource { views };
    AxisChunksIter => AxisSource, |views| AxisSource { views };
    AxisIterMut => AxisMutSource, AxisMutSource::new;
    AxisChunksIterMut => AxisMutSource, AxisMutSource::new;
}
