//! Macros, and what they are given.

use proc_macro2::Ident;
use syn::{Expr, Macro};

use super::{Mode, Pass, branch, walk, walk_place};
use crate::valid::macros;

pub(super) fn walk_macro<P: Pass>(pass: &mut P, mac: &mut Macro) {
    let Some(mut arguments) = macros::arguments(mac, pass.cx()) else {
        pass.cx().exit_all();
        pass.opaque(mac);
        return;
    };
    pass.standard(mac);
    let captures = macros::captures(mac, &arguments);
    if macros::writes_to_first(mac)
        && let Some(first) = arguments.exprs.first_mut()
    {
        let name = Ident::new("write_fmt", mac.path.segments[0].ident.span());
        walk_place(pass, first, &Mode::Method { name, dropped: true, swaps: false });
    }
    let skip = usize::from(macros::writes_to_first(mac));
    let certain = macros::certain_arguments(mac);
    for (i, argument) in arguments.exprs.iter_mut().enumerate().skip(skip) {
        if i >= certain {
            branch(pass, |pass| walk_argument(pass, argument));
        } else {
            walk_argument(pass, argument);
        }
    }
    if let Some((_, count)) = &mut arguments.count {
        walk(pass, count);
    }
    if let Some(case) = &mut arguments.case
        && let Some((_, guard)) = &mut case.guard
    {
        branch(pass, |pass| {
            pass.cx().open();
            pass.cx().bind_case(&case.pat, false);
            walk(pass, guard);
            pass.cx().close();
        });
    }
    for name in captures {
        // It is read where it stands, and nothing else can be put there.
        let mut name = syn::parse_quote!(#name);
        branch(pass, |pass| walk(pass, &mut name));
    }
    if macros::may_panic(mac) {
        pass.cx().exit_all();
    }
    arguments.put_back(mac);
}

/// An argument may be `name = value`, which assigns nothing.
fn walk_argument<P: Pass>(pass: &mut P, argument: &mut Expr) {
    match argument {
        Expr::Assign(named) => walk(pass, &mut named.right),
        argument => walk(pass, argument),
    }
}
