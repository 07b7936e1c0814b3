//! The machine as a tree in text.

use std::fmt::Write;

use locsteal::{CpuSet, Locality, Placement, Tier};

use crate::{View, counted};

struct Branch {
    text: String,
    twigs: Vec<Branch>,
}

impl Branch {
    fn new(text: String, twigs: Vec<Self>) -> Self {
        Self { text, twigs }
    }
}

pub(crate) fn describe(view: &View) -> String {
    let topology = view.plan.topology();
    let mut text = format!(
        "{} ({}), {}, {}\n",
        counted(topology.cpus().len(), "CPU"),
        if topology.cpus().is_empty() { "unknown".into() } else { topology.cpus().to_string() },
        counted(topology.nodes().len(), "node"),
        counted(topology.domains().len(), "LLC domain"),
    );
    print_branches(&mut text, "", &machine(view));
    let _ = writeln!(
        text,
        "\n{}, placement {}; victims in order: {}\n\n{}",
        counted(view.plan.threads(), "seat"),
        view.plan.placement(),
        match view.locality {
            Locality::Llc => "same cache | same node | other nodes by distance",
            Locality::Node => "same node | other nodes by distance",
            _ => "in a cycle",
        },
        view.plan.locality()
    );
    text
}

fn machine(view: &View) -> Vec<Branch> {
    let topology = view.plan.topology();
    let mut rest = topology.cpus().clone();
    let mut branches = Vec::new();
    for (index, node) in topology.nodes().iter().enumerate() {
        let mut text = format!("node {}: CPUs {}", node.id(), node.cpus());
        if topology.nodes().len() > 1 {
            text += ", distances";
            for to in 0..topology.nodes().len() {
                let _ = write!(text, " {}", topology.distance(index, to));
            }
        }
        let mut twigs: Vec<Branch> = node.domains().map(|index| domain(view, index)).collect();
        twigs.extend(outside_domains(view, node.cpus()));
        branches.push(Branch::new(text, twigs));
        rest = rest.difference(node.cpus());
    }
    for (index, outside) in topology.domains().iter().enumerate() {
        if outside.node().is_none() {
            branches.push(domain(view, index));
        }
    }
    branches.extend(outside_domains(view, &rest));
    branches.extend(anywhere(view));
    branches
}

fn domain(view: &View, index: usize) -> Branch {
    let domain = &view.plan.topology().domains()[index];
    let level = domain.level().map(|level| format!("L{level} ")).unwrap_or_default();
    let text = format!("{level}cache {index}: CPUs {}", domain.cpus());
    Branch::new(text, cpus(view, domain.cpus()))
}

fn outside_domains(view: &View, cpus_of_node: &CpuSet) -> Option<Branch> {
    let topology = view.plan.topology();
    let outside: CpuSet =
        cpus_of_node.iter().filter(|&cpu| topology.domain_of(cpu).is_none()).collect();
    (!outside.is_empty())
        .then(|| Branch::new(format!("no known cache: CPUs {outside}"), cpus(view, &outside)))
}

fn cpus(view: &View, cpus: &CpuSet) -> Vec<Branch> {
    cpus.iter()
        .map(|cpu| {
            let core = match view.plan.topology().core_of(cpu) {
                Some(core) if core.len() > 1 => format!(" (core {core})"),
                _ => String::new(),
            };
            let seats =
                (0..view.plan.threads()).filter(|&seat| view.plan.home(seat).cpu == Some(cpu));
            let mut seats: Vec<Branch> = seats.map(|seat| self::seat(view, seat)).collect();
            if seats.len() == 1 {
                let seat = seats.remove(0);
                return Branch::new(format!("CPU {cpu}{core}: {}", seat.text), seat.twigs);
            }
            Branch::new(format!("CPU {cpu}{core}"), seats)
        })
        .collect()
}

/// The seats that stand for no CPU.
fn anywhere(view: &View) -> Option<Branch> {
    let seats: Vec<Branch> = (0..view.plan.threads())
        .filter(|&seat| view.plan.home(seat).cpu.is_none())
        .map(|seat| self::seat(view, seat))
        .collect();
    (!seats.is_empty()).then(|| Branch::new("on any allowed CPU".into(), seats))
}

fn seat(view: &View, seat: usize) -> Branch {
    let topology = view.plan.topology();
    let home = view.plan.home(seat);
    let runs_on = home.mask.as_ref().unwrap_or(topology.cpus());
    let domain = home.cpu.and_then(|cpu| topology.domain_of(cpu));
    let is_usual = match view.plan.placement() {
        _ if topology.cpus().is_empty() => true,
        Placement::Llc => domain.is_some_and(|domain| topology.domains()[domain].cpus() == runs_on),
        _ => true,
    };
    let place = if is_usual { String::new() } else { format!(" on CPUs {runs_on}") };
    let victims = victims(view, seat);
    let victims = if victims.is_empty() { "nobody" } else { &victims };
    Branch::new(format!("seat {seat}{place}, steals from {victims}"), Vec::new())
}

/// The victims of a seat: those that are equally near between bars, consecutive ones as ranges.
fn victims(view: &View, seat: usize) -> String {
    let node = |seat: usize| view.plan.home(seat).node;
    let nearness = |&(victim, tier): &(usize, Tier)| match (view.locality, tier) {
        (Locality::Llc | Locality::Node, Tier::Remote) => {
            let distance = node(seat).zip(node(victim));
            (tier, distance.map(|(from, to)| view.plan.topology().distance(from, to)))
        }
        (Locality::Llc, _) => (tier, None),
        _ => (Tier::Unknown, None),
    };
    let victims = view.plan.victims(seat, view.locality);
    let groups = victims.chunk_by(|before, after| nearness(before) == nearness(after));
    let groups: Vec<String> = groups
        .map(|group| in_ranges(&group.iter().map(|&(victim, _)| victim).collect::<Vec<_>>()))
        .collect();
    groups.join(" | ")
}

/// Numbers in their order, with runs of consecutive ones as `first-last`.
fn in_ranges(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|&before, &after| after == before + 1);
    let runs: Vec<String> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect();
    runs.join(" ")
}

fn print_branches(text: &mut String, indent: &str, branches: &[Branch]) {
    for (index, branch) in branches.iter().enumerate() {
        let is_last = index + 1 == branches.len();
        let (joint, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let _ = writeln!(text, "{indent}{joint}{}", branch.text);
        print_branches(text, &format!("{indent}{below}"), &branch.twigs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_keep_the_order() {
        assert_eq!(in_ranges(&[5, 6, 7, 4, 1, 2, 9]), "5-7 4 1-2 9");
        assert_eq!(in_ranges(&[]), "");
    }
}
