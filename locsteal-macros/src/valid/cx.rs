//! Where in a function one is: which names mean what, and where control can go.

mod clouds;
mod control;
mod names;
mod rounds;

pub(crate) use control::{Control, Exit, Goes};
pub(crate) use names::{Binding, Means, is_constant};

use clouds::Cloud;
use rounds::Round;

/// What is known at a point of a function.
#[derive(Default)]
pub(crate) struct Cx {
    scopes: Vec<Vec<Binding>>,
    /// What may be bound in the scopes that are open, by something that does not show what it binds.
    clouds: Vec<Cloud>,
    /// Whether the value of the method call that is met next is thrown away.
    drops_value: bool,
    /// How many `unsafe` blocks are around this point.
    unsafe_blocks: usize,
    control: Vec<Control>,
    /// How many marked loops are around this point.
    depth: usize,
    /// The loops around this point whose iterations are looked at one by one: marked ones, and serial ones in their bodies.
    rounds: Vec<Round>,
    /// How many serial loops have been met.
    serials: usize,
    /// How many branches, such as those of an `if`, are around this point.
    branches: usize,
}

impl Cx {
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// A scope begins, until `close`.
    pub(crate) fn open(&mut self) {
        self.scopes.push(Vec::new());
        self.clouds.push(Cloud::default());
    }

    pub(crate) fn close(&mut self) {
        self.scopes.pop();
        self.clouds.pop();
    }

    /// Says that the value of the method call that comes next is thrown away.
    pub(crate) fn drop_value(&mut self) {
        self.drops_value = true;
    }

    /// Whether the value of the method call at this point is thrown away; asked once.
    pub(crate) fn takes_no_value(&mut self) -> bool {
        std::mem::take(&mut self.drops_value)
    }

    /// A number for a serial loop: the same each time that the function is gone through.
    pub(crate) fn number_serial(&mut self) -> usize {
        self.serials += 1;
        self.serials
    }

    pub(crate) fn enter_unsafe(&mut self) {
        self.unsafe_blocks += 1;
    }

    pub(crate) fn leave_unsafe(&mut self) {
        self.unsafe_blocks -= 1;
    }

    pub(crate) fn is_unsafe(&self) -> bool {
        self.unsafe_blocks > 0
    }
}
