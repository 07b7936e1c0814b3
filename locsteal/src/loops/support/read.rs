//! Arrays that a loop only reads.
//!
//! Where each iteration is certain to read `x[i + c]`, with `i` the loop's index and `c` fixed, a chunk reads a slice as
//! long as the chunk, so that the compiler needs no check per element. Which `x` are slices is known to the type checker
//! alone: for them [`ReadSlice`] is found, by the ordinary search for a method; for everything else, one step of
//! auto-reference later, [`ReadAny`], which changes nothing.

use std::marker::PhantomData;
use std::ops::Index;

use super::Frame;
use crate::loops::own::Indices;
use crate::loops::source::ParallelSource;

/// How far from the loop's index an array is read.
pub trait Distance: Copy {
    /// The difference of the indices.
    fn distance(self) -> isize;

    /// Read ahead by this much.
    #[inline]
    #[must_use]
    fn plus(&self) -> Self {
        *self
    }

    /// Read behind by this much.
    #[inline]
    fn minus(&self) -> Behind<Self> {
        Behind(*self)
    }
}

/// The opposite of a distance.
#[derive(Clone, Copy, Debug)]
pub struct Behind<D>(D);

impl<D: Distance> Distance for Behind<D> {
    #[inline]
    fn distance(self) -> isize {
        self.0.distance().wrapping_neg()
    }
}

impl<D: Distance> Distance for &D {
    #[inline]
    fn distance(self) -> isize {
        (*self).distance()
    }
}

macro_rules! distances {
    ($($t:ty),*) => {$(
        impl Distance for $t {
            #[inline]
            fn distance(self) -> isize {
                self as isize
            }
        }
    )*};
}

distances!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, usize, isize);

/// Something that is indexed in a loop over `S`.
pub struct Reading<'r, X: ?Sized, S, Part> {
    array: &'r X,
    place: PhantomData<(S, Part)>,
}

impl<'r, X: ?Sized, S, Part> Reading<'r, X, S, Part> {
    #[inline]
    pub(super) fn new(array: &'r X) -> Self {
        Self { array, place: PhantomData }
    }
}

/// A type that is indexed by positions because it is a slice or stands for one. It is borrowed for `'r`.
pub trait SliceLike<'r> {
    /// What it is as a slice: behind references, as long as they live.
    type Array;

    /// The elements.
    fn slice(&'r self) -> Self::Array;
}

impl<'r, T: 'r> SliceLike<'r> for [T] {
    type Array = Slice<'r, T>;

    #[inline]
    fn slice(&'r self) -> Slice<'r, T> {
        Slice(self)
    }
}

impl<'r, T: 'r, const N: usize> SliceLike<'r> for [T; N] {
    type Array = Slice<'r, T>;

    #[inline]
    fn slice(&'r self) -> Slice<'r, T> {
        Slice(self)
    }
}

impl<'r, T: 'r> SliceLike<'r> for Vec<T> {
    type Array = Slice<'r, T>;

    #[inline]
    fn slice(&'r self) -> Slice<'r, T> {
        Slice(self)
    }
}

impl<'r, 'a, A: SliceLike<'a> + ?Sized> SliceLike<'r> for &'a A {
    type Array = A::Array;

    #[inline]
    fn slice(&'r self) -> A::Array {
        (**self).slice()
    }
}

macro_rules! slice_behind_pointer {
    ($($pointer:ty),*) => {$(
        impl<'r, A: SliceLike<'r> + ?Sized> SliceLike<'r> for $pointer {
            type Array = A::Array;

            #[inline]
            fn slice(&'r self) -> A::Array {
                (**self).slice()
            }
        }
    )*};
}

slice_behind_pointer!(&mut A, Box<A>, std::sync::Arc<A>, std::rc::Rc<A>);

/// Reading from a slice.
pub trait ReadSlice {
    /// What is read.
    type Array;

    /// The slice.
    fn array(&self) -> Self::Array;
}

impl<'r, X: SliceLike<'r> + ?Sized, S: Indices<Part>, Part> ReadSlice for Reading<'r, X, S, Part> {
    type Array = X::Array;

    #[inline]
    fn array(&self) -> Self::Array {
        self.array.slice()
    }
}

/// Reading from anything else.
pub trait ReadAny {
    /// What is read.
    type Array;

    /// A reference to it.
    fn array(&self) -> Self::Array;
}

impl<'r, X: ?Sized, S, Part> ReadAny for &Reading<'r, X, S, Part> {
    type Array = Other<'r, X>;

    #[inline]
    fn array(&self) -> Self::Array {
        Other(self.array)
    }
}

/// A slice that is read.
pub struct Slice<'r, T>(&'r [T]);

impl<'r, T> Slice<'r, T> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The `count` elements from index `low` plus `offset` on, to be read fast, if they are there.
    #[inline]
    pub(super) fn view_from(&self, low: usize, offset: isize, count: usize) -> Option<View<'r, T>> {
        let near = self.0.get(low.wrapping_add_signed(offset)..)?.get(..count)?;
        Some(View { near, low, offset: offset as usize, all: self.0 })
    }

    /// Each iteration is certain to read the element whose index is the loop's plus `offset`.
    #[inline]
    pub fn need<S: Indices<Part>, Part>(
        &self,
        frame: &mut Frame<'_, S, Part>,
        name: &'static str,
        offset: impl Distance,
        at: &'static str,
    ) {
        frame.reach(name, offset.distance(), self.0.len(), at);
    }

    /// What the chunk reads: after [`need`](Self::need) with the same offset.
    ///
    /// # Panics
    ///
    /// If the slice does not have it all.
    #[inline]
    pub fn view<S: Indices<Part>, Part>(
        &self,
        frame: &Frame<'_, S, Part>,
        offset: impl Distance,
    ) -> View<'r, T> {
        let view = self.view_from(frame.low_item(), offset.distance(), frame.span() as usize);
        view.expect("`need` has seen to it that the elements are there")
    }
}

/// Something that is read and is not a slice.
pub struct Other<'r, X: ?Sized>(&'r X);

impl<'r, X: ?Sized> Other<'r, X> {
    #[inline]
    pub(super) fn new(array: &'r X) -> Self {
        Self(array)
    }

    #[inline]
    pub(super) fn array(&self) -> &'r X {
        self.0
    }

    /// Does nothing.
    #[allow(clippy::unused_self, reason = "as for a slice")]
    #[inline]
    pub fn need<S: ParallelSource, Part>(
        &self,
        _frame: &mut Frame<'_, S, Part>,
        _name: &'static str,
        _offset: impl Distance,
        _at: &'static str,
    ) {
    }

    /// The thing itself.
    #[inline]
    pub fn view<S: ParallelSource, Part>(
        &self,
        _frame: &Frame<'_, S, Part>,
        _offset: impl Distance,
    ) -> &'r X {
        self.0
    }
}

/// A slice, and the part of it that a chunk reads.
pub struct View<'r, T> {
    near: &'r [T],
    /// The lowest index of the loop, and what is added to it. They are apart, as in the index that the body computes: where their sum
    /// stood here, the compiler would see that `x[i + 1]` is the next iteration's `x[i]` and carry it over, which takes more
    /// instructions in a vectorised loop than to read it again.
    low: usize,
    offset: usize,
    all: &'r [T],
}

impl<'r, T> View<'r, T> {
    /// An element, for as long as the array is borrowed.
    #[inline]
    #[track_caller]
    pub fn element_of_array(&self, index: usize) -> &'r T {
        match self.near.get(index.wrapping_sub(self.offset).wrapping_sub(self.low)) {
            Some(element) => element,
            None => &self.all[index],
        }
    }
}

impl<T> Index<usize> for View<'_, T> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn index(&self, index: usize) -> &T {
        self.element_of_array(index)
    }
}

/// An element of what is no slice, where the view is the thing itself: as that of a `View`.
pub trait ElementOfArray<'r, I> {
    /// What is at an index.
    type Element: ?Sized;

    /// The element.
    fn element_of_array(self, index: I) -> &'r Self::Element;
}

impl<'r, I, X: Index<I> + ?Sized> ElementOfArray<'r, I> for &'r X {
    type Element = X::Output;

    #[inline]
    #[track_caller]
    fn element_of_array(self, index: I) -> &'r X::Output {
        &self[index]
    }
}
