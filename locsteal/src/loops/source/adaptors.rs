//! The adaptors: sources made of sources, which mean what those of [`Iterator`] mean.
//!
//! Each maps positions to positions of the source below, and makes its chunk of a chunk of that source with the standard
//! library's iterator of the same name.

mod cloned;
mod enumerate;
mod part;
mod rev;
mod step_by;
mod zip;

pub use cloned::{Cloned, Copied};
pub use enumerate::{Enumerate, EnumerateChunk};
pub use part::{Skip, Take};
pub use rev::Rev;
pub use step_by::StepBy;
pub use zip::Zip;
