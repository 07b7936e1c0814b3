//! What the macros expand to.
//!
//! Everything here is public for the sake of generated code alone. None of it is `unsafe` to call, so that marked loops
//! work where `unsafe` is forbidden; whatever it is called with, it is sound.
//!
//! A marked loop becomes one expression: [`start`] takes the source, a chain of methods the clauses, and one of
//! [`Loop`]'s `run` methods the arrays that the iterations own, the state that participants have, and the *chunk code*, a
//! closure that is called for each chunk. It gets a [`Frame`], which iterates over the chunk's items, and the parts of
//! the arrays; it holds the body in an ordinary `for` loop.

mod accompanied;
mod accumulate;
mod by;
mod chunks;
mod clauses;
mod code;
mod drive;
mod equals;
mod fill;
mod frame;
mod inner;
mod items;
mod leave;
mod read;
mod rows;
pub mod standard;
mod tracker;

pub use accompanied::Accompanied;
pub use accumulate::{Accumulator, Slot, Sum, Sums, nothing};
pub use by::{By, ByAny, ByNumber, Unknown};
pub use code::{Arrays, ChunkCode, Prepared, YieldCode};
pub use drive::{Finished, Listener, Loop, dynamic_chunk, start, static_chunk};
pub use equals::{AnyEquals, AnyOrder, InOrder, Order, SameEquals};
pub use fill::{Fill, Yield, nothing_left};
pub use frame::{Frame, indexed, items};
pub use inner::{Inner, RowReading, add, subtract};
pub use items::{Indexed, Items};
pub use leave::{Ended, Leaving, Never, Or, branch};
pub use read::{Distance, ElementOfArray, ReadAny, ReadSlice, Reading};
pub use rows::{along, index_of, indexed_along, items_along};

pub use std::ops::ControlFlow::{Break, Continue};

pub use crate::loops::own::{
    Area, At, Chunks, Element, Elements, Grid, Indices, ItemIndex, Numbered, Own, OwnByIteration,
    OwnByRow, Owned, Owning, ParallelRows, RowAt, RowWindow, RowsOf, Stride, Window, own_rows,
};
pub use crate::loops::reduce::ops;
pub use crate::loops::site::Site;
pub use crate::loops::source::{
    First, IntoParallelSource, ParallelSlice, ParallelSliceMut, ParallelSource, Second, Whole,
};
pub use crate::{Locality, Pool, Schedule};
