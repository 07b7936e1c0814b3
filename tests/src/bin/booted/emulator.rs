//! The emulator: which options make a machine, and one run of it.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::initramfs;
use crate::machines::Recipe;

const PROGRAM: &str = "qemu-system-x86_64";

/// A server part of Intel's, for which the kernel reads which CPUs share a cache from an instruction that the emulator
/// has. Without CMPXCHG16B, which this emulator gets wrong in a way that some kernels trip over.
const CPU: &str = "max,vendor=GenuineIntel,family=6,model=85,stepping=7,l3-cache=on,cx16=off";

/// One CPU is started by the kernel and the others by process 1, which is far faster than CPUs that wait for each
/// other while they are emulated in turn. The clock is trusted and not measured, for it is an emulated one. Pages stay where
/// they were first touched.
const KERNEL: &str = "console=ttyS0 quiet panic=-1 nokaslr mitigations=off maxcpus=1 tsc=reliable no_timer_check \
     random.trust_cpu=on numa_balancing=disable nowatchdog rcupdate.rcu_cpu_stall_suppress=1 rcupdate.rcu_expedited=1";

/// What booting needs and where it is.
pub(crate) struct Emulator {
    program: PathBuf,
    kernel: PathBuf,
    /// For files that live as long as a run, and for the kernel's messages.
    folder: PathBuf,
}

/// A program to run in place of the checks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Other<'a> {
    pub(crate) program: &'a Path,
    /// Without blanks, since they come to the guest as its kernel's.
    pub(crate) arguments: &'a [&'a str],
}

/// How long a run may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Until the first line is printed.
    pub(crate) boot: Duration,
    /// In all.
    pub(crate) all: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The emulator has ended by itself.
    Over,
    OutOfTime,
    /// Not a line was printed: the machine has hung or crashed before its process 1 ran.
    NeverUp,
}

impl Emulator {
    /// Looks for what is needed.
    ///
    /// # Errors
    ///
    /// What is missing and how to get it, in words.
    pub(crate) fn find() -> Result<Self, String> {
        if !cfg!(target_arch = "x86_64") {
            return Err("the guests run this very program: build it for x86-64".into());
        }
        let folder: PathBuf =
            [env!("CARGO_MANIFEST_DIR"), "..", "target", "machines"].iter().collect();
        let program = std::env::var_os("PATH").and_then(|path| {
            std::env::split_paths(&path)
                .map(|folder| folder.join(PROGRAM))
                .find(|file| file.is_file())
        });
        let kernel = std::env::var_os("LOCSTEAL_KERNEL")
            .map(PathBuf::from)
            .or_else(|| newest_kernel(&folder))
            .or_else(|| newest_kernel(Path::new("/boot")))
            .filter(|kernel| std::fs::File::open(kernel).is_ok());
        match (program, kernel) {
            (Some(program), Some(kernel)) => Ok(Self { program, kernel, folder }),
            (program, kernel) => {
                let mut missing =
                    "booting machines needs what is not here. On Debian, as root:".to_owned();
                missing.push_str("\n  apt-get update");
                if program.is_none() {
                    missing.push_str("\n  apt-get install --no-install-recommends qemu-system-x86");
                }
                if kernel.is_none() {
                    missing.push_str(
                        "\n  tests/machines/boot/fetch-kernel   # unpacks the kernel of linux-image-cloud-amd64, \
                         installs nothing\nor set LOCSTEAL_KERNEL to a file with a Linux kernel for x86-64",
                    );
                }
                Err(missing)
            }
        }
    }

    /// Boots a machine, hands on each line that its checks print, or those of another program in their place, and returns
    /// when the machine is off or the time is up.
    pub(crate) fn run(
        &self,
        recipe: &Recipe,
        other: Option<&Other<'_>>,
        limits: Limits,
        mut line: impl FnMut(&str),
    ) -> io::Result<End> {
        let start = Instant::now();
        std::fs::create_dir_all(&self.folder)?;
        let files = self.folder.join(format!("{}.initramfs", recipe.name));
        std::fs::write(&files, initramfs::pack(recipe, other.map(|other| other.program))?)?;
        let mut child = Running(self.command(recipe, other, &files).spawn()?);
        let lines = lines_of(&mut child.0);
        let mut up = false;
        let end = loop {
            let limit = if up { limits.all } else { limits.boot };
            match lines.recv_timeout(limit.saturating_sub(start.elapsed())) {
                Ok(text) => {
                    up = true;
                    line(text.trim_end());
                }
                Err(_) if !up => break End::NeverUp,
                Err(RecvTimeoutError::Timeout) => break End::OutOfTime,
                Err(RecvTimeoutError::Disconnected) => break End::Over,
            }
        };
        drop(child);
        std::fs::remove_file(files)?;
        Ok(end)
    }

    /// The file with the kernel's messages of a machine's last run.
    pub(crate) fn console(&self, recipe: &Recipe) -> PathBuf {
        self.folder.join(format!("{}.console", recipe.name))
    }

    fn command(&self, recipe: &Recipe, other: Option<&Other<'_>>, files: &Path) -> Command {
        let [sockets, dies, cores, threads] = recipe.shape;
        let places = recipe.places();
        // Lower than others', but not so low that a busy machine leaves it nothing: its guests are given up after a while.
        let mut command = Command::new("nice");
        command.args(["-n", "5"]).arg(&self.program);
        command.args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]);
        command.args(["-machine", "q35,usb=off,sata=off,smbus=off"]);
        command.args(["-accel", "tcg,thread=multi", "-bios", "qboot.rom"]);
        command.args(["-cpu", &format!("{CPU}{}", recipe.cpu)]);
        command.args([
            "-smp",
            &format!("{places},sockets={sockets},dies={dies},cores={cores},threads={threads}"),
        ]);
        command.args(memory(recipe));
        command.arg("-kernel").arg(&self.kernel).arg("-initrd").arg(files);
        let mut arguments = format!("{KERNEL} {} -- guest {}", recipe.kernel, recipe.name);
        if let Some(other) = other {
            arguments = format!("{arguments} {}", other.arguments.join(" "));
        }
        command.args(["-append", &arguments]);
        // The kernel's messages go out by the first serial port, the checks' output by the second one.
        let mut console = OsString::from("file:");
        console.push(self.console(recipe));
        command.arg("-serial").arg(console).args(["-serial", "stdio"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // SAFETY: between fork and exec the child makes one system call, which takes no memory.
        unsafe {
            command.pre_exec(|| {
                // The emulator must not outlive this program, however that ends.
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        command
    }
}

/// Options for memory and nodes.
fn memory(recipe: &Recipe) -> Vec<String> {
    let mebibytes = |node: usize| match (node, recipe.kernel) {
        // Each possible CPU takes memory, most of it unused.
        (0, kernel) if kernel.contains("possible_cpus") => 2048,
        (0, _) => 320,
        _ => 64,
    };
    let total: usize = (0..recipe.nodes.len().max(1)).map(mebibytes).sum();
    let mut options = vec!["-m".to_owned(), total.to_string()];
    let mut option = |name: &str, value: String| options.extend([name.to_owned(), value]);
    for (node, cpus) in recipe.nodes.iter().enumerate() {
        let size = mebibytes(node);
        option("-object", format!("memory-backend-ram,id=memory{node},size={size}M"));
        let cpus = if cpus.is_empty() { String::new() } else { format!(",cpus={cpus}") };
        option("-numa", format!("node,nodeid={node},memdev=memory{node}{cpus}"));
    }
    for (from, row) in recipe.distances.iter().enumerate() {
        for (to, distance) in row.iter().enumerate() {
            option("-numa", format!("dist,src={from},dst={to},val={distance}"));
        }
    }
    options
}

/// An emulator that ends with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only if it has ended and been waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = channel();
    let output = child.stdout.take().expect("the output is a pipe");
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    lines
}

/// The kernel with the highest version, those for virtual machines first.
fn newest_kernel(folder: &Path) -> Option<PathBuf> {
    let version = |path: &PathBuf| -> Option<(bool, Vec<u32>)> {
        let name = path.file_name()?.to_str()?.strip_prefix("vmlinuz-")?;
        let numbers = name.split(['.', '-']).map_while(|part| part.parse().ok()).collect();
        Some((name.ends_with("-cloud-amd64"), numbers))
    };
    let files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|path| version(path).is_some()).max_by_key(version)
}
