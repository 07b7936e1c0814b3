//! A place in the source that launches loops.

use super::auto::Memory;

/// What is known of a marked loop before it is run: the macro makes one of these for each, in a `static`.
#[derive(Debug)]
pub struct Site {
    name: Option<&'static str>,
    file: &'static str,
    line: u32,
    column: u32,
    memory: Memory,
}

impl Site {
    /// A loop at this place; lines and columns count from 1.
    pub const fn new(
        name: Option<&'static str>,
        file: &'static str,
        line: u32,
        column: u32,
    ) -> Self {
        Self { name, file, line, column, memory: Memory::new() }
    }

    /// What the loop has learned about schedules.
    pub(crate) const fn memory(&self) -> &Memory {
        &self.memory
    }
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name {
            Some(name) => f.write_str(name),
            None => write!(f, "{}:{}:{}", self.file, self.line, self.column),
        }
    }
}
