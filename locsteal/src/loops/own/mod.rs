//! Arrays that a loop's iterations own in parts: each iteration may write its own part, and reach nothing else.
//!
//! An [`Own`] holds the array borrowed for the whole loop. The launcher cuts it: each chunk of positions gets the slice
//! that its iterations own ([`Own::part`]), which an [`Area`] describes. Within the chunk the slice is cut again, into
//! the iterations' windows, by safe code.

mod area;
mod array;
mod by_row;
mod grid;
mod indices;
mod window;

pub use area::{Area, Chunks, Elements};
pub use array::{Own, OwnByIteration, ParallelArray};
pub use by_row::{OwnByRow, ParallelRows, RowAt, RowWindow, RowsOf, own_rows};
pub use grid::{Grid, Numbered, Owned, Owning};
pub use indices::{Indices, ItemIndex, Stride};
pub use window::{At, Element, Window};
