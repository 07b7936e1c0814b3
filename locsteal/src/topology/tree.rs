//! How a topology prints: a tree of nodes and domains.

use std::fmt;

use super::Topology;

/// A tree of nodes and domains with their CPUs, then the notes.
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural =
            |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        write!(
            f,
            "machine: {} ({}), {}, {}",
            plural(self.cpus.len(), "CPU"),
            if self.cpus.is_empty() { "unknown".into() } else { self.cpus.to_string() },
            plural(self.nodes.len(), "node"),
            plural(self.domains.len(), "LLC domain"),
        )?;
        for (index, node) in self.nodes.iter().enumerate() {
            write!(f, "\n  node {}: CPUs {}", node.id, node.cpus)?;
            if self.nodes.len() > 1 {
                write!(f, ", distances")?;
                for to in 0..self.nodes.len() {
                    write!(f, " {}", self.distance(index, to))?;
                }
            }
            for domain in node.domains() {
                self.fmt_domain(f, domain)?;
            }
        }
        for domain in 0..self.domains.len() {
            if self.domains[domain].node.is_none() {
                self.fmt_domain(f, domain)?;
            }
        }
        for note in &self.notes {
            write!(f, "\n  note: {note}")?;
        }
        Ok(())
    }
}

impl Topology {
    fn fmt_domain(&self, f: &mut fmt::Formatter<'_>, index: usize) -> fmt::Result {
        let domain = &self.domains[index];
        write!(f, "\n    domain {index}: CPUs {}", domain.cpus)?;
        if let Some(level) = domain.level {
            write!(f, ", L{level}")?;
        }
        Ok(())
    }
}
