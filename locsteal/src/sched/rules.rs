//! What comparisons may change about the step function, and see of it.

use super::step::View;
use super::victims::Thief;

/// Rules that the simulator turns off to see what they are worth. The pool goes by [`Standard`], of which nothing is
/// left when it is compiled.
pub(crate) trait Rules {
    /// A thief takes this share of what is left in a block.
    const STEAL_SHARE: u32 = 4;

    /// The victims of a local pass.
    #[inline]
    fn local<'a>(
        &mut self,
        view: &View<'a>,
        thief: Thief,
    ) -> impl Iterator<Item = usize> + use<'a, Self> {
        view.orders.local(thief, view.locality, view.deal.width())
    }

    /// The victims that are tried after a local pass that found nothing.
    #[inline]
    fn remote<'a>(
        &mut self,
        view: &View<'a>,
        thief: Thief,
    ) -> impl Iterator<Item = usize> + use<'a, Self> {
        view.orders.remote(thief, view.locality, view.deal.width())
    }

    /// A participant did this.
    #[inline]
    fn saw(&mut self, _sight: Sight) {}
}

/// What a participant does that reaches for another's cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// It looked at this seat.
    Looked(usize),
    /// It took from the block of this seat: its own, one that it rescued, or a victim's.
    Took(usize),
    /// It put what it does not run at once into the block of this seat.
    Put(usize),
    /// It claimed this seat's block in place of its owner.
    Rescued(usize),
    /// It took from the counter that all share.
    Counted,
}

/// The rules of the design.
pub(crate) struct Standard;

impl Rules for Standard {}
