//! A bar that shows how far the program is.

use indicatif::{ProgressBar, ProgressStyle};

/// Counts cells. Without a terminal it counts in silence.
pub(crate) struct Progress(ProgressBar);

/// The bar hears of every so many cells, which keeps its cost out of the loops.
const STRIDE: usize = 4096;

impl Progress {
    /// A bar for `cells` cells in all.
    pub(crate) fn new(cells: u64) -> Self {
        let style = ProgressStyle::with_template("{msg:20} {wide_bar} {percent:>3} %, {eta} left")
            .expect("the template is well formed");
        Self(ProgressBar::new(cells).with_style(style))
    }

    /// No bar.
    #[cfg(test)]
    pub(crate) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Says what is being done.
    pub(crate) fn step(&self, what: &'static str) {
        self.0.set_message(what);
    }

    /// Says that the cell with this number is done. Each loop must say so of each of its cells.
    pub(crate) fn passed(&self, cell: usize) {
        if cell.is_multiple_of(STRIDE) {
            self.0.inc(STRIDE as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
