//! Reductions whose result does not depend on who ran what.
//!
//! A loop's positions are cut into leaves, whose size depends on the length of the loop alone. Each leaf is accumulated
//! serially, by one participant, from a fresh private value. Then leaves are joined pairwise along a binary tree that again
//! depends on the length alone: first with second, third with fourth, then these with each other, and so on; a leaf without
//! partner moves up as it is. Whoever completes the second half of a pair joins it, so that there is no more to keep than what
//! waits for its other half.
//!
//! For a sum of floats `x` the error is at most `(leaf - 1 + log2(leaves)) * eps * sum(|x|)` to first order, against
//! `(n - 1) * eps * sum(|x|)` for a serial loop over `n`.
//!
//! A loop that is left at position `e` keeps what was accumulated below `e`: the leaves before that of `e`, joined along the
//! same tree, and then what `e`'s leaf had accumulated when it was left. That too depends on nothing but `e`.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The leaves of one loop, of at most 2⁶² positions.
#[derive(Debug)]
pub(crate) struct Leaves<A> {
    len: u64,
    unit: u64,
    count: u64,
    /// The number of leaves rounded up to a power of two. The nodes of the tree are numbered from 1, the root: node `n` has
    /// the halves `2n` and `2n + 1`, and leaf `k` is node `width + k`.
    width: u64,
    /// At `n`: the half of node `n` that was completed first and waits for the other. Made when the first comes: a short loop
    /// that one participant runs has none.
    waiting: OnceLock<Box<[Mutex<Option<A>>]>>,
    /// The root, when it is complete.
    whole: Mutex<Option<A>>,
    left: Mutex<Option<(u64, A)>>,
}

/// So many leaves that the work is well divided also on a large machine, and so few that what they cost does not show: 64 for a
/// thousand positions, 256 for some thousands, 1024 from 65,536 on.
fn leaf_count(len: u64) -> u64 {
    (len / 16).clamp(64, 256).max((len / 64).min(1024))
}

impl<A> Leaves<A> {
    pub(crate) fn new(len: u64) -> Self {
        let unit = len.div_ceil(leaf_count(len)).max(1);
        let count = len.div_ceil(unit);
        let width = count.next_power_of_two();
        Self {
            len,
            unit,
            count,
            width,
            waiting: OnceLock::new(),
            whole: Mutex::new(None),
            left: Mutex::new(None),
        }
    }

    /// The size of a leaf: chunks of the loop must begin and end at multiples of it, or at the loop's end.
    pub(crate) fn unit(&self) -> u64 {
        self.unit
    }

    /// The leaf that begins at `position`.
    pub(crate) fn leaf_at(&self, position: u64) -> Range<u64> {
        debug_assert!(position.is_multiple_of(self.unit) && position < self.len);
        position..(position + self.unit).min(self.len)
    }

    /// Begins the work of a participant.
    pub(crate) fn run(&self) -> LeafRun<'_, A> {
        LeafRun { leaves: self, complete: Vec::with_capacity(self.width.ilog2() as usize + 1) }
    }

    /// Hands in the complete node `node`.
    fn hand_in(&self, mut node: u64, mut value: A, merge: &impl Fn(&mut A, A)) {
        while node > 1 {
            let parent = node / 2;
            if !self.is_alone(node) {
                let other = {
                    let mut waiting = lock(&self.waiting()[parent as usize]);
                    match waiting.take() {
                        None => {
                            *waiting = Some(value);
                            return;
                        }
                        Some(other) => other,
                    }
                };
                value = if node.is_multiple_of(2) {
                    join(value, other, merge)
                } else {
                    join(other, value, merge)
                };
            }
            node = parent;
        }
        *lock(&self.whole) = Some(value);
    }

    fn waiting(&self) -> &[Mutex<Option<A>>] {
        self.waiting.get_or_init(|| (0..self.width).map(|_| Mutex::new(None)).collect())
    }

    /// Whether `node` is a first half that has no second half, since the loop ends before.
    fn is_alone(&self, node: u64) -> bool {
        if !node.is_multiple_of(2) {
            return false;
        }
        let second = node + 1;
        let first_leaf = (second << (self.width.ilog2() - second.ilog2())) - self.width;
        first_leaf >= self.count
    }

    /// What the iterations below `exit` have accumulated, and that at `exit` before it left; of all iterations, if the loop was
    /// not left. `None` if there were none. Participants must have ended.
    pub(crate) fn into_total(self, exit: Option<u64>, merge: impl Fn(&mut A, A)) -> Option<A> {
        let Some(exit) = exit else {
            return self.whole.into_inner().unwrap_or_else(PoisonError::into_inner);
        };
        // From the root down to the leaf that was left: whatever lies before the path has been completed, and waits for the
        // half in which the path goes on.
        let leaf = self.width + exit / self.unit;
        let depth = self.width.ilog2();
        let before =
            (0..depth).rev().map(|level| leaf >> level).filter(|node| !node.is_multiple_of(2));
        let waiting = self.waiting.get();
        let parts = before.filter_map(|node| lock(&waiting?[(node / 2) as usize]).take());
        let left = lock(&self.left).take();
        let last = left.filter(|(position, _)| *position == exit).map(|(_, value)| value);
        parts.chain(last).reduce(|earlier, later| join(earlier, later, &merge))
    }
}

/// What a participant has accumulated of a loop's leaves.
///
/// It joins leaves that lie side by side itself, and hands in only what it cannot join further. So a participant that
/// runs many leaves in a row takes few locks.
#[derive(Debug)]
pub(crate) struct LeafRun<'a, A> {
    leaves: &'a Leaves<A>,
    /// Complete nodes, each to the right of the one before.
    complete: Vec<(u64, A)>,
}

impl<A> LeafRun<'_, A> {
    /// Adds the leaf that begins at `position`.
    pub(crate) fn push(&mut self, position: u64, mut value: A, merge: &impl Fn(&mut A, A)) {
        let mut node = self.leaves.width + position / self.leaves.unit;
        while !node.is_multiple_of(2)
            && let Some((_, earlier)) = self.complete.pop_if(|(earlier, _)| *earlier == node - 1)
        {
            value = join(earlier, value, merge);
            node /= 2;
        }
        self.complete.push((node, value));
    }

    /// Hands in what was added. To be called at the end of each chunk.
    pub(crate) fn hand_in(&mut self, merge: &impl Fn(&mut A, A)) {
        while let Some((mut node, mut value)) = self.complete.pop() {
            // At the end of the loop, leaves lie side by side with nodes that are larger.
            loop {
                while self.leaves.is_alone(node) {
                    node /= 2;
                }
                let beside =
                    |(earlier, _): &mut (u64, A)| !node.is_multiple_of(2) && *earlier == node - 1;
                let Some((_, earlier)) = self.complete.pop_if(beside) else { break };
                value = join(earlier, value, merge);
                node /= 2;
            }
            self.leaves.hand_in(node, value, merge);
        }
    }

    /// Hands in what was added, and what the leaf that was left at `position` had accumulated by then.
    pub(crate) fn exit(&mut self, position: u64, value: A, merge: &impl Fn(&mut A, A)) {
        self.hand_in(merge);
        let mut left = lock(&self.leaves.left);
        let loser = match &*left {
            Some((lowest, _)) if *lowest <= position => Some((position, value)),
            _ => left.replace((position, value)),
        };
        // The value's drop is the user's code.
        drop(left);
        drop(loser);
    }
}

fn join<A>(mut earlier: A, later: A, merge: &impl Fn(&mut A, A)) -> A {
    merge(&mut earlier, later);
    earlier
}

/// Nothing panics while one of the locks is held.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joins texts such that they show which was joined with which.
    fn merge(earlier: &mut String, later: String) {
        *earlier = format!("({earlier} {later})");
    }

    /// Runs the leaves of chunks that end where `cut` says, in an order that `order` says, on so many participants.
    fn run(
        leaves: &Leaves<String>,
        cut: impl Fn(u64) -> bool,
        order: impl Fn(&mut Vec<Range<u64>>),
        participants: usize,
        exit: Option<u64>,
    ) {
        let mut chunks = Vec::new();
        let mut first = 0;
        for leaf in 0..leaves.count {
            if leaf + 1 == leaves.count || cut(leaf) {
                chunks.push(first..leaf + 1);
                first = leaf + 1;
            }
        }
        order(&mut chunks);
        let mut runs: Vec<_> = (0..participants).map(|_| leaves.run()).collect();
        for (turn, chunk) in chunks.into_iter().enumerate() {
            let run = &mut runs[turn % participants];
            for leaf in chunk {
                let positions = leaves.leaf_at(leaf * leaves.unit);
                match exit {
                    Some(exit) if positions.contains(&exit) => {
                        run.exit(exit, format!("{leaf}!"), &merge);
                        break;
                    }
                    _ => run.push(positions.start, leaf.to_string(), &merge),
                }
            }
            run.hand_in(&merge);
        }
    }

    #[test]
    fn a_leaf_is_as_large_as_the_length_says() {
        for (len, unit, count) in [
            (0, 1, 0),
            (1, 1, 1),
            (64, 1, 64),
            (65, 2, 33),
            (1000, 16, 63),
            (4096, 16, 256),
            (16_384, 64, 256),
            (1 << 20, 1024, 1024),
        ] {
            let leaves = Leaves::<u8>::new(len);
            assert_eq!((leaves.unit(), leaves.count), (unit, count), "length {len}");
        }
        let longest = Leaves::<u8>::new(1 << 62);
        assert_eq!(longest.unit() * longest.count, 1 << 62);
        assert_eq!(Leaves::<u8>::new(1008).leaf_at(992), 992..1008);
        assert_eq!(Leaves::<u8>::new(1009).leaf_at(1008), 1008..1009);
    }

    #[test]
    fn the_tree_depends_on_the_number_of_leaves_alone() {
        let lengths: &[u64] =
            if cfg!(miri) { &[5] } else { &[1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 32, 33, 100] };
        for &len in lengths {
            let (mut seen, mut unit) = (Vec::new(), 1);
            for participants in [1, 2, 3, 7] {
                for width in [1, 2, 3, 4, 5, 16, 100] {
                    for order in [
                        |_: &mut Vec<_>| {},
                        |chunks: &mut Vec<_>| chunks.reverse(),
                        |chunks: &mut Vec<_>| {
                            let middle = chunks.len() / 2;
                            chunks.rotate_left(middle);
                        },
                    ] {
                        let leaves = Leaves::new(len);
                        unit = leaves.unit();
                        run(&leaves, |leaf| leaf % width == width - 1, order, participants, None);
                        seen.push(leaves.into_total(None, merge).unwrap());
                    }
                }
            }
            seen.dedup();
            assert_eq!(seen.len(), 1, "{len}: {seen:?}");
            let in_order: Vec<u64> = numbers(&seen[0]);
            assert!(in_order.into_iter().eq(0..len.div_ceil(unit)), "{seen:?}");
        }
        let leaves = Leaves::new(6);
        run(&leaves, |leaf| leaf == 2, |chunks| chunks.reverse(), 2, None);
        assert_eq!(leaves.into_total(None, merge).unwrap(), "(((0 1) (2 3)) (4 5))");
    }

    fn numbers(text: &str) -> Vec<u64> {
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
    }

    #[test]
    fn what_was_below_the_exit_counts() {
        let lengths: &[u64] = if cfg!(miri) { &[5] } else { &[1, 2, 3, 5, 8, 13, 700] };
        for &len in lengths {
            for exit in [0, 1, 2, 3, 4, 6, 12, 350, len - 1] {
                if exit >= len {
                    continue;
                }
                let mut seen = Vec::new();
                for participants in [1, 3] {
                    for width in [1, 2, 5, 64] {
                        for order in [|_: &mut Vec<_>| {}, |chunks: &mut Vec<_>| chunks.reverse()] {
                            let leaves = Leaves::new(len);
                            let unit = leaves.unit();
                            run(
                                &leaves,
                                |leaf| leaf % width == width - 1,
                                order,
                                participants,
                                Some(exit),
                            );
                            let total = leaves.into_total(Some(exit), merge).unwrap();
                            assert!(numbers(&total).into_iter().eq(0..=exit / unit), "{total}");
                            assert_eq!(total.matches('!').count(), 1);
                            seen.push(total);
                        }
                    }
                }
                seen.dedup();
                assert_eq!(seen.len(), 1, "{len}, left at {exit}: {seen:?}");
            }
        }
    }

    #[test]
    fn the_lowest_of_several_exits_counts() {
        let leaves = Leaves::new(10);
        let mut run = leaves.run();
        run.exit(7, "7!".into(), &merge);
        for position in 0..4 {
            run.push(position, position.to_string(), &merge);
        }
        run.exit(4, "4!".into(), &merge);
        run.exit(9, "9!".into(), &merge);
        assert_eq!(leaves.into_total(Some(4), merge).unwrap(), "(((0 1) (2 3)) 4!)");
    }

    #[test]
    fn every_value_is_dropped_once() {
        use std::sync::Arc;
        for exit in [None, Some(0), Some(37), Some(99)] {
            let value = Arc::new(());
            let leaves = Leaves::new(100);
            let mut run = leaves.run();
            for position in 0..100 {
                match exit {
                    Some(exit) if exit == position => {
                        run.exit(exit, Arc::clone(&value), &|_, _| {});
                    }
                    _ => run.push(position, Arc::clone(&value), &|_, _| {}),
                }
            }
            run.hand_in(&|_, _| {});
            drop(run);
            drop(leaves.into_total(exit, |_, _| {}));
            assert_eq!(Arc::strong_count(&value), 1);
        }
    }
}
