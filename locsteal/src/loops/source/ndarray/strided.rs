//! Where the elements of an array stand, and the handing out of them: the only place here that makes references of pointers.
//!
//! The pointers are those of `ndarray`'s own views, moved by the array's strides; they come from the array's one allocation, and
//! moving them is done with arithmetic that wraps, so that nothing hangs on it before a reference is made.

use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::ops::Range;

use ndarray::{ArrayView1, ArrayViewMut1, Axis, Dimension, ShapeBuilder};

/// Lanes of one length, one as far from the next as the next from the one behind it.
///
/// `M` is what the lanes borrow: `&'a A`, or `&'a mut A`.
#[derive(Debug)]
pub(super) struct Lanes<A, M> {
    /// The first element of the first lane.
    start: *mut A,
    /// How many lanes there are.
    pub(super) count: usize,
    /// How far it is from a lane to the next one.
    step: isize,
    /// How many elements a lane has, and how far it is from one to the next.
    len: usize,
    stride: isize,
    borrow: PhantomData<M>,
}

impl<A, M> Clone for Lanes<A, M> {
    fn clone(&self) -> Self {
        Self { borrow: PhantomData, ..*self }
    }
}

/// How far it is from one element to another, in elements.
fn distance<A>(from: *const A, to: *const A) -> isize {
    // Elements without a size all stand at the same place.
    (to.addr() as isize)
        .wrapping_sub(from.addr() as isize)
        .checked_div(size_of::<A>() as isize)
        .unwrap_or(0)
}

impl<A, M> Lanes<A, M> {
    const EMPTY: Self = Self {
        start: std::ptr::null_mut(),
        count: 0,
        step: 0,
        len: 0,
        stride: 0,
        borrow: PhantomData,
    };

    /// The lane at `position`: its element with the lowest address, the distance of its elements, and whether the lane goes from the
    /// last of them to the first.
    #[inline]
    fn lane(&self, position: usize) -> (*mut A, usize, bool) {
        let start = self.start.wrapping_offset(self.step.wrapping_mul(position as isize));
        let backward = self.stride < 0 && self.len > 0;
        let lowest = if backward {
            start.wrapping_offset(self.stride.wrapping_mul(self.len as isize - 1))
        } else {
            start
        };
        (lowest, self.stride.unsigned_abs(), backward)
    }
}

impl<'a, A> Lanes<A, &'a A> {
    /// The lanes that are left in an iterator of `ndarray`.
    pub(super) fn shared(mut lanes: ndarray::iter::LanesIter<'a, A, ndarray::Ix1>) -> Self {
        let count = lanes.len();
        let Some(first) = lanes.next() else { return Self::EMPTY };
        let start = first.as_ptr();
        let step = lanes.next().map_or(0, |second| distance(start, second.as_ptr()));
        let (len, stride) = (first.len(), first.strides()[0]);
        Self { start: start.cast_mut(), count, step, len, stride, borrow: PhantomData }
    }

    /// The lane at this position.
    ///
    /// # Safety
    ///
    /// `position` is less than `count`.
    #[inline]
    unsafe fn view(&self, position: usize) -> ArrayView1<'a, A> {
        let (lowest, stride, backward) = self.lane(position);
        // SAFETY: these are the elements of the lane that the iterator would have handed out at this position, borrowed for `'a`; since
        // the lanes of an array are evenly spaced, they stand where `lane` says. Of a stride below zero they are named from the
        // other end, so that the stride given is not.
        let mut view = unsafe { ArrayView1::from_shape_ptr([self.len].strides([stride]), lowest) };
        if backward {
            view.invert_axis(Axis(0));
        }
        view
    }
}

impl<'a, A> Lanes<A, &'a mut A> {
    /// The lanes that are left in an iterator of `ndarray`.
    pub(super) fn exclusive(mut lanes: ndarray::iter::LanesIterMut<'a, A, ndarray::Ix1>) -> Self {
        let count = lanes.len();
        let Some(mut first) = lanes.next() else { return Self::EMPTY };
        let start = first.as_mut_ptr();
        let step = lanes.next().map_or(0, |second| distance(start, second.as_ptr()));
        let (len, stride) = (first.len(), first.strides()[0]);
        Self { start, count, step, len, stride, borrow: PhantomData }
    }

    /// The lane at this position.
    ///
    /// # Safety
    ///
    /// `position` is less than `count`, and asked for once over the whole life of the lanes and their clones.
    #[inline]
    unsafe fn view(&self, position: usize) -> ArrayViewMut1<'a, A> {
        let (lowest, stride, backward) = self.lane(position);
        // SAFETY: as for shared lanes. Different lanes of an array that is borrowed exclusively have no element in common, and the
        // iterator, which was used up, hands out none of them; so this is the one reference to these.
        let mut view =
            unsafe { ArrayViewMut1::from_shape_ptr([self.len].strides([stride]), lowest) };
        if backward {
            view.invert_axis(Axis(0));
        }
        view
    }
}

// SAFETY: it stands for a shared borrow of the array's elements.
unsafe impl<A: Sync> Send for Lanes<A, &A> {}
// SAFETY: it stands for a shared borrow of the array's elements.
unsafe impl<A: Sync> Sync for Lanes<A, &A> {}
// SAFETY: it stands for an exclusive borrow of the array's elements.
unsafe impl<A: Send> Send for Lanes<A, &mut A> {}
// SAFETY: through a shared one a thread can get lanes, each of them once, which moves `&mut A` between threads; that is sound for
// `A: Send`. No `&A` is shared.
unsafe impl<A: Send> Sync for Lanes<A, &mut A> {}

macro_rules! lane_chunk {
    ($(#[$doc:meta] $chunk:ident: $borrow:ty => $view:ty;)*) => {$(
        #[$doc]
        #[derive(Debug)]
        pub struct $chunk<'a, A> {
            lanes: Lanes<A, $borrow>,
            left: Range<usize>,
        }

        impl<'a, A> $chunk<'a, A> {
            /// The lanes at these positions.
            ///
            /// # Safety
            ///
            /// The lanes have these positions, and no position is in two chunks if they are exclusive.
            #[inline]
            pub(super) unsafe fn new(lanes: &Lanes<A, $borrow>, left: Range<usize>) -> Self {
                Self { lanes: lanes.clone(), left }
            }
        }

        impl<'a, A> Iterator for $chunk<'a, A> {
            type Item = $view;

            #[inline]
            fn next(&mut self) -> Option<$view> {
                let position = self.left.next()?;
                // SAFETY: the position was promised to `new`, and is not left any more.
                Some(unsafe { self.lanes.view(position) })
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.left.size_hint()
            }
        }

        impl<A> DoubleEndedIterator for $chunk<'_, A> {
            #[inline]
            fn next_back(&mut self) -> Option<Self::Item> {
                let position = self.left.next_back()?;
                // SAFETY: as in `next`.
                Some(unsafe { self.lanes.view(position) })
            }
        }

        impl<A> ExactSizeIterator for $chunk<'_, A> {}
        impl<A> FusedIterator for $chunk<'_, A> {}
    )*};
}

lane_chunk! {
    /// Lanes at some positions, to be read.
    LaneChunk: &'a A => ArrayView1<'a, A>;
    /// Lanes at some positions, to be changed.
    LaneMutChunk: &'a mut A => ArrayViewMut1<'a, A>;
}

/// The elements of an array in the order of their indices, wherever they stand.
#[derive(Debug)]
pub(super) struct Elements<A, D, M> {
    /// The element whose indices are all 0.
    start: *mut A,
    shape: D,
    /// As they are, although `D` holds numbers without a sign.
    strides: D,
    pub(super) count: usize,
    borrow: PhantomData<M>,
}

impl<A, D: Dimension, M> Elements<A, D, M> {
    fn new(start: *mut A, shape: D, strides: &[isize]) -> Self {
        let mut kept = D::zeros(shape.ndim());
        for (kept, stride) in kept.slice_mut().iter_mut().zip(strides) {
            *kept = *stride as usize;
        }
        Self { start, count: shape.size(), shape, strides: kept, borrow: PhantomData }
    }

    /// The elements `first..=last`, counted in the order of their indices. There are such.
    #[inline]
    pub(super) fn steps(&self, first: usize, last: usize) -> Steps<A, D> {
        let mut index = D::zeros(self.shape.ndim());
        let mut rest = first;
        for (index, length) in index.slice_mut().iter_mut().zip(self.shape.slice()).rev() {
            *index = rest % length;
            rest /= length;
        }
        let mut steps = Steps {
            start: self.start,
            shape: self.shape.clone(),
            strides: self.strides.clone(),
            index,
            next: self.start,
            stride: 0,
            near: 0,
            left: last - first + 1,
        };
        steps.find();
        steps
    }
}

impl<'a, A, D: Dimension> Elements<A, D, &'a A> {
    /// Those of a view.
    pub(super) fn shared(view: &ndarray::ArrayView<'a, A, D>) -> Self {
        Self::new(view.as_ptr().cast_mut(), view.raw_dim(), view.strides())
    }

    /// An element of `steps`.
    ///
    /// # Safety
    ///
    /// The pointer comes from `steps` of such elements.
    #[inline]
    pub(super) unsafe fn element(at: *mut A) -> &'a A {
        // SAFETY: `Steps` goes over indices that lie within the shape of a view that borrows for `'a`.
        unsafe { &*at }
    }
}

impl<'a, A, D: Dimension> Elements<A, D, &'a mut A> {
    /// Those of a view.
    pub(super) fn exclusive(mut view: ndarray::ArrayViewMut<'a, A, D>) -> Self {
        let start = view.as_mut_ptr();
        Self::new(start, view.raw_dim(), view.strides())
    }

    /// An element of `steps`.
    ///
    /// # Safety
    ///
    /// The pointer comes from `steps` of such elements, and no other `steps` of them had the same position.
    #[inline]
    pub(super) unsafe fn element(at: *mut A) -> &'a mut A {
        // SAFETY: `Steps` goes over indices that lie within the shape of a view that borrows exclusively for `'a` and was used up; where
        // indices differ, so do the elements of such a view, and no index comes twice.
        unsafe { &mut *at }
    }
}

// SAFETY: it stands for a shared borrow of the array's elements.
unsafe impl<A: Sync, D: Send> Send for Elements<A, D, &A> {}
// SAFETY: it stands for a shared borrow of the array's elements.
unsafe impl<A: Sync, D: Sync> Sync for Elements<A, D, &A> {}
// SAFETY: it stands for an exclusive borrow of the array's elements.
unsafe impl<A: Send, D: Send> Send for Elements<A, D, &mut A> {}
// SAFETY: through a shared one a thread can get elements, each of them once, which moves `&mut A` between threads; that is sound
// for `A: Send`. No `&A` is shared.
unsafe impl<A: Send, D: Sync> Sync for Elements<A, D, &mut A> {}

impl<A, D: Clone, M> Clone for Elements<A, D, M> {
    fn clone(&self) -> Self {
        let Self { start, count, borrow, .. } = *self;
        Self { start, shape: self.shape.clone(), strides: self.strides.clone(), count, borrow }
    }
}

/// The places of elements in the order of their indices.
#[derive(Debug)]
pub struct Steps<A, D> {
    start: *mut A,
    shape: D,
    strides: D,
    /// The index of the next element; along the last axis that of the element where this part of it was begun.
    index: D,
    next: *mut A,
    /// How far it is to the element behind it along the last axis.
    stride: isize,
    /// How many elements there are to go along the last axis.
    near: usize,
    left: usize,
}

impl<A, D: Dimension> Steps<A, D> {
    /// Goes to the element at the index.
    #[inline]
    fn find(&mut self) {
        let (index, strides) = (self.index.slice(), self.strides.slice());
        let offset = index.iter().zip(strides).fold(0_isize, |offset, (index, stride)| {
            offset.wrapping_add((*index as isize).wrapping_mul(*stride as isize))
        });
        self.next = self.start.wrapping_offset(offset);
        let axis = index.len().wrapping_sub(1);
        // An array without axes has one element.
        self.stride = strides.get(axis).map_or(0, |stride| *stride as isize);
        self.near = self.shape.slice().get(axis).map_or(1, |length| *length - index[axis]);
    }

    /// Goes to the beginning of what follows along the last axis.
    #[inline]
    fn turn(&mut self) {
        let lengths = self.shape.slice();
        let index = self.index.slice_mut();
        if let Some(last) = index.last_mut() {
            *last = 0;
        }
        let outer = lengths.len().saturating_sub(1);
        for (index, length) in index[..outer].iter_mut().zip(&lengths[..outer]).rev() {
            *index += 1;
            if *index < *length {
                break;
            }
            *index = 0;
        }
        self.find();
    }
}

impl<A, D: Dimension> Iterator for Steps<A, D> {
    type Item = *mut A;

    #[inline]
    fn next(&mut self) -> Option<*mut A> {
        if self.left == 0 {
            return None;
        }
        if self.near == 0 {
            self.turn();
        }
        let at = self.next;
        self.next = at.wrapping_offset(self.stride);
        self.near -= 1;
        self.left -= 1;
        Some(at)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<A, D: Dimension> ExactSizeIterator for Steps<A, D> {}
impl<A, D: Dimension> FusedIterator for Steps<A, D> {}
