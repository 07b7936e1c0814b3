//! The CPU quota of the container that the process is in.
//!
//! A control group may use so many microseconds of CPU time in each period. Groups are nested, and
//! the tightest limit on the way from the process's own group to the top counts. Version 2 keeps both
//! numbers in `cpu.max`, version 1 in `cpu.cfs_quota_us` and `cpu.cfs_period_us`; a machine may
//! mount both.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::topology::kernel_files::KernelFiles;

/// CPU time per period, both in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quota {
    quota: u64,
    /// Not zero.
    period: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Quota {
    /// The tightest quota that this process is under, if any.
    ///
    /// `root` is the folder that stands for `/`.
    pub(crate) fn read(root: &Path) -> Option<Self> {
        let mut files = KernelFiles::new(root.to_path_buf());
        let memberships = memberships(files.text("proc/self/cgroup").ok()?);
        let mounts = files.text("proc/self/mountinfo").map(mounts).unwrap_or_default();
        let mut tightest: Option<Self> = None;
        for (version, group) in memberships {
            for folder in folders(version, &group, &mounts) {
                if let Some(quota) = read_group(&mut files, version, &folder)
                    && tightest.is_none_or(|other| quota.is_tighter_than(other))
                {
                    tightest = Some(quota);
                }
            }
        }
        tightest
    }

    /// The quota in CPUs, rounded up: at least 1.
    pub(crate) fn cpus(self) -> usize {
        usize::try_from(self.quota.div_ceil(self.period)).unwrap_or(usize::MAX).max(1)
    }

    fn is_tighter_than(self, other: Self) -> bool {
        u128::from(self.quota) * u128::from(other.period)
            < u128::from(other.quota) * u128::from(self.period)
    }

    fn new(quota: u64, period: u64) -> Option<Self> {
        (quota > 0 && period > 0).then_some(Self { quota, period })
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = u128::from(self.quota) * 100 / u128::from(self.period);
        write!(f, "CPU quota of {percent} % of a CPU")
    }
}

/// A line of `cpu.max`: a quota or `max`, and a period, which may be left out.
fn parse_v2(text: &str) -> Option<Quota> {
    let mut words = text.split_ascii_whitespace();
    let quota = words.next()?.parse().ok()?;
    let period = words.next().map_or(Some(100_000), |period| period.parse().ok())?;
    if words.next().is_some() { None } else { Quota::new(quota, period) }
}

/// The two files of version 1. No limit is a quota of -1.
fn parse_v1(quota: &str, period: &str) -> Option<Quota> {
    Quota::new(quota.trim().parse().ok()?, period.trim().parse().ok()?)
}

fn read_group(files: &mut KernelFiles, version: Version, folder: &Path) -> Option<Quota> {
    let mut text = |file| files.text(folder.join(file).to_str()?).ok().map(str::to_owned);
    match version {
        Version::Two => parse_v2(&text("cpu.max")?),
        Version::One => parse_v1(&text("cpu.cfs_quota_us")?, &text("cpu.cfs_period_us")?),
    }
}

/// From `/proc/self/cgroup`: `hierarchy:controllers:group`, with hierarchy 0 and no controllers for
/// version 2.
fn memberships(text: &str) -> Vec<(Version, String)> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (hierarchy, controllers) = (fields.next()?, fields.next()?);
            let group = fields.next()?.to_owned();
            if hierarchy == "0" && controllers.is_empty() {
                Some((Version::Two, group))
            } else {
                has_cpu(controllers).then_some((Version::One, group))
            }
        })
        .collect()
}

/// Where a hierarchy is mounted, and which of its groups shows there.
struct Mount {
    version: Version,
    /// The group that the mount's top folder is.
    group: String,
    /// Without the leading slash.
    folder: String,
}

/// From `/proc/self/mountinfo`: `id parent device group folder options.. - type source options`.
fn mounts(text: &str) -> Vec<Mount> {
    text.lines()
        .filter_map(|line| {
            let (mount, kind) = line.split_once(" - ")?;
            let mut mount = mount.split(' ').skip(3);
            let (group, folder) = (mount.next()?, mount.next()?);
            let mut kind = kind.split(' ');
            let version = match kind.next()? {
                "cgroup2" => Version::Two,
                "cgroup" if has_cpu(kind.nth(1)?) => Version::One,
                _ => return None,
            };
            let folder = unescape(folder.trim_start_matches('/'));
            Some(Mount { version, group: unescape(group), folder })
        })
        .collect()
}

fn has_cpu(controllers: &str) -> bool {
    controllers.split(',').any(|controller| controller == "cpu")
}

/// The kernel writes blanks, tabs, line ends and backslashes in paths as three octal digits.
fn unescape(path: &str) -> String {
    path.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

/// The folders of a group and of those around it, innermost first, without the leading slash.
fn folders(version: Version, group: &str, mounts: &[Mount]) -> Vec<PathBuf> {
    let usual = Mount {
        version,
        group: "/".into(),
        folder: if version == Version::Two { "sys/fs/cgroup" } else { "sys/fs/cgroup/cpu" }.into(),
    };
    let mount = mounts.iter().find(|mount| mount.version == version).unwrap_or(&usual);
    let top = Path::new(&mount.folder);
    // In a container the mount often shows the container's own group as its top, while the process
    // still sees its group's path from the host's top, or a path that leads out of its view.
    let inside = Path::new(group)
        .strip_prefix(&mount.group)
        .ok()
        .filter(|inside| inside.components().all(|part| part.as_os_str() != ".."))
        .unwrap_or(Path::new(""));
    inside.ancestors().map(|group| top.join(group)).collect()
}
