//! Arrays of several axes, which iterations own by row.
//!
//! For the loop the array is a slice of its rows, each a view of its own, and iterations own the elements of that: so all of it is
//! safe code, and means what it means for a slice.

use super::{Area, Element, Own, OwnByIteration};

/// An array whose rows the iterations of a parallel loop can own.
///
/// Rows are what the first of several indices chooses: `a[[i, j]]` lies in row `i`.
#[diagnostic::on_unimplemented(
    message = "iterations cannot own rows of `{Self}`",
    label = "not an array of several axes",
    note = "`a[[i, j]]` is owned by row if `a` is an array of the `ndarray` crate, and locsteal's feature `ndarray` is enabled: \
            `locsteal = {{ version = \"..\", features = [\"ndarray\"] }}`",
    note = "where rows stand one behind the other in a slice, write `own(c.chunks(m))` and `c[i * m + j]`"
)]
pub trait ParallelRows {
    /// A row.
    type Row<'a>
    where
        Self: 'a;

    /// How long the axes are.
    type Shape;

    /// How long the axes are.
    fn shape(&self) -> Self::Shape;

    /// All rows.
    fn rows(&mut self) -> Vec<Self::Row<'_>>;
}

/// The method that marked loops call on what they own by row, so that references are followed as in any method call.
pub trait OwnByRow: ParallelRows {
    /// Borrows the array for a loop.
    fn own_by_row(&mut self) -> RowsOf<Self::Row<'_>, Self::Shape>;
}

impl<A: ParallelRows + ?Sized> OwnByRow for A {
    fn own_by_row(&mut self) -> RowsOf<Self::Row<'_>, Self::Shape> {
        let shape = self.shape();
        RowsOf { shape, rows: self.rows() }
    }
}

/// The rows of an array that is borrowed for a loop.
#[derive(Debug)]
pub struct RowsOf<R, Shape> {
    /// How long the array's axes are.
    pub shape: Shape,
    /// Its rows.
    pub rows: Vec<R>,
}

/// The rows, for a loop that calls the array `name`.
#[inline]
pub fn own_rows<'a, R>(rows: &'a mut Vec<R>, name: &'static str) -> Own<'a, R> {
    rows.own_by_iteration(name)
}

impl<'a, R> Element<'a, R> {
    /// The element as a row of an array.
    #[inline]
    pub fn of_array<'s, Shape>(self, shape: &'s Shape) -> RowWindow<'a, 's, R, Shape> {
        let (index, area) = self.place();
        RowWindow { window: self.window, index, area, shape }
    }
}

/// The row that an iteration owns; `a[[i, j]]` with the loop's index.
#[allow(missing_debug_implementations, reason = "as of `Element`")]
pub struct RowWindow<'a, 's, R, Shape> {
    /// The row, or nothing.
    pub window: &'a mut [R],
    index: usize,
    area: Area,
    #[cfg_attr(not(feature = "ndarray"), allow(dead_code, reason = "no array has a shape then"))]
    shape: &'s Shape,
}

impl<R, Shape> RowWindow<'_, '_, R, Shape> {
    /// Where the row lies.
    #[inline]
    pub fn at(&self) -> RowAt {
        RowAt { index: self.index, size: self.window.len(), area: self.area }
    }
}

/// Which row an iteration owns.
#[derive(Clone, Copy, Debug)]
pub struct RowAt {
    index: usize,
    /// How many rows it owns: 1, or 0 if the array has no row with this index.
    size: usize,
    area: Area,
}

impl RowAt {
    /// Where in the window this row of the array stands.
    ///
    /// # Panics
    ///
    /// If it is not in the window.
    #[inline]
    #[track_caller]
    pub fn offset(self, row: usize) -> usize {
        if row == self.index && self.size > 0 {
            0
        } else {
            outside(self.area.name(), self.area.whole(), self.index, self.size, row)
        }
    }
}

/// The panic of a row that is not in the window.
#[cold]
#[inline(never)]
#[track_caller]
fn outside(name: &'static str, whole: usize, index: usize, size: usize, row: usize) -> ! {
    if row >= whole {
        panic!("index out of bounds: `{name}` has {whole} rows but the index of the row is {row}");
    }
    let owned =
        if size == 0 { format!("no row of `{name}`") } else { format!("row {index} alone") };
    panic!(
        "row {row} of `{name}` belongs to another iteration: this one owns {owned}, of the {whole} rows of `{name}`"
    );
}

#[cfg(feature = "ndarray")]
mod arrays {
    use ndarray::{
        ArrayBase, ArrayRef, ArrayView1, ArrayViewMut, ArrayViewMut1, Axis, DataMut, Dimension,
        Ix1, Ix2, RemoveAxis,
    };

    use super::{ParallelRows, RowWindow};
    use crate::loops::own::ParallelArray;

    impl<S: DataMut, D: RemoveAxis> ParallelRows for ArrayBase<S, D> {
        type Row<'a>
            = ArrayViewMut<'a, S::Elem, D::Smaller>
        where
            Self: 'a;
        type Shape = D;

        fn shape(&self) -> D {
            self.raw_dim()
        }

        fn rows(&mut self) -> Vec<Self::Row<'_>> {
            self.axis_iter_mut(Axis(0)).collect()
        }
    }

    impl<A, D: RemoveAxis> ParallelRows for ArrayRef<A, D> {
        type Row<'a>
            = ArrayViewMut<'a, A, D::Smaller>
        where
            Self: 'a;
        type Shape = D;

        fn shape(&self) -> D {
            self.raw_dim()
        }

        fn rows(&mut self) -> Vec<Self::Row<'_>> {
            self.axis_iter_mut(Axis(0)).collect()
        }
    }

    impl<S: DataMut> ParallelArray for ArrayBase<S, Ix1> {
        type Element = S::Elem;

        /// # Panics
        ///
        /// If the elements do not stand one behind the other.
        #[track_caller]
        fn elements(&mut self) -> &mut [S::Elem] {
            self.as_slice_mut().expect(
                "iterations own elements of an array of one axis where these stand one behind the other: \
                 for a part in steps loop over `y.iter_mut()` or `&mut y`",
            )
        }
    }

    // What means the same of the row as of the array.
    impl<R, D: Dimension> RowWindow<'_, '_, R, D> {
        /// The number of elements of the whole array.
        #[allow(clippy::len_without_is_empty, reason = "below")]
        pub fn len(&self) -> usize {
            self.shape.size()
        }

        /// Whether the whole array is empty.
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// The shape of the whole array.
        pub fn dim(&self) -> D::Pattern {
            self.shape.clone().into_pattern()
        }

        /// The shape of the whole array.
        pub fn raw_dim(&self) -> D {
            self.shape.clone()
        }

        /// The shape of the whole array.
        pub fn shape(&self) -> &[usize] {
            self.shape.slice()
        }

        /// The number of axes.
        pub fn ndim(&self) -> usize {
            self.shape.ndim()
        }
    }

    impl<T> RowWindow<'_, '_, ArrayViewMut1<'_, T>, Ix2> {
        /// The number of rows of the whole array.
        #[inline]
        pub fn nrows(&self) -> usize {
            self.shape[0]
        }

        /// The number of columns.
        #[inline]
        pub fn ncols(&self) -> usize {
            self.shape[1]
        }

        /// The row with this index of the array.
        ///
        /// # Panics
        ///
        /// If it is not in the window.
        #[inline]
        #[track_caller]
        pub fn row(&self, index: usize) -> ArrayView1<'_, T> {
            self.window[self.at().offset(index)].view()
        }

        /// The row with this index of the array.
        ///
        /// # Panics
        ///
        /// If it is not in the window.
        #[inline]
        #[track_caller]
        pub fn row_mut(&mut self, index: usize) -> ArrayViewMut1<'_, T> {
            let offset = self.at().offset(index);
            self.window[offset].view_mut()
        }
    }
}
