//! In which NUMA node the pages of some memory are: the kernel is asked.

use std::ops::Range;

/// The pages of a slice.
pub(crate) struct Pages {
    /// The node of each, as the kernel numbers them; `None` for a page that is nowhere yet.
    nodes: Vec<Option<usize>>,
    /// How many bytes of the first page lie before the slice.
    before: usize,
    page: usize,
}

impl Pages {
    /// Asks where the pages of a slice are.
    ///
    /// # Errors
    ///
    /// In words: this is not Linux, or its kernel knows nothing of nodes, or does not tell.
    #[cfg(target_os = "linux")]
    pub(crate) fn of<T>(slice: &[T]) -> Result<Self, String> {
        // SAFETY: takes a number alone.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).map_err(|_| "the size of a page is unknown".to_owned())?;
        let start = slice.as_ptr().cast::<u8>();
        let before = start.addr() % page;
        let count = (before + size_of_val(slice)).div_ceil(page);
        let first = start.wrapping_sub(before);
        let pages: Vec<*const u8> =
            (0..count).map(|index| first.wrapping_add(index * page)).collect();
        let mut status = vec![0_i32; count];
        let nowhere = std::ptr::null::<i32>();
        // SAFETY: the kernel reads `count` addresses, which it does not follow, and writes as many numbers. Without nodes
        // to move them to, no page is moved.
        let result = unsafe {
            libc::syscall(
                libc::SYS_move_pages,
                0,
                count,
                pages.as_ptr(),
                nowhere,
                status.as_mut_ptr(),
                0,
            )
        };
        if result < 0 {
            return Err(format!(
                "the kernel does not tell where pages are (move_pages: {})",
                std::io::Error::last_os_error()
            ));
        }
        let nodes = status.into_iter().map(|node| usize::try_from(node).ok()).collect();
        Ok(Self { nodes, before, page })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of<T>(_slice: &[T]) -> Result<Self, String> {
        Err("where pages are is told on Linux alone".to_owned())
    }

    /// The parts of some elements, each `size` bytes, by the node that they are in: bytes and node.
    pub(crate) fn parts(
        &self,
        elements: Range<usize>,
        size: usize,
    ) -> impl Iterator<Item = (usize, Option<usize>)> {
        let bytes = self.before + elements.start * size..self.before + elements.end * size;
        let pages = bytes.start / self.page..bytes.end.div_ceil(self.page);
        pages.map(move |page| {
            let (start, end) = (page * self.page, (page + 1) * self.page);
            let within = end.min(bytes.end) - start.max(bytes.start);
            (within, self.nodes[page])
        })
    }

    /// How many pages there are in each node, sorted by node; those that are nowhere are left out.
    pub(crate) fn count(&self) -> Vec<(usize, usize)> {
        let mut counts = std::collections::BTreeMap::new();
        for node in self.nodes.iter().flatten() {
            *counts.entry(*node).or_default() += 1;
        }
        counts.into_iter().collect()
    }
}
