//! The name that the user's crate knows the library by.
//!
//! A dependency can be renamed, `par = { package = "locsteal" }`, and the generated code must say `::par` then. The
//! manifest is read line by line, as far as that takes: tables, and keys with their strings.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use proc_macro2::{Ident, Span};

const PACKAGE: &str = "locsteal";

/// The crate's name in the package that is being compiled.
pub(crate) fn crate_name() -> Ident {
    static KNOWN: Mutex<Option<HashMap<PathBuf, String>>> = Mutex::new(None);
    let Some(directory) = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from) else {
        return ident(PACKAGE);
    };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let names = known.get_or_insert_default();
    let name = names.entry(directory.clone()).or_insert_with(|| look_up(&directory));
    ident(name)
}

fn ident(name: &str) -> Ident {
    let name = name.replace('-', "_");
    syn::parse_str(&name).unwrap_or_else(|_| Ident::new(PACKAGE, Span::call_site()))
}

fn look_up(directory: &Path) -> String {
    let Ok(manifest) = std::fs::read_to_string(directory.join("Cargo.toml")) else {
        return PACKAGE.to_owned();
    };
    let workspace = || {
        let mut above = directory.ancestors();
        above.find_map(|folder| {
            let text = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
            text.lines().any(|line| line.trim().starts_with("[workspace")).then_some(text)
        })
    };
    name_in(&manifest, workspace).unwrap_or_else(|| PACKAGE.to_owned())
}

/// The name that a manifest gives to the package; `workspace` gives the manifest whose dependencies it can inherit.
fn name_in(manifest: &str, workspace: impl FnOnce() -> Option<String>) -> Option<String> {
    let dependencies = dependencies(manifest);
    let direct = |d: &&Dependency| d.package.as_deref() == Some(PACKAGE);
    let plain = |d: &&Dependency| d.package.is_none() && !d.inherited && d.name == PACKAGE;
    if let Some(found) =
        dependencies.iter().find(direct).or_else(|| dependencies.iter().find(plain))
    {
        return Some(found.name.clone());
    }
    let inherited: Vec<&Dependency> = dependencies.iter().filter(|d| d.inherited).collect();
    if inherited.is_empty() {
        return None;
    }
    let shared = self::dependencies(&workspace()?);
    let means = |name: &str| {
        let found = shared.iter().find(|d| d.name == name);
        found.and_then(|d| d.package.clone()).unwrap_or_else(|| name.to_owned())
    };
    inherited.iter().find(|d| means(&d.name) == PACKAGE).map(|d| d.name.clone())
}

struct Dependency {
    name: String,
    package: Option<String>,
    inherited: bool,
}

/// Everything that stands in a table of dependencies.
fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut found: Vec<Dependency> = Vec::new();
    let mut table = Vec::new();
    for line in manifest.lines() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            table = keys(header.trim_start_matches('[').split(']').next().unwrap_or(""));
            // `[target.'cfg(..)'.dependencies]`, whose name may hold brackets: what counts is the end.
            if let Some((_, rest)) = line.rsplit_once('\'').or_else(|| line.rsplit_once('"'))
                && table.first().is_some_and(|first| first == "target")
            {
                table = keys(rest.trim_start_matches('.').trim_end_matches(']'));
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let mut path = table.clone();
        path.extend(keys(key.trim()));
        let Some(start) = path.iter().position(|key| {
            matches!(key.as_str(), "dependencies" | "dev-dependencies" | "build-dependencies")
        }) else {
            continue;
        };
        let Some(name) = path.get(start + 1) else { continue };
        let index = found.iter().position(|d| d.name == *name).unwrap_or_else(|| {
            found.push(Dependency { name: name.clone(), package: None, inherited: false });
            found.len() - 1
        });
        let dependency = &mut found[index];
        match path.get(start + 2).map(String::as_str) {
            Some("package") => dependency.package = string(value),
            Some("workspace") => dependency.inherited = value.trim().starts_with("true"),
            Some(_) => {}
            None => {
                dependency.package =
                    field(value, "package").and_then(string).or(dependency.package.take());
                dependency.inherited |=
                    field(value, "workspace").is_some_and(|v| v.starts_with("true"));
            }
        }
    }
    found
}

/// `a."b".c` as its keys.
fn keys(path: &str) -> Vec<String> {
    path.split('.').map(|key| key.trim().trim_matches(['"', '\'']).to_owned()).collect()
}

/// What follows `key =` in an inline table.
fn field<'a>(table: &'a str, key: &str) -> Option<&'a str> {
    let inside = table.trim().strip_prefix('{')?;
    let mut rest = inside;
    while let Some(at) = rest.find(key) {
        let (before, after) =
            (&rest[..at], rest[at + key.len()..].trim_start().trim_start_matches(['"', '\'']));
        let begins = before.trim_end().trim_end_matches(['"', '\'']).trim_end();
        if let Some(value) = after.trim_start().strip_prefix('=')
            && (begins.is_empty() || begins.ends_with(','))
        {
            return Some(value.trim_start());
        }
        rest = &rest[at + key.len()..];
    }
    None
}

/// The string at the beginning of a value.
fn string(value: &str) -> Option<String> {
    let value = value.trim();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (text, _) = value[1..].split_once(quote)?;
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_found_however_it_is_written() {
        for (manifest, name) in [
            ("[dependencies]\nlocsteal = \"0.1\"", Some("locsteal")),
            ("[dependencies]\nlocsteal = { path = \"..\" }", Some("locsteal")),
            ("[dependencies]\npar = { package = \"locsteal\", version = \"0.1\" }", Some("par")),
            (
                "[dependencies]\npar = { version = \"0.1\", package = 'locsteal' } # renamed",
                Some("par"),
            ),
            ("[dependencies.par]\nversion = \"0.1\"\npackage = \"locsteal\"", Some("par")),
            ("[dependencies]\npar.package = \"locsteal\"\npar.version = \"0.1\"", Some("par")),
            ("[dev-dependencies]\n\"par-for\" = { package = \"locsteal\" }", Some("par-for")),
            ("[target.'cfg(unix)'.dependencies]\npar = { package = \"locsteal\" }", Some("par")),
            ("[target.'cfg(any(a, b))'.dev-dependencies.par]\npackage = \"locsteal\"", Some("par")),
            ("[dependencies]\nlocsteal.workspace = true", Some("locsteal")),
            ("[dependencies]\nfast = { workspace = true }", Some("fast")),
            ("[dependencies.fast]\nworkspace = true", Some("fast")),
            ("[dependencies]\nrayon = \"1\"\n[package]\nname = \"locsteal\"", None),
            ("[dependencies]\nother = { package = \"locsteal-macros\" }", None),
            ("[features]\nlocsteal = []", None),
            ("", None),
            ("[dependencies\n= \"\nlocsteal", None),
        ] {
            let workspace = || {
                Some(
                    "[workspace.dependencies]\nlocsteal = \"0.1\"\nfast = { package = \"locsteal\" }"
                        .to_owned(),
                )
            };
            assert_eq!(name_in(manifest, workspace).as_deref(), name, "{manifest}");
        }
    }
}
