//! Where exits can go: the loops, blocks and functions around a point.

use syn::{Lifetime, Type};

use super::Cx;

/// What `break`, `continue`, `return` and `?` can go to.
pub(crate) enum Control {
    Marked {
        label: Option<String>,
    },
    /// A loop that is not marked; `round`: it is one of [`Cx`]'s rounds.
    Loop {
        label: Option<String>,
        round: bool,
    },
    Block {
        label: Option<String>,
    },
    /// A function, closure or async block, and what it is said to return.
    Body {
        returns: Option<Box<Type>>,
    },
    /// A `try` block.
    Try,
}

/// Where an exit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goes {
    /// It stays in the body of the innermost marked loop, or there is none.
    Within,
    /// To the next iteration of that loop, or to its end: the loop around the body in the generated code does that.
    Native,
    /// Out of that loop.
    Out,
}

/// The way that an exit takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// How many marked loops it leaves.
    pub(crate) crossed: usize,
    /// Whether it then ends or continues a marked loop.
    pub(crate) ends_marked: bool,
}

/// What a macro is asked to do with an exit.
#[derive(Clone, Copy)]
pub(crate) enum Exit<'a> {
    Break(Option<&'a Lifetime>),
    Continue(Option<&'a Lifetime>),
    Return,
    Try,
}

impl Cx {
    pub(crate) fn enter(&mut self, control: Control) {
        self.depth += usize::from(matches!(control, Control::Marked { .. }));
        self.control.push(control);
    }

    pub(crate) fn leave(&mut self) {
        let control = self.control.pop();
        self.depth -= usize::from(matches!(control, Some(Control::Marked { .. })));
    }

    /// What the innermost function, closure or async block is said to return.
    pub(crate) fn returns(&self) -> Option<&Type> {
        self.control.iter().rev().find_map(|control| match control {
            Control::Body { returns } => Some(returns.as_deref()),
            _ => None,
        })?
    }

    /// Whether `.await` at this point would suspend the body of a marked loop, rather than an async block in it.
    pub(crate) fn suspends_marked_loop(&self) -> bool {
        self.goes(Exit::Return) == Goes::Out
    }

    /// Where an exit at this point goes, seen from the innermost marked loop.
    pub(crate) fn goes(&self, exit: Exit<'_>) -> Goes {
        match self.route(exit) {
            Route { crossed: 0, ends_marked: true } => Goes::Native,
            Route { crossed: 0, .. } => Goes::Within,
            _ => Goes::Out,
        }
    }

    /// Which marked loops an exit at this point leaves.
    pub(crate) fn route(&self, exit: Exit<'_>) -> Route {
        let mut crossed = 0;
        let wanted = match exit {
            Exit::Break(label) | Exit::Continue(label) => {
                label.map(|label| label.ident.to_string())
            }
            Exit::Return | Exit::Try => None,
        };
        let jumps = matches!(exit, Exit::Break(_) | Exit::Continue(_));
        let nowhere = Route { crossed: 0, ends_marked: false };
        for control in self.control.iter().rev() {
            let (ends, ends_marked) = match control {
                // A jump out of a function: the compiler will say so.
                Control::Body { .. } if jumps => return nowhere,
                Control::Body { .. } => (true, false),
                Control::Try => (matches!(exit, Exit::Try), false),
                Control::Loop { label, .. } => {
                    (jumps && (wanted.is_none() || *label == wanted), false)
                }
                Control::Block { label } => (jumps && wanted.is_some() && *label == wanted, false),
                Control::Marked { label } => {
                    (jumps && (wanted.is_none() || *label == wanted), true)
                }
            };
            if ends {
                return Route { crossed, ends_marked };
            }
            crossed += usize::from(matches!(control, Control::Marked { .. }));
        }
        // A label that is nowhere: the same.
        nowhere
    }
}
