//! A bar that shows how far a loop has come.

use indicatif::{ProgressBar, ProgressStyle};
use locsteal::Progress;

/// The bar. Without a terminal nothing is shown.
pub(crate) struct Bar(ProgressBar);

/// The bar hears of every so many cells, which keeps its cost out of the loops.
const STRIDE: usize = 4096;

impl Bar {
    /// A bar for loops over so many cells.
    pub(crate) fn new(cells: usize) -> Self {
        let style = ProgressStyle::with_template("{msg:20} {wide_bar} {percent:>3} %, {eta} left")
            .expect("the template is well formed");
        Self(ProgressBar::new(cells as u64).with_style(style))
    }

    /// No bar.
    #[cfg(test)]
    pub(crate) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Says which loop begins.
    pub(crate) fn begin(&self, loop_name: String) {
        self.0.reset();
        self.0.set_message(loop_name);
    }

    /// Says that a loop that runs in order has come to this cell.
    pub(crate) fn at(&self, cell: usize) {
        if cell.is_multiple_of(STRIDE) {
            self.0.set_position(cell as u64);
        }
    }
}

/// A parallel loop tells how many of its cells are done.
impl Progress for &Bar {
    fn progress(&self, done: u64) {
        self.0.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
