//! The elements of an array, in the order of their indices.

use std::iter::FusedIterator;
use std::slice;

use ndarray::{ArrayBase, ArrayRef, ArrayView, ArrayViewMut, Data, DataMut, Dimension};

use super::strided::{Elements, Steps};
use crate::loops::source::{
    DetachedSource, IntoParallelSource, Length, ParallelSource, RepeatableSource, SliceMutSource,
    SliceSource,
};

/// The elements of an array by reference: `&a`.
#[derive(Debug)]
pub struct ElementsSource<'a, A, D>(Shared<'a, A, D>);

/// The elements of an array by mutable reference: `&mut a`.
#[derive(Debug)]
pub struct ElementsMutSource<'a, A, D>(Exclusive<'a, A, D>);

/// Where the elements of an array stand in a row in the order of their indices, they are a slice.
#[derive(Debug)]
enum Shared<'a, A, D> {
    Slice(SliceSource<'a, A>),
    Strided(Elements<A, D, &'a A>),
}

impl<A, D: Clone> Clone for ElementsSource<'_, A, D> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Shared::Slice(slice) => Shared::Slice(*slice),
            Shared::Strided(elements) => Shared::Strided(elements.clone()),
        })
    }
}

#[derive(Debug)]
enum Exclusive<'a, A, D> {
    Slice(SliceMutSource<'a, A>),
    Strided(Elements<A, D, &'a mut A>),
}

/// Some elements of an array, by reference.
#[derive(Debug)]
pub struct ElementsChunk<'a, A, D>(Chunk<slice::Iter<'a, A>, A, D>);

/// Some elements of an array, by mutable reference.
#[derive(Debug)]
pub struct ElementsMutChunk<'a, A, D>(Chunk<slice::IterMut<'a, A>, A, D>);

#[derive(Debug)]
enum Chunk<I, A, D> {
    Slice(I),
    Strided(Steps<A, D>),
}

// Both: SAFETY:
// 1. The number of elements is a plain value that nothing changes.
// 2. A chunk goes over the elements `first..=last` in the order of their indices: where they are a slice, by that promise of its source.
// 3. By promise 6 no element of an array that is borrowed exclusively is in two chunks. The sources are `Sync` only if `A` is `Sync`,
//    and if it is `Send` respectively.
// 4. Items are references and own nothing.

// SAFETY: above.
unsafe impl<'a, A, D: Dimension> ParallelSource for ElementsSource<'a, A, D> {
    type Item = &'a A;
    type Chunk = ElementsChunk<'a, A, D>;

    #[inline]
    fn length(&self) -> Length {
        match &self.0 {
            Shared::Slice(slice) => slice.length(),
            Shared::Strided(elements) => Length::from(elements.count),
        }
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> ElementsChunk<'a, A, D> {
        ElementsChunk(match &self.0 {
            // SAFETY: as promised to this method.
            Shared::Slice(slice) => Chunk::Slice(unsafe { slice.chunk(first, last) }),
            Shared::Strided(elements) => {
                Chunk::Strided(elements.steps(first as usize, last as usize))
            }
        })
    }
}

// SAFETY: above.
unsafe impl<'a, A, D: Dimension> ParallelSource for ElementsMutSource<'a, A, D> {
    type Item = &'a mut A;
    type Chunk = ElementsMutChunk<'a, A, D>;

    #[inline]
    fn length(&self) -> Length {
        match &self.0 {
            Exclusive::Slice(slice) => slice.length(),
            Exclusive::Strided(elements) => Length::from(elements.count),
        }
    }

    #[inline]
    unsafe fn chunk(&self, first: u128, last: u128) -> ElementsMutChunk<'a, A, D> {
        ElementsMutChunk(match &self.0 {
            // SAFETY: as promised to this method.
            Exclusive::Slice(slice) => Chunk::Slice(unsafe { slice.chunk(first, last) }),
            Exclusive::Strided(elements) => {
                Chunk::Strided(elements.steps(first as usize, last as usize))
            }
        })
    }
}

// SAFETY: a chunk borrows the array.
#[diagnostic::do_not_recommend]
unsafe impl<A, D: Dimension> DetachedSource for ElementsSource<'_, A, D> {}

// SAFETY: a chunk holds shared references to an array that no source changes.
#[diagnostic::do_not_recommend]
unsafe impl<A, D: Dimension> RepeatableSource for ElementsSource<'_, A, D> {}

// SAFETY: a chunk borrows the array.
#[diagnostic::do_not_recommend]
unsafe impl<A, D: Dimension> DetachedSource for ElementsMutSource<'_, A, D> {}

macro_rules! chunk {
    ($($chunk:ident: $borrow:ty;)*) => {$(
        impl<'a, A, D: Dimension> Iterator for $chunk<'a, A, D> {
            type Item = $borrow;

            #[inline]
            fn next(&mut self) -> Option<$borrow> {
                match &mut self.0 {
                    Chunk::Slice(slice) => slice.next(),
                    Chunk::Strided(steps) => {
                        let at = steps.next()?;
                        // SAFETY: the place comes from steps of such elements, and by promise 6 of the source from no other steps
                        // if they are exclusive.
                        Some(unsafe { Elements::<A, D, $borrow>::element(at) })
                    }
                }
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                match &self.0 {
                    Chunk::Slice(slice) => slice.size_hint(),
                    Chunk::Strided(steps) => steps.size_hint(),
                }
            }
        }

        impl<A, D: Dimension> ExactSizeIterator for $chunk<'_, A, D> {}
        impl<A, D: Dimension> FusedIterator for $chunk<'_, A, D> {}
    )*};
}

chunk! {
    ElementsChunk: &'a A;
    ElementsMutChunk: &'a mut A;
}

#[diagnostic::do_not_recommend]
impl<'a, A, D: Dimension> IntoParallelSource for ArrayView<'a, A, D> {
    type Item = &'a A;
    type Source = ElementsSource<'a, A, D>;

    fn into_parallel_source(self) -> ElementsSource<'a, A, D> {
        ElementsSource(match self.to_slice() {
            Some(slice) => Shared::Slice(slice.into_parallel_source()),
            None => Shared::Strided(Elements::shared(&self)),
        })
    }
}

#[diagnostic::do_not_recommend]
impl<'a, A, D: Dimension> IntoParallelSource for ArrayViewMut<'a, A, D> {
    type Item = &'a mut A;
    type Source = ElementsMutSource<'a, A, D>;

    fn into_parallel_source(self) -> ElementsMutSource<'a, A, D> {
        ElementsMutSource(if self.is_standard_layout() {
            let slice = self.into_slice().unwrap_or_default();
            Exclusive::Slice(slice.into_parallel_source())
        } else {
            Exclusive::Strided(Elements::exclusive(self))
        })
    }
}

#[diagnostic::do_not_recommend]
impl<'a, S: Data, D: Dimension> IntoParallelSource for &'a ArrayBase<S, D> {
    type Item = &'a S::Elem;
    type Source = ElementsSource<'a, S::Elem, D>;

    fn into_parallel_source(self) -> Self::Source {
        self.view().into_parallel_source()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, S: DataMut, D: Dimension> IntoParallelSource for &'a mut ArrayBase<S, D> {
    type Item = &'a mut S::Elem;
    type Source = ElementsMutSource<'a, S::Elem, D>;

    fn into_parallel_source(self) -> Self::Source {
        self.view_mut().into_parallel_source()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, A, D: Dimension> IntoParallelSource for &'a ArrayRef<A, D> {
    type Item = &'a A;
    type Source = ElementsSource<'a, A, D>;

    fn into_parallel_source(self) -> Self::Source {
        self.view().into_parallel_source()
    }
}

#[diagnostic::do_not_recommend]
impl<'a, A, D: Dimension> IntoParallelSource for &'a mut ArrayRef<A, D> {
    type Item = &'a mut A;
    type Source = ElementsMutSource<'a, A, D>;

    fn into_parallel_source(self) -> Self::Source {
        self.view_mut().into_parallel_source()
    }
}
