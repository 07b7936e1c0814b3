//! What can be owned in parts, and the cutting of it.

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use super::{Area, Grid, Numbered};

/// An array whose elements the iterations of a parallel loop can own.
///
/// In the body of a [`par_for`](macro@crate::par_for) loop that writes `y[i]`, with `i` the loop's index, iteration `i` owns the element
/// `i` of `y`. Implemented for slices, arrays, `Vec` and boxed slices, and so usable through references to them; for
/// another type, say which slice holds its elements. The body then knows the array by that slice: `y[i]` is its `i`-th element,
/// `y.len()` its length, whatever the type itself makes of these.
///
/// ```
/// struct Field {
///     values: Vec<f64>,
///     spacing: f64,
/// }
///
/// impl locsteal::ParallelArray for Field {
///     type Element = f64;
///
///     fn elements(&mut self) -> &mut [f64] {
///         &mut self.values
///     }
/// }
/// ```
pub trait ParallelArray {
    /// What an iteration can own one of.
    type Element;

    /// All elements: iteration `i` will own the one at position `i`.
    fn elements(&mut self) -> &mut [Self::Element];

    /// The index that the first element has in the array that this is a part of, and the length of that array.
    #[doc(hidden)]
    fn extent(&self) -> Option<(usize, usize)> {
        None
    }
}

impl<T> ParallelArray for [T] {
    type Element = T;

    #[inline]
    fn elements(&mut self) -> &mut [T] {
        self
    }
}

impl<T, const N: usize> ParallelArray for [T; N] {
    type Element = T;

    #[inline]
    fn elements(&mut self) -> &mut [T] {
        self
    }
}

impl<T> ParallelArray for Vec<T> {
    type Element = T;

    #[inline]
    fn elements(&mut self) -> &mut [T] {
        self
    }
}

/// The method that marked loops call on what they own, so that references are followed as in any method call.
pub trait OwnByIteration: ParallelArray {
    /// Borrows the array for a loop that calls it `name`.
    fn own_by_iteration(&mut self, name: &'static str) -> Own<'_, Self::Element>;
}

impl<A: ParallelArray + ?Sized> OwnByIteration for A {
    #[inline]
    fn own_by_iteration(&mut self, name: &'static str) -> Own<'_, A::Element> {
        let extent = self.extent();
        let elements = self.elements();
        let (first, whole) = extent.unwrap_or((0, elements.len()));
        Own {
            elements: elements.as_mut_ptr(),
            count: elements.len(),
            share: Single,
            first,
            whole,
            name,
            borrow: PhantomData,
        }
    }
}

/// How many elements an iteration owns: that of index `i` those from `i` times this.
pub trait Share: Copy {
    /// The number, which is not 0.
    fn size(self) -> usize;
}

/// One element.
// A type, so that nothing is multiplied by 1 where the compiler would not see that it is 1.
#[derive(Clone, Copy, Debug)]
pub struct Single;

impl Share for Single {
    #[inline]
    fn size(self) -> usize {
        1
    }
}

/// A chunk of elements.
#[derive(Clone, Copy, Debug)]
pub struct Several(usize);

impl Share for Several {
    #[inline]
    fn size(self) -> usize {
        self.0
    }
}

/// An array that is borrowed for a loop whose iterations own parts of it.
#[derive(Debug)]
pub struct Own<'a, T, Each = Single> {
    elements: *mut T,
    count: usize,
    /// What an iteration owns.
    share: Each,
    /// The index of the first element.
    first: usize,
    /// The length of the array as the user knows it.
    whole: usize,
    name: &'static str,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: sharing an `Own` with other threads lets them take exclusive parts of the slice (`part` needs no more than
// `&self`), which sends elements to them and nothing else.
unsafe impl<T: Send, Each: Sync> Sync for Own<'_, T, Each> {}

impl<'a, T> Own<'a, T> {
    /// Iteration `i` owns the `i`-th chunk of `size` elements instead of the `i`-th element.
    ///
    /// # Panics
    ///
    /// If `size` is zero.
    #[must_use]
    #[track_caller]
    #[inline]
    pub fn chunks(self, size: usize) -> Own<'a, T, Several> {
        if size == 0 {
            no_elements(self.name);
        }
        let Self { elements, count, first, whole, name, borrow, .. } = self;
        Own { elements, count, share: Several(size), first, whole, name, borrow }
    }

    /// In a nest of loops that run as one, the iteration with the indices `i`, `j`, .. owns the element
    /// `i * coefficients[0] + j * coefficients[1] + ..`.
    #[must_use]
    #[inline]
    pub fn grid<const N: usize>(self, coefficients: [usize; N]) -> Grid<'a, T, N> {
        Grid::new(self, coefficients)
    }

    /// The iteration at position `p` of the loop owns the `p`-th chunk of `size` elements.
    ///
    /// # Panics
    ///
    /// If `size` is zero.
    #[must_use]
    #[track_caller]
    #[inline]
    pub fn numbered(self, size: usize) -> Numbered<'a, T> {
        Numbered::new(self.chunks(size))
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_elements(name: &str) -> ! {
    panic!("`own({name}.chunks(0))`: an iteration must own at least one element");
}

impl<'a, T, Each: Share> Own<'a, T, Each> {
    #[inline]
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// What the iterations whose indices lie in `indices` own, as far as it exists, and where in the array that is.
    ///
    /// # Safety
    ///
    /// No index is in `indices` of two calls during `'a`.
    #[inline]
    pub(super) unsafe fn part(&self, indices: RangeInclusive<i128>) -> (Area, &'a mut [T]) {
        let size = self.share.size() as i128;
        let first = self.first as i128;
        let end = first + self.count as i128;
        // Saturating: an index that large is past every array's end.
        let low = indices.start().saturating_mul(size).clamp(first, end);
        let high = indices.end().saturating_add(1).saturating_mul(size).clamp(low, end);
        let (start, len) = ((low - first) as usize, (high - low) as usize);
        // SAFETY: `start + len <= count` after clamping, so the part lies in the slice that `elements` and `count`
        // were made from, which is borrowed exclusively for `'a`. Different calls get different indices, hence parts
        // that do not overlap: clamping only shrinks them.
        let part = unsafe { std::slice::from_raw_parts_mut(self.elements.add(start), len) };
        (Area::new(self.name, self.share.size(), low as usize, self.whole), part)
    }
}
