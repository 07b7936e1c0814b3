//! Choosing lines and peers by name.

use anyhow::{Result, anyhow, bail};

use crate::lines::{Line, lines};
use crate::peers::{Entry, entries};
use crate::report::Missing;

/// The lines that `wanted` names, by name, beginning or group; all, if it names none.
pub(super) fn choose_lines(wanted: &[String]) -> Result<Vec<Line>> {
    choose(lines(), wanted, "line", |line| (line.name, line.group.file()))
}

/// The peers that `wanted` names, by name or beginning; all, if it names none.
pub(super) fn choose_peers(wanted: &[String]) -> Result<Vec<Entry>> {
    choose(entries(), wanted, "peer", |entry| (entry.name, ""))
}

/// The peer of this name.
pub(super) fn find_peer(name: &str) -> Result<Entry> {
    let entry = entries().into_iter().find(|entry| entry.name == name);
    entry.ok_or_else(|| anyhow!("there is no peer {name:?}"))
}

/// Those of `all` that `wanted` names; all, if it names none.
fn choose<T>(
    all: Vec<T>,
    wanted: &[String],
    what: &str,
    names: impl Fn(&T) -> (&'static str, &'static str),
) -> Result<Vec<T>> {
    let admits = |item: &T, wanted: &String| {
        let (name, group) = names(item);
        if let Some(exact) = wanted.strip_prefix('=') {
            return name == exact;
        }
        name == wanted
            || group == wanted
            || name.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with('-'))
    };
    if let Some(unknown) = wanted.iter().find(|w| !all.iter().any(|item| admits(item, w))) {
        let known: Vec<_> = all.iter().map(|item| names(item).0).collect();
        bail!("there is no {what} {unknown:?}; there are {}", known.join(", "));
    }
    let chosen = |item: &T| wanted.is_empty() || wanted.iter().any(|w| admits(item, w));
    Ok(all.into_iter().filter(chosen).collect())
}

/// The peers that are there, the base among them, and those that are missing.
pub(super) fn sort_out(chosen: Vec<Entry>, base: &str) -> Result<(Vec<Entry>, Vec<Missing>)> {
    let mut peers = chosen;
    if !peers.iter().any(|entry| entry.name == base) {
        let entry = entries().into_iter().find(|entry| entry.name == base);
        peers.push(entry.ok_or_else(|| anyhow!("there is no peer {base:?} to be the base"))?);
    }
    let mut missing = Vec::new();
    peers.retain(|entry| match entry.version() {
        Ok(_) => true,
        Err(error) => {
            missing.push(Missing { peer: entry.name.to_owned(), why: format!("{error:#}") });
            false
        }
    });
    if let Some(lacking) = missing.iter().find(|m| m.peer == base) {
        bail!("the base {base} is missing: {}", lacking.why);
    }
    Ok((peers, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(wanted: &[&str]) -> Result<Vec<&'static str>> {
        let wanted: Vec<String> = wanted.iter().map(ToString::to_string).collect();
        Ok(choose_lines(&wanted)?.into_iter().map(|line| line.name).collect())
    }

    #[test]
    fn lines_are_chosen_by_name_beginning_or_group() {
        assert_eq!(names(&[]).unwrap().len(), lines().len());
        assert_eq!(names(&["axpy-1e3"]).unwrap(), ["axpy-1e3"]);
        assert_eq!(names(&["=launch-1e3"]).unwrap(), ["launch-1e3"]);
        assert_eq!(names(&["launch-1e3"]).unwrap().len(), 3);
        assert_eq!(names(&["uneven"]).unwrap(), ["triangular", "hot-front", "heavy-tail"]);
        assert_eq!(names(&["sum", "nested"]).unwrap(), ["sum-1e6", "sum-reproducible", "nested"]);
        let error = names(&["axpi"]).unwrap_err().to_string();
        assert!(error.contains("axpi") && error.contains("axpy-1e3"), "{error}");
    }

    #[test]
    fn an_absent_peer_is_named_and_the_base_always_takes_part() {
        let rayon = || entries().into_iter().filter(|e| e.name == "rayon").collect::<Vec<_>>();
        let (peers, missing) = sort_out(rayon(), "serial").unwrap();
        assert_eq!(peers.iter().map(|e| e.name).collect::<Vec<_>>(), ["rayon", "serial"]);
        assert!(missing.is_empty());
        assert!(sort_out(rayon(), "sereal").is_err());
        let (peers, missing) = sort_out(entries(), "serial").unwrap();
        assert_eq!(peers.len() + missing.len(), entries().len());
    }
}
