//! How a topology prints: a tree of nodes and domains.

use std::fmt;

use super::{CpuSet, Topology};

/// A tree of nodes and domains with their CPUs, then the notes.
///
/// CPUs that are in a node and no domain, or in neither, have a line of their own.
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus = match self.cpus.len() {
            0 => "no known CPU".into(),
            count => format!("{} ({})", counted(count, "CPU"), self.cpus),
        };
        let nodes = counted(self.nodes.len(), "node");
        let domains = counted(self.domains.len(), "LLC domain");
        write!(f, "machine: {cpus}, {nodes}, {domains}")?;
        write_branches(f, "", &self.branches())?;
        for note in &self.notes {
            write!(f, "\nnote: {note}")?;
        }
        Ok(())
    }
}

struct Branch {
    text: String,
    twigs: Vec<Branch>,
}

impl Topology {
    fn branches(&self) -> Vec<Branch> {
        let mut rest = self.cpus.clone();
        let mut branches = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let mut text = format!("node {}: CPUs {}", node.id, node.cpus);
            if self.nodes.len() > 1 {
                text += ", distances";
                for to in 0..self.nodes.len() {
                    text += &format!(" {}", self.distance(index, to));
                }
            }
            let mut twigs: Vec<Branch> = node.domains().map(|index| self.domain(index)).collect();
            twigs.extend(self.outside_domains(&node.cpus));
            branches.push(Branch { text, twigs });
            rest = rest.difference(&node.cpus);
        }
        let unplaced = (0..self.domains.len()).filter(|&index| self.domains[index].node.is_none());
        branches.extend(unplaced.map(|index| self.domain(index)));
        branches.extend(self.outside_domains(&rest));
        branches
    }

    fn domain(&self, index: usize) -> Branch {
        let domain = &self.domains[index];
        let mut text = format!("domain {index}: CPUs {}", domain.cpus);
        if let Some(level) = domain.level {
            text += &format!(", L{level}");
        }
        Branch { text, twigs: Vec::new() }
    }

    fn outside_domains(&self, cpus: &CpuSet) -> Option<Branch> {
        let outside: CpuSet = cpus.iter().filter(|&cpu| self.domain_of(cpu).is_none()).collect();
        (!outside.is_empty())
            .then(|| Branch { text: format!("no known cache: CPUs {outside}"), twigs: Vec::new() })
    }
}

fn counted(count: usize, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

fn write_branches(f: &mut fmt::Formatter<'_>, indent: &str, branches: &[Branch]) -> fmt::Result {
    for (index, branch) in branches.iter().enumerate() {
        let is_last = index + 1 == branches.len();
        let (joint, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        write!(f, "\n{indent}{joint}{}", branch.text)?;
        write_branches(f, &format!("{indent}{below}"), &branch.twigs)?;
    }
    Ok(())
}
