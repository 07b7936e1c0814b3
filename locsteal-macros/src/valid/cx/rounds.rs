//! What is reached in each iteration: the loops around a point, and the branches and exits in them.

use super::{Control, Cx};

/// What is known of an iteration that this point is in.
#[derive(Clone, Copy)]
pub(super) struct Round {
    /// How many branches are around the loop's body.
    branches: usize,
    /// Whether the iteration may have been left before this point.
    exited: bool,
    marked: bool,
}

impl Cx {
    /// The body of a loop begins.
    pub(crate) fn begin_round(&mut self, marked: bool) {
        self.rounds.push(Round { branches: self.branches, exited: false, marked });
    }

    /// The body of a loop ends; true if its iterations may be left. One that may leave a marked loop may leave what is around it.
    pub(crate) fn end_round(&mut self) -> bool {
        let Some(Round { exited, marked, .. }) = self.rounds.pop() else { return false };
        if exited && marked {
            self.exit_all();
        }
        exited
    }

    /// What follows is not reached in every iteration, until `leave_branch`.
    pub(crate) fn enter_branch(&mut self) {
        self.branches += 1;
    }

    pub(crate) fn leave_branch(&mut self) {
        self.branches -= 1;
    }

    /// Whether this point is in a branch of the innermost iteration.
    pub(crate) fn is_in_branch(&self) -> bool {
        self.rounds.last().is_some_and(|round| self.branches > round.branches)
    }

    /// Something may not come back: if it is run in some iterations only, what follows is not reached in all.
    pub(crate) fn may_diverge(&mut self) {
        if self.is_in_branch() {
            self.exit_all();
        }
    }

    /// What follows may not be reached.
    pub(crate) fn exit_all(&mut self) {
        self.rounds.iter_mut().for_each(|round| round.exited = true);
    }

    /// An unlabelled `break` or `continue` in the innermost loop: what follows in its body may not be reached.
    pub(crate) fn exit_innermost(&mut self) {
        let innermost = self
            .control
            .iter()
            .rev()
            .find(|c| matches!(c, Control::Loop { .. } | Control::Marked { .. }));
        if matches!(innermost, Some(Control::Loop { round: true, .. } | Control::Marked { .. }))
            && let Some(round) = self.rounds.last_mut()
        {
            round.exited = true;
        }
    }

    /// The state of all iterations, to be put back after something that has its own control flow.
    pub(crate) fn exits(&self) -> Vec<bool> {
        self.rounds.iter().map(|round| round.exited).collect()
    }

    pub(crate) fn restore_exits(&mut self, exits: &[bool]) {
        for (round, exited) in self.rounds.iter_mut().zip(exits) {
            round.exited = *exited;
        }
    }

    /// Whether this point is reached in each iteration of the innermost marked loop.
    pub(crate) fn is_certain(&self) -> bool {
        self.rounds.iter().rev().find(|round| round.marked).is_some_and(|round| self.reaches(round))
    }

    /// Whether this point is reached in each iteration of the innermost loop, marked or not.
    pub(crate) fn is_certain_in_round(&self) -> bool {
        self.rounds.last().is_some_and(|round| self.reaches(round))
    }

    fn reaches(&self, round: &Round) -> bool {
        round.branches == self.branches && !round.exited
    }
}
