//! A place in the source that launches loops.

use super::auto::Memory;

/// What is known of a marked loop before it is run: the macro makes one of these for each, in a `static`.
#[derive(Debug)]
pub struct Site {
    name: Option<&'static str>,
    /// `file:line:column`
    place: &'static str,
    memory: Memory,
}

impl Site {
    /// A loop at this place, `file:line:column`.
    pub const fn new(name: Option<&'static str>, place: &'static str) -> Self {
        Self { name, place, memory: Memory::new() }
    }

    /// The name, or the place.
    pub(crate) fn label(&self) -> &'static str {
        self.name.unwrap_or(self.place)
    }

    /// What the loop has learned about schedules.
    pub(crate) const fn memory(&self) -> &Memory {
        &self.memory
    }
}
