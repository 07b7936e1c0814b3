//! The command line, and what is done for each of its words.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use locsteal_tests::locality::kernel::Machine;
use locsteal_tests::locality::{self, SET_MASKS, Setting, set_masks};
use locsteal_tests::machines::MACHINES;

use crate::emulator::{Emulator, End, Limits, Other};
use crate::guest;
use crate::machines::{RECIPES, Recipe};
use crate::table::{self, Facts, Outcome, Row};

const USAGE: &str = "\
Boots made-up machines in an emulator and runs the checks of locality in each.

usage: booted all       every machine
       booted short     those that show the most
       booted NAME...   these
       booted in NAME PROGRAM ARGUMENTS..
                        runs another program in a machine: one that is linked with the libraries of this one
       booted list      tells their names
       booted snapshots tells what the library reads in the snapshots of machines, without an emulator
       booted here      runs the checks on this machine, without an emulator

exit code: 0 all checks have passed, 1 not so, 2 wrong usage, 3 something is missing";

/// The longest that a machine may take. More than ten times what the largest takes on a machine that has nothing else to do.
const LIMITS: Limits = Limits { boot: Duration::from_secs(300), all: Duration::from_secs(900) };

pub(crate) fn run(words: &[String]) -> ExitCode {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words {
        ["all"] => {
            let booted = |name| RECIPES.iter().any(|recipe| recipe.name == name);
            let others = MACHINES.iter().filter(|machine| !booted(machine.name));
            boot_all(&Vec::from_iter(RECIPES), others.map(Row::of_snapshot).collect())
        }
        ["short"] => {
            let short = RECIPES.iter().filter(|recipe| recipe.short);
            boot_all(&short.collect::<Vec<_>>(), Vec::new())
        }
        ["list"] => {
            for recipe in RECIPES {
                println!("{:<12} {}", recipe.name, recipe.about);
            }
            ExitCode::SUCCESS
        }
        ["snapshots"] => {
            let rows: Vec<Row> = MACHINES.iter().map(Row::of_snapshot).collect();
            print!("{}", table::markdown(&rows));
            ExitCode::SUCCESS
        }
        ["here"] => check(&setting(None)),
        // What a guest runs. The kernel hands some of its own arguments on to process 1.
        [..] if std::process::id() == 1 => match words.iter().position(|word| *word == "guest") {
            Some(at) if at + 1 < words.len() => guest::run(words[at + 1], &words[at + 2..]),
            _ => usage(None),
        },
        ["in", name, program, ref arguments @ ..] => match Recipe::named(name) {
            Some(recipe) => run_in(recipe, &Other { program: Path::new(program), arguments }),
            None => usage(Some(&name)),
        },
        ["checks", name] => check(&setting(Recipe::named(name))),
        [SET_MASKS, ref masks @ ..] => match set_masks(masks) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("masks cannot be set: {error}");
                ExitCode::FAILURE
            }
        },
        [] => usage(None),
        _ => {
            let recipes: Option<Vec<&'static Recipe>> =
                words.iter().map(|name| Recipe::named(name)).collect();
            match recipes {
                Some(recipes) => boot_all(&recipes, Vec::new()),
                None => usage(words.iter().find(|name| Recipe::named(name).is_none())),
            }
        }
    }
}

fn usage(unknown: Option<&&str>) -> ExitCode {
    if let Some(unknown) = unknown {
        eprintln!("no machine is named {unknown}: `booted list` tells their names\n");
    }
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn setting(recipe: Option<&Recipe>) -> Setting {
    Setting {
        machine: Machine::read(),
        known: recipe.map(Recipe::known),
        seats: recipe.and_then(|recipe| recipe.known().seats),
        mask_setter: std::env::current_exe().ok(),
        group: recipe.filter(|recipe| recipe.name == "remask").map(|_| PathBuf::from(guest::GROUP)),
        unplug: recipe.is_some_and(|recipe| recipe.name == "offline"),
    }
}

fn check(setting: &Setting) -> ExitCode {
    table::tell_facts(&setting.machine);
    if locality::run(setting) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Boots machines one after the other, and tells what came of it in a table, which ends with some more rows.
fn boot_all(recipes: &[&'static Recipe], more: Vec<Row>) -> ExitCode {
    let emulator = match Emulator::find() {
        Ok(emulator) => emulator,
        Err(missing) => {
            eprintln!("{missing}");
            return ExitCode::from(3);
        }
    };
    let mut rows: Vec<Row> = recipes.iter().map(|recipe| boot(&emulator, recipe)).collect();
    let (all, passed) = (rows.len(), rows.iter().filter(|row| row.is_good()).count());
    rows.extend(more);
    print!("\n{}", table::markdown(&rows));
    println!("\n{passed} passed, {} failed", all - passed);
    if passed == all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Boots a machine and runs a program in it; with its exit code, 1 if that is not known.
fn run_in(recipe: &Recipe, other: &Other<'_>) -> ExitCode {
    let emulator = match Emulator::find() {
        Ok(emulator) => emulator,
        Err(missing) => {
            eprintln!("{missing}");
            return ExitCode::from(3);
        }
    };
    let mut code: Option<u8> = None;
    let end = emulator.run(recipe, Some(other), LIMITS, |line| {
        if let Some(ended) = line.strip_prefix(guest::END) {
            code = ended.trim().parse().ok();
        } else if line != guest::UP {
            println!("{line}");
        }
    });
    match (end, code) {
        (_, Some(code)) => ExitCode::from(code),
        (Ok(end), None) => {
            let console = emulator.console(recipe);
            eprintln!("the program did not come to its end: {end:?}; see {}", console.display());
            ExitCode::FAILURE
        }
        (Err(error), None) => {
            eprintln!("the emulator cannot be run: {error}");
            ExitCode::FAILURE
        }
    }
}

fn boot(emulator: &Emulator, recipe: &'static Recipe) -> Row {
    println!("{}: {}", recipe.name, recipe.about);
    let start = Instant::now();
    let (mut facts, mut ended) = (Facts::default(), None);
    let mut run = || {
        emulator.run(recipe, None, LIMITS, |line| {
            if let Some(code) = line.strip_prefix(guest::END) {
                ended = Some(code.trim() == "0");
            } else if line != guest::UP && !facts.take(line) {
                println!("  {line}");
            }
        })
    };
    let mut end = run();
    if matches!(end, Ok(End::NeverUp)) {
        // Now and then an emulated kernel hangs before it has done anything, which says nothing of what is tested.
        println!(
            "  it did not come up in {:.0} s, and is booted again",
            start.elapsed().as_secs_f32()
        );
        end = run();
    }
    let good = ended == Some(true);
    let seconds = start.elapsed().as_secs_f32();
    println!("  {} in {seconds:.0} s", if good { "all passed" } else { "FAILED" });
    match end {
        Err(error) => println!("  the emulator cannot be run: {error}"),
        Ok(End::OutOfTime) => println!("  it was still at this after {} s", LIMITS.all.as_secs()),
        Ok(end) if ended.is_none() => {
            println!(
                "  the machine {}; its last messages:",
                if end == End::NeverUp {
                    "did not come up either time"
                } else {
                    "went off before the checks were over"
                }
            );
            let console = std::fs::read_to_string(emulator.console(recipe)).unwrap_or_default();
            let lines: Vec<&str> = console.lines().collect();
            for line in &lines[lines.len().saturating_sub(20)..] {
                println!("  | {line}");
            }
        }
        Ok(_) => {}
    }
    Row { name: recipe.name, facts, outcome: Outcome::Booted { good } }
}
