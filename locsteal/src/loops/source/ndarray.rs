//! Arrays of the `ndarray` crate: their elements, rows, and parts along an axis.
//!
//! Views along an axis are split by `ndarray` itself. What it cannot split, its lanes and its elements, is computed from where
//! the first ones stand and how far they are apart, in [`strided`].

mod axis;
mod elements;
mod lanes;
mod strided;

pub use axis::{AxisMutSource, AxisSource, SplitAxis};
pub use elements::{ElementsChunk, ElementsMutChunk, ElementsMutSource, ElementsSource};
pub use lanes::{LanesMutSource, LanesSource};
pub use strided::{LaneChunk, LaneMutChunk, Steps};
