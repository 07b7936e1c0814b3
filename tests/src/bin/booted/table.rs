//! What is told of machines in the end: one row each.

use std::collections::BTreeMap;
use std::fmt::Write;

use locsteal::Pool;
use locsteal_tests::locality::CHECKS;
use locsteal_tests::locality::kernel::{Machine, Nearness, Numbers, list};

use locsteal_tests::machines;

/// A line of the guest's output that begins so has a fact about the machine: its name, a colon, what it is.
const FACT: &str = "fact ";

/// Prints facts about this machine, for [`Facts::take`] on the other side.
pub(crate) fn tell_facts(machine: &Machine) {
    let lists = |sets: Vec<Numbers>| sets.iter().map(list).collect::<Vec<_>>().join(" ");
    println!("{FACT}CPUs: {}", list(&machine.allowed));
    println!("{FACT}domains: {}", lists(machine.domains()));
    println!("{FACT}nodes: {}", lists(machine.usable_nodes().into_values().collect()));
    println!("{FACT}tiers: {}", tiers(machine));
    let pool = Pool::builder().plan().expect("a plan");
    println!("{FACT}pool: {} seats, {}", pool.threads(), pool.placement());
}

/// How many CPUs are how near to the first one.
fn tiers(machine: &Machine) -> String {
    let mut tiers: BTreeMap<Nearness, usize> = BTreeMap::new();
    let mut cpus = machine.allowed.iter();
    let first = *cpus.next().expect("a process may use some CPU");
    for &cpu in cpus {
        *tiers.entry(machine.nearness(first, cpu)).or_default() += 1;
    }
    let tiers: Vec<String> = tiers.iter().map(|(near, count)| format!("{count} {near}")).collect();
    tiers.join(", ")
}

/// What a guest has told.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    told: BTreeMap<String, String>,
    passed: usize,
    cases: usize,
}

impl Facts {
    /// Looks at a line of the guest's output; `true` if it is for the table alone.
    pub(crate) fn take(&mut self, line: &str) -> bool {
        if let Some((name, value)) = line.strip_prefix(FACT).and_then(|fact| fact.split_once(':')) {
            self.told.insert(name.to_owned(), value.trim().to_owned());
            return true;
        }
        if let Some((_, cases)) =
            line.strip_prefix("passed ").and_then(|line| line.split_once(": "))
        {
            self.passed += 1;
            self.cases += cases.trim_end_matches(" cases").parse::<usize>().unwrap_or(0);
        }
        false
    }
}

/// A machine and what came of its checks.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) facts: Facts,
    pub(crate) outcome: Outcome,
}

pub(crate) enum Outcome {
    Booted {
        good: bool,
    },
    /// Its snapshot was read.
    Snapshot,
}

impl Row {
    pub(crate) fn of_snapshot(machine: &'static machines::Machine) -> Self {
        let names = COLUMNS.map(|(name, _)| name.to_owned());
        let told = names.into_iter().zip(machine.facts()).collect();
        let facts = Facts { told, ..Facts::default() };
        Self { name: machine.name, facts, outcome: Outcome::Snapshot }
    }

    /// Whether it was booted and has passed all checks.
    pub(crate) fn is_good(&self) -> bool {
        matches!(self.outcome, Outcome::Booted { good: true })
    }
}

const COLUMNS: [(&str, &str); 5] = [
    ("CPUs", "CPUs"),
    ("domains", "LLC domains"),
    ("nodes", "nodes"),
    ("tiers", "as seen from the first CPU"),
    ("pool", "pool by default"),
];

/// The table, in Markdown.
pub(crate) fn markdown(rows: &[Row]) -> String {
    let mut text = String::from("| machine |");
    for (_, title) in COLUMNS {
        write!(text, " {title} |").expect("strings take text");
    }
    text.push_str(" checks passed |\n|");
    text.push_str(&" --- |".repeat(COLUMNS.len() + 2));
    text.push('\n');
    for Row { name, facts, outcome } in rows {
        write!(text, "| `{name}` |").expect("strings take text");
        for (name, _) in COLUMNS {
            let fact = facts.told.get(name).map_or("?", String::as_str);
            write!(text, " {} |", if fact.is_empty() { "-" } else { fact }).expect("as above");
        }
        let Outcome::Booted { good } = outcome else {
            text.push_str(" its snapshot's |\n");
            continue;
        };
        let verdict = if *good { "" } else { "**FAILED**, " };
        let (passed, all) = (facts.passed, CHECKS.len());
        writeln!(text, " {verdict}{passed} of {all}, {} cases |", facts.cases).expect("as above");
    }
    text
}
