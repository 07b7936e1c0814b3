//! Compiles the shims of the peers that are not Rust, each into a shared library of its own, and notes which version of
//! each Rust peer the lock file names. A compiler or library that is absent does not fail the build: the peer is then
//! listed as missing, with the packages to install.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Shim {
    /// In the environment variables that the peers read.
    name: &'static str,
    feature: &'static str,
    source: &'static str,
    cpp: bool,
    compilers: &'static [&'static str],
    flags: &'static [&'static str],
    libraries: &'static [&'static str],
    packages: &'static str,
}

const SHIMS: [Shim; 3] = [
    Shim {
        name: "LIBGOMP",
        feature: "CARGO_FEATURE_OPENMP",
        source: "openmp.c",
        cpp: false,
        compilers: &["gcc"],
        flags: &["-fopenmp"],
        libraries: &[],
        packages: "gcc",
    },
    Shim {
        name: "LIBOMP",
        feature: "CARGO_FEATURE_OPENMP",
        source: "openmp.c",
        cpp: false,
        compilers: &[
            "clang-22", "clang-21", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16",
            "clang-15", "clang-14", "clang",
        ],
        flags: &["-fopenmp=libomp"],
        libraries: &[],
        packages: "clang-22 libomp-22-dev (or clang libomp-dev)",
    },
    Shim {
        name: "TBB",
        feature: "CARGO_FEATURE_TBB",
        source: "tbb.cpp",
        cpp: true,
        compilers: &["g++", "clang++"],
        flags: &["-std=c++17"],
        libraries: &["-ltbb"],
        packages: "g++ libtbb-dev",
    },
];

const RUST_PEERS: [(&str, &str); 10] = [
    ("rayon", "RAYON"),
    ("fork_union", "FORK_UNION"),
    ("paralight", "PARALIGHT"),
    ("chili", "CHILI"),
    ("forte", "FORTE"),
    ("orx-parallel", "ORX"),
    ("threadteam", "THREADTEAM"),
    ("bevy_tasks", "BEVY"),
    ("tokio", "TOKIO"),
    ("locsteal", "LOCSTEAL"),
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=shims");
    note_versions();
    note_compiler();
    note_alignment();
    let mut missing = false;
    for shim in &SHIMS {
        if env::var_os(shim.feature).is_none() {
            continue;
        }
        match compile(shim) {
            Ok(library) => {
                println!("cargo:rustc-env=SHIM_{}={}", shim.name, library.display());
            }
            Err(reason) => {
                missing = true;
                let what = format!("{reason}; install {}", shim.packages);
                println!("cargo:rustc-env=SHIM_{}_MISSING={what}", shim.name);
                println!("cargo:warning=a peer is missing: {what}");
            }
        }
    }
    // Look again once packages have been installed.
    let installed = Path::new("/var/lib/dpkg/status");
    if missing && installed.exists() {
        println!("cargo:rerun-if-changed={}", installed.display());
    }
}

/// Whether loops begin at lines of the instruction cache, as `cargo measure` has it.
fn note_alignment() {
    if env::var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("align-loops")) {
        println!("cargo:rustc-env=LOCSTEAL_LOOPS_ALIGNED=1");
    }
}

/// Compiles with the first compiler that can; else says, in one line, what the first one that is there complained of.
fn compile(shim: &Shim) -> Result<PathBuf, String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let library = out.join(format!("lib{}_shim.so", shim.name.to_lowercase()));
    let mut complaint = None;
    for compiler in shim.compilers {
        if Command::new(compiler).arg("--version").output().is_err() {
            continue;
        }
        let mut build = cc::Build::new();
        build
            .cpp(shim.cpp)
            .compiler(compiler)
            .pic(true)
            .opt_level(3)
            .include("shims")
            .cargo_metadata(false);
        for flag in shim.flags {
            build.flag(flag);
        }
        let Ok(tool) = build.try_get_compiler() else { continue };
        let output = tool
            .to_command()
            .arg("-shared")
            .arg("-o")
            .arg(&library)
            .arg(Path::new("shims").join(shim.source))
            .args(shim.libraries)
            .output();
        match output {
            Ok(output) if output.status.success() => return Ok(library),
            Ok(output) => {
                let text = String::from_utf8_lossy(&output.stderr);
                let line =
                    text.lines().find(|line| line.contains("error")).unwrap_or("it failed").trim();
                complaint.get_or_insert(format!("{compiler} cannot build it ({line})"));
            }
            Err(error) => {
                complaint.get_or_insert(format!("{compiler} cannot be run ({error})"));
            }
        }
    }
    Err(complaint
        .unwrap_or_else(|| format!("there is no {}", shim.compilers.last().expect("not empty"))))
}

fn note_versions() {
    let lock = Path::new("..").join("Cargo.lock");
    println!("cargo:rerun-if-changed={}", lock.display());
    let lock = std::fs::read_to_string(lock).unwrap_or_default();
    for (package, variable) in RUST_PEERS {
        let entry =
            lock.split("[[package]]").find(|e| e.contains(&format!("\nname = \"{package}\"\n")));
        let version = entry
            .and_then(|e| e.split("\nversion = \"").nth(1))
            .and_then(|rest| rest.split('"').next())
            .unwrap_or("?");
        println!("cargo:rustc-env=VERSION_{variable}={version}");
    }
}

fn note_compiler() {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let output = Command::new(rustc).arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    println!("cargo:rustc-env=COMPILER={}", version.as_deref().unwrap_or("rustc").trim());
}
