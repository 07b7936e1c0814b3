//! Methods of the standard library that change what they are called on.

use syn::{Expr, ExprMethodCall};

/// Whether a method of this name needs what it is called on mutable, in all types of the standard library that have one.
pub(super) fn is_mutating(name: &str) -> bool {
    NAMES.contains(&name) || name.ends_with("_mut") || name.ends_with("_assign")
}

/// Whether a method of this name changes elements of a slice, and is called on nothing that is shared and mutable.
pub(super) fn changes_elements(name: &str) -> bool {
    ELEMENTS.contains(&name)
}

/// Whether it is `x.swap(a, b)` of a slice, and not of an atomic, whose second argument is an ordering.
pub(super) fn swaps_elements(call: &ExprMethodCall) -> bool {
    let is_ordering = |expr: &Expr| match expr {
        Expr::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string().to_lowercase();
            ["relaxed", "release", "acquire", "acqrel", "seqcst", "order", "ordering"]
                .contains(&name.as_str())
        }),
        _ => false,
    };
    call.method == "swap" && call.args.len() == 2 && !call.args.iter().any(is_ordering)
}

const ELEMENTS: [&str; 26] = [
    "chunks_exact_mut",
    "chunks_mut",
    "clone_from_slice",
    "copy_from_slice",
    "copy_within",
    "fill",
    "fill_with",
    "first_mut",
    "get_mut",
    "iter_mut",
    "last_mut",
    "rchunks_mut",
    "reverse",
    "rotate_left",
    "rotate_right",
    "select_nth_unstable",
    "sort",
    "sort_by",
    "sort_by_cached_key",
    "sort_by_key",
    "sort_unstable",
    "sort_unstable_by",
    "sort_unstable_by_key",
    "split_at_mut",
    "swap_with_slice",
    "as_mut_slice",
];

const NAMES: [&str; 59] = [
    "append",
    "clear",
    "clone_from",
    "clone_from_slice",
    "copy_from_slice",
    "copy_within",
    "dedup",
    "dedup_by",
    "dedup_by_key",
    "drain",
    "entry",
    "extend",
    "extend_from_slice",
    "fill",
    "fill_with",
    "get_or_insert_with",
    "insert",
    "insert_str",
    "make_ascii_lowercase",
    "make_ascii_uppercase",
    "make_contiguous",
    "next",
    "next_back",
    "pop",
    "pop_back",
    "pop_first",
    "pop_front",
    "pop_last",
    "push",
    "push_back",
    "push_front",
    "push_str",
    "read_exact",
    "read_line",
    "read_to_end",
    "remove",
    "reserve",
    "resize",
    "resize_with",
    "retain",
    "reverse",
    "rotate_left",
    "rotate_right",
    "select_nth_unstable",
    "shrink_to_fit",
    "sort",
    "sort_by",
    "sort_by_cached_key",
    "sort_by_key",
    "sort_unstable",
    "sort_unstable_by",
    "sort_unstable_by_key",
    "split_off",
    "swap_remove",
    "swap_with_slice",
    "truncate",
    "write_all",
    "write_fmt",
    "write_str",
];
