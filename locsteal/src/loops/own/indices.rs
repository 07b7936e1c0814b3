//! From the positions of a loop to the indices that its iterations own.

use std::ops::Range;

use crate::loops::source::{
    BackwardSource, Enumerate, First, IndexedSource, Integer, ParallelSource, RangeInclusiveSource,
    RangeSource, Rev, Second, Skip, StepBy, SteppedSource, Take, Whole, Word, Zip,
};

/// How the index changes from one position to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stride {
    /// It grows by one.
    Up,
    /// It falls by one.
    Down,
    /// It always grows, or always falls.
    Steps,
}

impl Stride {
    const fn reversed(self) -> Self {
        match self {
            Self::Up => Self::Down,
            Self::Down => Self::Up,
            Self::Steps => Self::Steps,
        }
    }
}

/// A source whose iterations can own parts of arrays.
///
/// # Safety
///
/// [`index`](IndexedSource::index) gives the same answer for the same position, different positions have different
/// indices (or the answer is `i128::MAX`, which is past the end of every array), and from one position to the next they
/// change as [`STRIDE`](Self::STRIDE) says.
#[diagnostic::on_unimplemented(
    message = "an iteration of this loop has no index that says which element it owns",
    label = "not a range of integers",
    note = "iterations own `y[i]` where the loop runs over a range of integers, such as `for i in 0..n`, or over \
            `.enumerate()`, as in `for (i, x) in xs.iter().enumerate()`"
)]
pub unsafe trait Indices<Part>: IndexedSource<Part> {
    /// How the indices follow each other.
    const STRIDE: Stride;

    /// The index at a position as [`ItemIndex`] takes it from the item, by the same computation: so that the compiler sees that
    /// the two are the same.
    fn item_index(&self, position: u128) -> usize;

    /// The items at the positions `first..=last`, for a loop that takes as many elements of arrays.
    ///
    /// # Safety
    ///
    /// As of [`chunk`](ParallelSource::chunk).
    #[inline]
    unsafe fn row(&self, first: u128, last: u128) -> impl Iterator<Item = Self::Item> {
        // SAFETY: as the caller promises.
        unsafe { self.chunk(first, last) }
    }

    /// The lowest index at the positions `first..=last` as items have it. There are some.
    #[inline]
    fn low_item(&self, first: u128, last: u128) -> usize {
        match Self::STRIDE {
            Stride::Up => self.item_index(first),
            Stride::Down => self.item_index(last),
            Stride::Steps => self.index(first).min(self.index(last)) as usize,
        }
    }

    /// How many indices there are from the lowest to the highest at the positions `first..=last`.
    #[inline]
    fn span(&self, first: u128, last: u128) -> u64 {
        match Self::STRIDE {
            Stride::Up | Stride::Down => (last - first) as u64 + 1,
            Stride::Steps => {
                let span = self.index(first).abs_diff(self.index(last));
                u64::try_from(span).unwrap_or(u64::MAX).saturating_add(1)
            }
        }
    }
}

// SAFETY: the value at a position is the range's start plus the position; values above `i128::MAX` give `i128::MAX`.
#[diagnostic::do_not_recommend]
unsafe impl<T: Integer + ItemIndex<Whole>> Indices<Whole> for RangeSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    const STRIDE: Stride = Stride::Up;

    #[inline]
    unsafe fn row(&self, first: u128, last: u128) -> impl Iterator<Item = T> {
        // Counted as the elements are, so that the compiler sees that no index leaves them.
        let (start, count) = (self.value(first), (last - first) as u64 + 1);
        (0..count).map(move |k| start.forward(u128::from(k)))
    }

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.value(position).index()
    }
}

// SAFETY: as for `RangeSource`.
#[diagnostic::do_not_recommend]
unsafe impl<T: Integer + ItemIndex<Whole>> Indices<Whole> for RangeInclusiveSource<T> {
    const STRIDE: Stride = Stride::Up;

    #[inline]
    unsafe fn row(&self, first: u128, last: u128) -> impl Iterator<Item = T> {
        // Counted as the elements are, so that the compiler sees that no index leaves them.
        let (start, count) = (self.value(first), (last - first) as u64 + 1);
        (0..count).map(move |k| start.forward(u128::from(k)))
    }

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.value(position).index()
    }
}

// SAFETY: as for `RangeSource`, in reverse order.
#[diagnostic::do_not_recommend]
unsafe impl<T: Word + ItemIndex<Whole>> Indices<Whole> for BackwardSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    const STRIDE: Stride = Stride::Down;

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.value(position).index()
    }
}

// SAFETY: as for `RangeSource`, at a multiple of the position.
#[diagnostic::do_not_recommend]
unsafe impl<T: Word + ItemIndex<Whole>> Indices<Whole> for SteppedSource<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    const STRIDE: Stride = Stride::Steps;

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.value(position).index()
    }

    #[inline]
    fn low_item(&self, first: u128, _last: u128) -> usize {
        self.item_index(first)
    }

    #[inline]
    fn span(&self, first: u128, last: u128) -> u64 {
        SteppedSource::span(self, first, last)
    }
}

// SAFETY: the index is the position.
unsafe impl<S: ParallelSource> Indices<First<Whole>> for Enumerate<S> {
    const STRIDE: Stride = Stride::Up;

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        position as usize
    }
}

// SAFETY: the index is that of the source at the same position.
unsafe impl<P, S: Indices<P>> Indices<Second<P>> for Enumerate<S> {
    const STRIDE: Stride = S::STRIDE;

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.source().item_index(position)
    }
}

// SAFETY: the index is that of the source as far from the other end, so that the order is reversed.
unsafe impl<P, S: Indices<P, Chunk: DoubleEndedIterator>> Indices<P> for Rev<S> {
    const STRIDE: Stride = S::STRIDE.reversed();

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.source().item_index(self.mirrored(position))
    }
}

// SAFETY: the index is that of the source at a multiple of the position.
unsafe impl<P, S: Indices<P>> Indices<P> for StepBy<S> {
    const STRIDE: Stride = Stride::Steps;

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.index(position) as usize
    }
}

// SAFETY: the index is that of the source at a position that is larger by a fixed number.
unsafe impl<P, S: Indices<P>> Indices<P> for Skip<S> {
    const STRIDE: Stride = S::STRIDE;

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.source().item_index(self.shifted(position))
    }
}

// SAFETY: the index is that of the source at the same position.
unsafe impl<P, S: Indices<P>> Indices<P> for Take<S> {
    const STRIDE: Stride = S::STRIDE;

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.source().item_index(position)
    }
}

// SAFETY: the index is that of the first source at the same position.
unsafe impl<P, A: Indices<P>, B: ParallelSource> Indices<First<P>> for Zip<A, B> {
    const STRIDE: Stride = A::STRIDE;

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.sources().0.item_index(position)
    }
}

// SAFETY: the index is that of the second source at the same position.
unsafe impl<P, A: ParallelSource, B: Indices<P>> Indices<Second<P>> for Zip<A, B> {
    const STRIDE: Stride = B::STRIDE;

    #[inline]
    fn item_index(&self, position: u128) -> usize {
        self.sources().1.item_index(position)
    }
}

/// An item that holds an index at `Part`.
pub trait ItemIndex<Part> {
    /// Whether every such item is an index.
    const EXACT: bool = false;

    /// The index; one that is no `usize` becomes one that no array has.
    fn index(&self) -> usize;
}

macro_rules! integer_items {
    ($($t:ty),*) => {$(
        impl ItemIndex<Whole> for $t {
            const EXACT: bool = <$t>::MIN == 0 && size_of::<$t>() <= size_of::<usize>();

            #[inline]
            fn index(&self) -> usize {
                // Where the type is no wider than `usize`, the cast is the one that the loop's body writes, so that the compiler
                // sees one value; a negative number becomes one that is past every array's end.
                if size_of::<$t>() <= size_of::<usize>() {
                    *self as usize
                } else {
                    usize::try_from(*self).unwrap_or(usize::MAX)
                }
            }
        }
    )*};
}

integer_items!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, usize, isize);

impl<P, A: ItemIndex<P>, B> ItemIndex<First<P>> for (A, B) {
    #[inline]
    fn index(&self) -> usize {
        self.0.index()
    }
}

impl<P, A, B: ItemIndex<P>> ItemIndex<Second<P>> for (A, B) {
    #[inline]
    fn index(&self) -> usize {
        self.1.index()
    }
}
