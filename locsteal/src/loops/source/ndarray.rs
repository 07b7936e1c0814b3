//! Arrays of the `ndarray` crate: their elements, rows, and parts along an axis.
//!
//! ```
//! use ndarray::{Array2, Axis};
//!
//! let mut a = Array2::from_shape_fn((3, 4), |(i, j)| (i * 4 + j) as f64);
//! locsteal::source(a.rows_mut()).for_each(|mut row| row *= 2.0);
//! let sums = locsteal::source(a.axis_iter(Axis(1))).collect_vec(|column| column.sum());
//! assert_eq!(sums, [24.0, 30.0, 36.0, 42.0]);
//! locsteal::source(&mut a).for_each(|x| *x -= 1.0);
//! assert_eq!(a[[2, 3]], 21.0);
//! ```
//!
//! Views along an axis are split by `ndarray` itself. What it cannot split, its lanes and its elements, is computed from where
//! the first ones stand and how far they are apart, in a module of its own, `strided`.

mod axis;
mod elements;
mod lanes;
mod strided;

pub use axis::{AxisMutSource, AxisSource, SplitAxis};
pub use elements::{ElementsChunk, ElementsMutChunk, ElementsMutSource, ElementsSource};
pub use lanes::{LanesMutSource, LanesSource};
pub use strided::{LaneChunk, LaneMutChunk, Steps};
