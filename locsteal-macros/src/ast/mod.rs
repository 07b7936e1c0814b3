//! What was written: the item that carries the attribute, and the loops that are marked in it.

mod job;
mod marks;
mod nest;
mod target;

pub(crate) use job::Job;
pub(crate) use marks::{Marks, is_mark, mark_functions, mark_loop, mark_of};
pub(crate) use nest::{NoNest, level_mut, levels};
pub(crate) use target::Target;
