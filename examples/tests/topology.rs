//! The `topology` program, run as a user does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use locsteal::TopologySnapshot;
use serde_json::Value;

fn topology(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_topology"));
    for variable in ["LOCSTEAL_THREADS", "LOCSTEAL_PLACEMENT", "LOCSTEAL_SPIN"] {
        command.env_remove(variable);
    }
    command.args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = topology(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = topology(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn snapshots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/machines/snapshots")
}

fn snapshot(name: &str) -> String {
    snapshots().join(name).with_extension("txt").to_str().unwrap().into()
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn another_machine_is_shown_as_a_tree() {
    let machine = snapshot("2n4l");
    assert_eq!(
        printed(&["--root", &machine]),
        "8 CPUs (0-7), 2 nodes, 4 LLC domains\n\
         ├─ node 0: CPUs 0-3, distances 10 32\n\
         │  ├─ L3 cache 0: CPUs 0-1\n\
         │  │  ├─ CPU 0: seat 0, steals from 1 | 2-3 | 4-7\n\
         │  │  └─ CPU 1: seat 1, steals from 0 | 2-3 | 5-7 4\n\
         │  └─ L3 cache 1: CPUs 2-3\n\
         │     ├─ CPU 2: seat 2, steals from 3 | 0-1 | 6-7 4-5\n\
         │     └─ CPU 3: seat 3, steals from 2 | 0-1 | 7 4-6\n\
         └─ node 1: CPUs 4-7, distances 32 10\n\
         \u{20}  ├─ L3 cache 2: CPUs 4-5\n\
         \u{20}  │  ├─ CPU 4: seat 4, steals from 5 | 6-7 | 0-3\n\
         \u{20}  │  └─ CPU 5: seat 5, steals from 4 | 6-7 | 1-3 0\n\
         \u{20}  └─ L3 cache 3: CPUs 6-7\n\
         \u{20}     ├─ CPU 6: seat 6, steals from 7 | 4-5 | 2-3 0-1\n\
         \u{20}     └─ CPU 7: seat 7, steals from 6 | 4-5 | 3 0-2\n\
         \n\
         8 seats, placement llc; victims in order: same cache | same node | other nodes by \
         distance\n\
         \n\
         locality is on: victims are tried in the thief's last-level cache first, then in its \
         node, then in other nodes by distance (4 caches in 2 nodes)\n\
         each worker is confined to the allowed CPUs of one last-level cache\n"
    );
}

#[test]
fn options_choose_the_pool() {
    let machine = snapshot("2n4l");
    let root = ["--root", &machine, "--placement", "cpu"];
    let seats_on = |options: &[&str]| -> Vec<u64> {
        let text = printed(&[&root, options, &["--json"]].concat());
        let shown: Value = serde_json::from_str(&text).unwrap();
        let seats = shown["seats"].as_array().unwrap();
        seats.iter().map(|seat| seat["cpu"].as_u64().unwrap()).collect()
    };
    assert_eq!(seats_on(&["--threads", "3"]), [0, 1, 2]);
    assert_eq!(seats_on(&["--threads", "3", "--near", "6"]), [4, 6, 7]);
    assert_eq!(seats_on(&["--threads", "2", "--layout", "spread"]), [0, 4]);
    assert_eq!(seats_on(&["--allowed", "3,6"]), [3, 6]);
    let free = printed(&["--root", &machine, "--threads", "2", "--locality", "flat"]);
    assert!(free.contains("2 seats, placement free; victims in order: in a cycle"), "{free}");
    assert!(free.contains("└─ on any allowed CPU\n   ├─ seat 0, steals from 1\n"), "{free}");
}

#[test]
fn json_tells_the_same_as_the_tree() {
    let shown: Value =
        serde_json::from_str(&printed(&["--root", &snapshot("asym"), "--json"])).unwrap();
    assert_eq!(shown["cpus"], "0-5");
    assert_eq!(shown["nodes"][1]["distances"], serde_json::json!([20, 10, 30]));
    assert_eq!(shown["domains"][2]["cpus"], "4-5");
    assert_eq!(shown["domains"][2]["level"], 3);
    assert_eq!(shown["placement"], "llc");
    assert_eq!(shown["seats"][2]["mask"], "2-3");
    let victims = &shown["seats"][2]["victims"];
    assert_eq!(victims["llc"], serde_json::json!([3]));
    assert_eq!(victims["remote"], serde_json::json!([0, 1, 4, 5]));
    assert_eq!(shown["locality"]["on"], true);
}

#[test]
fn a_picture_holds_every_cpu_and_closes_its_tags() {
    let file = scratch("machine.svg");
    for machine in ["1cpu", "2n4l", "hybrid-lp", "nocache", "smt-2n"] {
        printed(&["--root", &snapshot(machine), "--svg", file.to_str().unwrap()]);
        let svg = std::fs::read_to_string(&file).unwrap();
        let text = std::fs::read_to_string(snapshot(machine)).unwrap();
        let cpus = text.parse::<TopologySnapshot>().unwrap().topology().cpus().clone();
        for cpu in &cpus {
            assert!(svg.contains(&format!(">CPU {cpu}<")), "{machine}");
        }
        for tag in ["g", "text", "title", "style", "svg"] {
            let opened =
                svg.matches(&format!("<{tag}>")).count() + svg.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag} of {machine}");
        }
    }
}

#[test]
fn what_is_captured_shows_the_same() {
    let file = scratch("captured.txt");
    let path = file.to_str().unwrap();
    assert_eq!(printed(&["--capture", path]), "");
    let captured: TopologySnapshot = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    assert_eq!(captured.topology(), locsteal::Topology::detect());

    // From a folder, with the mask that goes with it.
    let (folder, first, second) = (scratch("machine"), scratch("first.txt"), scratch("second.txt"));
    let text = std::fs::read_to_string(snapshot("taskset")).unwrap();
    text.parse::<TopologySnapshot>().unwrap().unpack(&folder).unwrap();
    let root = ["--root", folder.to_str().unwrap(), "--allowed", "1,4-6"];
    printed(&[&root[..], &["--capture", first.to_str().unwrap()]].concat());
    assert_eq!(std::fs::read_to_string(&first).unwrap(), text);
    printed(&["--root", first.to_str().unwrap(), "--capture", second.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&second).unwrap(), text);
    assert_eq!(printed(&root), printed(&["--root", first.to_str().unwrap()]));
}

#[test]
fn mistakes_are_told_in_words() {
    let refusals: [(&[&str], &str); 4] = [
        (&["--root", "/nowhere"], "topology: /nowhere cannot be read: "),
        (&["--threads", "5000"], "topology: a pool of 5000 threads was asked for"),
        (&["--allowed", "3-1"], "byte 0 of the CPU list: the range 3-1 is the wrong way round"),
        (&["--capture", "/nowhere/file"], "topology: /nowhere/file cannot be written: "),
    ];
    for (arguments, words) in refusals {
        let said = refused(arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let said = refused(&["--root", manifest.to_str().unwrap()]);
    assert!(said.contains("line 1 of the topology snapshot: expected a path"), "{said}");
}

#[test]
fn an_unknown_machine_is_shown_as_such() {
    let folder = scratch("nothing");
    std::fs::create_dir_all(&folder).unwrap();
    let shown = printed(&["--root", folder.to_str().unwrap()]);
    assert!(shown.starts_with("0 CPUs (unknown), 0 nodes, 0 LLC domains\n"), "{shown}");
    assert!(shown.contains("cpu/online: not there: no CPU is known"), "{shown}");
}
