//! `list`: the lines and the peers.

use crate::lines::lines;
use crate::peers::{Entry, entries};

pub(super) fn list() {
    println!("Lines");
    for line in lines() {
        println!("  {:22} {}", line.name, line.what);
    }
    println!("\nPeers");
    for entry in entries() {
        let runs = match (runs_loops(&entry), runs_offload(&entry)) {
            (true, true) => "loops, offload",
            (true, false) => "loops",
            (false, true) => "offload",
            (false, false) => "",
        };
        let version = entry.version().unwrap_or_else(|error| format!("missing: {error:#}"));
        println!("  {:20} {:14} {}; {version}", entry.name, runs, entry.idiom);
    }
}

fn runs_loops(entry: &Entry) -> bool {
    lines().iter().any(|line| !line.is_offload() && entry.prepare(line).is_some())
}

fn runs_offload(entry: &Entry) -> bool {
    lines().iter().any(|line| line.is_offload() && entry.prepare(line).is_some())
}
