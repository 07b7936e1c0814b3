//! Process 1 of a booted machine: makes of the guest what the machine's description says, runs the checks in a process
//! of their own, and switches the machine off.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use locsteal_tests::locality::kernel::{cpu_list, set_mask};

use crate::initramfs::OTHER;
use crate::machines::Recipe;

const GROUPS: &str = "/sys/fs/cgroup";
/// The checks' control group.
pub(crate) const GROUP: &str = "/sys/fs/cgroup/checks";

/// The line that ends the output of the checks; a number follows, 0 if all have passed.
pub(crate) const END: &str = "end of checks:";

/// The first line of the output.
pub(crate) const UP: &str = "the machine is up";

/// Never returns: switches the machine off.
pub(crate) fn run(name: &str, arguments: &[&str]) -> ! {
    let outcome = Recipe::named(name)
        .ok_or_else(|| io::Error::other(format!("no machine is named {name}")))
        .and_then(|recipe| make(recipe).and_then(|()| check(recipe, arguments)));
    if let Err(error) = outcome {
        // To the console, which is shown when the last line is missing.
        eprintln!("cannot make {name}: {error}");
    }
    // SAFETY: takes no memory, and nothing is left that could be lost.
    unsafe { libc::reboot(libc::RB_AUTOBOOT) };
    unreachable!("the emulator ends when its machine starts anew")
}

fn make(recipe: &Recipe) -> io::Result<()> {
    for (kind, folder) in
        [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp")]
    {
        mount(kind, folder)?;
    }
    writeln!(port()?, "{UP}")?;
    let off = cpu_list(recipe.offline);
    for cpu in (1..recipe.places()).filter(|cpu| !off.contains(cpu)) {
        fs::write(format!("/sys/devices/system/cpu/cpu{cpu}/online"), "1")?;
    }
    if let Some([cpus, max]) = recipe.group {
        mount("cgroup2", GROUPS)?;
        fs::write(Path::new(GROUPS).join("cgroup.subtree_control"), "+cpuset +cpu")?;
        fs::create_dir(GROUP)?;
        for (file, limit) in [("cpuset.cpus", cpus), ("cpu.max", max)] {
            if !limit.is_empty() {
                fs::write(Path::new(GROUP).join(file), limit)?;
            }
        }
    }
    Ok(())
}

/// Runs the checks, or the other program if there is one.
fn check(recipe: &Recipe, arguments: &[&str]) -> io::Result<()> {
    let mut port = port()?;
    let mut command;
    if Path::new(OTHER).exists() {
        command = Command::new(OTHER);
        command.args(arguments);
    } else {
        command = Command::new("/init");
        command.args(["checks", recipe.name]);
    }
    command.stdin(Stdio::null());
    command.stdout(port.try_clone()?).stderr(port.try_clone()?);
    let (group, affinity) = (recipe.group.is_some(), recipe.affinity.map(cpu_list));
    // SAFETY: this process has one thread, so its child may do anything between fork and exec.
    unsafe {
        command.pre_exec(move || {
            if group {
                fs::write(Path::new(GROUP).join("cgroup.procs"), "0")?;
            }
            affinity.as_ref().map_or(Ok(()), |cpus| set_mask(0, cpus))
        });
    }
    let status = command.status()?;
    writeln!(port, "{END} {}", status.code().unwrap_or(-1))?;
    // SAFETY: waits until the port has sent everything.
    unsafe { libc::tcdrain(port.as_raw_fd()) };
    Ok(())
}

/// Where the output goes.
fn port() -> io::Result<File> {
    File::options().write(true).open("/dev/ttyS1")
}

fn mount(kind: &str, folder: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let (kind, folder) = (CString::new(kind)?, CString::new(folder)?);
    let (device, options) = (kind.as_ptr(), std::ptr::null());
    // SAFETY: the strings end with NUL and live until the call returns.
    match unsafe { libc::mount(device, folder.as_ptr(), kind.as_ptr(), 0, options) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
