//! Checks of locality on a machine as it is: what the kernel shows is what locsteal detects, threads are where placement
//! says, and iterations move to near threads first.
//!
//! Only counts and order are judged, never time: the checks hold under any scheduler, and so under emulation too. The
//! program `booted` runs them inside machines that it boots, and on the machine that it is started on.
//!
//! | file | holds |
//! | --- | --- |
//! | `kernel` | what the kernel says, read plainly |
//! | `topology` | detected topology against that, and against what is known of the machine |
//! | `placement` | masks of workers, at every width |
//! | `callers` | where callers sit, and that their masks stay |
//! | `coverage` | each iteration once |
//! | `first_touch` | pages in the nodes of those who work on them |
//! | `jobs` | jobs near their submitters, and how many threads are pinned at once |
//! | `watched` | a pool whose workers the kernel is asked about |
//! | `stage`, `near_first` | whose iterations a thread takes when it runs out of its own |
//! | `masks` | masks that workers got before the first loop; masks, control groups and CPUs that change while loops run |

mod callers;
mod coverage;
mod first_touch;
mod jobs;
pub mod kernel;
mod masks;
pub mod near_first;
mod placement;
mod stage;
mod topology;
mod watched;

pub use masks::{SET_MASKS, set_masks};

use std::panic::catch_unwind;
use std::path::PathBuf;

use crate::machines;

/// The machine that the checks run on.
#[derive(Clone, Debug)]
pub struct Setting {
    /// What the kernel says of it.
    pub machine: kernel::Machine,
    /// What else is known of it.
    pub known: Option<&'static machines::Machine>,
    /// Seats of a pool by default, if known.
    pub seats: Option<usize>,
    /// The program that sets masks as [`set_masks`] does, in a process of its own. Without one, this process
    /// sets them.
    pub mask_setter: Option<PathBuf>,
    /// The control group of this process, if its CPUs may be changed.
    pub group: Option<PathBuf>,
    /// Whether CPUs may be switched off and on.
    pub unplug: bool,
}

/// A check: returns how many cases it has looked at, and panics if one is wrong.
pub type Check = fn(&Setting) -> usize;

/// All checks by name, in the order in which they run.
pub const CHECKS: [(&str, Check); 13] = [
    ("topology", topology::check),
    ("placement", placement::check),
    ("callers", callers::check),
    ("coverage", coverage::check),
    ("near first", near_first::check_order),
    ("crossing", near_first::check_crossing),
    ("rescue", near_first::check_rescue),
    ("first touch", first_touch::check),
    ("jobs, idle", jobs::check_idle),
    ("jobs, all at once", jobs::check_load),
    ("found masks", masks::check_found),
    ("changed masks", masks::check_changed),
    ("changed CPUs", masks::check_changed_cpus),
];

/// Runs all checks, prints a line for each, and returns whether all have passed.
pub fn run(setting: &Setting) -> bool {
    let mut good = true;
    for (name, check) in CHECKS {
        println!("begin {name}");
        match catch_unwind(|| check(setting)) {
            Ok(cases) => println!("passed {name}: {cases} cases"),
            Err(_) => {
                good = false;
                println!("failed {name}");
            }
        }
    }
    good
}
