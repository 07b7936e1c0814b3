//! How a topology prints: a tree of nodes and domains.

use std::fmt;

use super::{CpuSet, Topology};

/// A tree of nodes and domains with their CPUs, by indentation, then the notes.
///
/// CPUs that are in a node and no domain, or in neither, have a line of their own.
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus = match self.cpus.len() {
            0 => "no known CPU".into(),
            count => format!("{} ({})", counted(count, "CPU"), self.cpus),
        };
        let nodes = counted(self.nodes.len(), "node");
        write!(f, "{cpus}, {nodes}, {}", counted(self.domains.len(), "LLC domain"))?;
        let mut rest = self.cpus.clone();
        for (index, node) in self.nodes.iter().enumerate() {
            write!(f, "\n  node {}: CPUs {}", node.id, node.cpus)?;
            if self.nodes.len() > 1 {
                f.write_str(", distances")?;
                for to in 0..self.nodes.len() {
                    write!(f, " {}", self.distance(index, to))?;
                }
            }
            for domain in node.domains() {
                self.write_domain(f, "    ", domain)?;
            }
            self.write_outside(f, "    ", &node.cpus)?;
            rest = rest.difference(&node.cpus);
        }
        for (index, domain) in self.domains.iter().enumerate() {
            if domain.node.is_none() {
                self.write_domain(f, "  ", index)?;
            }
        }
        self.write_outside(f, "  ", &rest)?;
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        Ok(())
    }
}

impl Topology {
    fn write_domain(&self, f: &mut fmt::Formatter<'_>, indent: &str, index: usize) -> fmt::Result {
        let domain = &self.domains[index];
        write!(f, "\n{indent}domain {index}: CPUs {}", domain.cpus)?;
        match domain.level {
            Some(level) => write!(f, ", L{level}"),
            None => Ok(()),
        }
    }

    fn write_outside(
        &self,
        f: &mut fmt::Formatter<'_>,
        indent: &str,
        cpus: &CpuSet,
    ) -> fmt::Result {
        let outside: CpuSet = cpus.iter().filter(|&cpu| self.domain_of(cpu).is_none()).collect();
        if outside.is_empty() {
            return Ok(());
        }
        write!(f, "\n{indent}no known cache: CPUs {outside}")
    }
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}
