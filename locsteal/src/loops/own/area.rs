//! What a chunk of iterations owns of an array, and how it is cut into windows.
#![allow(unsafe_code, reason = "elements by the loop's index")]

use super::{Element, Window};

/// Which part of an array the iterations of a chunk own.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    name: &'static str,
    per_iteration: usize,
    first: usize,
    whole: usize,
}

impl Area {
    #[inline]
    pub(super) fn new(
        name: &'static str,
        per_iteration: usize,
        first: usize,
        whole: usize,
    ) -> Self {
        Self { name, per_iteration, first, whole }
    }

    /// The index of the first element.
    #[inline]
    pub(in crate::loops) fn first(self) -> usize {
        self.first
    }

    /// The name that the loop's body knows the array by.
    #[inline]
    pub(in crate::loops) fn name(self) -> &'static str {
        self.name
    }

    /// The length of the whole array.
    #[inline]
    pub(in crate::loops) fn whole(self) -> usize {
        self.whole
    }

    /// The elements, to be owned one by one.
    #[inline]
    pub fn elements<T>(self, part: &mut [T]) -> Elements<'_, T> {
        Elements { area: self, part, in_steps: true }
    }

    /// Some of the elements, from that with index `low` on. `in_steps`: the iterations own every so manieth.
    #[inline]
    pub(in crate::loops) fn narrow<T>(
        self,
        part: &mut [T],
        low: usize,
        in_steps: bool,
    ) -> Elements<'_, T> {
        Elements { area: Self { first: low, ..self }, part, in_steps }
    }

    /// The elements, to be owned by chunks.
    #[inline]
    pub fn chunks<T>(self, part: &mut [T]) -> Chunks<'_, T> {
        Chunks { area: self, part }
    }
}

/// Elements that iterations own one by one.
#[derive(Debug)]
pub struct Elements<'a, T> {
    area: Area,
    part: &'a mut [T],
    /// Whether iterations may own every so manieth.
    in_steps: bool,
}

impl<T> Elements<'_, T> {
    /// What the iteration with this index owns: its element, or nothing if the array has none with this index.
    #[inline]
    pub fn window(&mut self, index: usize) -> Element<'_, T> {
        let first = self.area.first;
        let offset = index.wrapping_sub(first);
        if offset >= self.part.len() {
            return Element::new(&mut [], index, self.area);
        }
        let element = if self.in_steps {
            &mut self.part[offset]
        } else {
            // So the index is all that changes from one iteration to the next, as in a loop over the whole array. With a
            // difference in it the compiler takes the body for larger, and may interleave fewer iterations.
            let origin = self.part.as_mut_ptr().wrapping_sub(first);
            // SAFETY: addresses wrap as indices do, so this is the element at `offset`, which there is. The part is borrowed by
            // this, and lent for as long.
            unsafe { &mut *origin.wrapping_add(index) }
        };
        Element::new(std::slice::from_mut(element), index, self.area)
    }
}

/// Elements that iterations own by chunks.
#[derive(Debug)]
pub struct Chunks<'a, T> {
    area: Area,
    part: &'a mut [T],
}

impl<T> Chunks<'_, T> {
    /// What the iteration with this index owns: its chunk, as far as the array reaches.
    #[inline]
    pub fn window(&mut self, index: usize) -> Window<'_, T> {
        let size = self.area.per_iteration;
        let begin = index.saturating_mul(size);
        // Of a window, that begins within a chunk, the rest of the chunk.
        let first = begin.max(self.area.first);
        // Without a case for nothing, which would be an empty slice from elsewhere: so the compiler sees that whatever the window is,
        // it is a part of this, and overlaps with nothing else.
        let offset = (first - self.area.first).min(self.part.len());
        let rest = &mut self.part[offset..];
        let len = begin.saturating_add(size).saturating_sub(first).min(rest.len());
        let chunk = &mut rest[..len];
        Window::new(chunk, first, self.area)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::ptr;

    use super::*;

    #[derive(Clone)]
    struct Nothing;

    #[derive(Clone)]
    #[repr(align(64))]
    struct Line(#[allow(dead_code, reason = "it has a size")] u8);

    /// Whichever way they are addressed, iterations own the elements with their indices, and nothing beyond the part.
    fn elements_are_those_of_the_part<T: Clone>(element: &T) {
        let firsts = [0, 1, 7, isize::MAX as usize - 1, isize::MAX as usize, usize::MAX - 1];
        for (first, len) in firsts.into_iter().flat_map(|first| [0, 1, 5].map(|len| (first, len))) {
            let mut all = vec![element.clone(); len + 2];
            let part = &mut all[1..][..len];
            let begin = part.as_ptr();
            for in_steps in [false, true] {
                let area = Area::new("y", 1, 0, len);
                let mut elements = area.narrow(part, first, in_steps);
                for offset in 0..len {
                    let own = elements.window(first.wrapping_add(offset));
                    assert_eq!((own.window.len(), own.place().0), (1, first.wrapping_add(offset)));
                    assert!(ptr::eq(own.window.as_ptr(), begin.wrapping_add(offset)));
                }
                for outside in
                    [first.wrapping_sub(1), first.wrapping_add(len), first ^ isize::MIN as usize]
                {
                    assert!(elements.window(outside).window.is_empty());
                }
            }
        }
    }

    #[test]
    fn elements_of_every_size_are_found_by_their_index() {
        elements_are_those_of_the_part(&Nothing);
        elements_are_those_of_the_part(&0_u8);
        elements_are_those_of_the_part(&[0_u16; 3]);
        elements_are_those_of_the_part(&(0_u64, 0_u8));
        elements_are_those_of_the_part(&Line(0));
        elements_are_those_of_the_part(&[0_u8; 1000]);
        elements_are_those_of_the_part(&String::from("y"));
    }
}
