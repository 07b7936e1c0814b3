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
        let mut files = KernelFiles::in_folder(root.to_path_buf());
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

fn read_group(files: &mut KernelFiles<'_>, version: Version, folder: &Path) -> Option<Quota> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::test_folder::TestFolder;

    const V2: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    const V1: &str = "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n";

    fn read(files: &[(&str, &str)]) -> Option<Quota> {
        let root = TestFolder::new("quota");
        for (path, text) in files {
            root.write(path, text);
        }
        Quota::read(root.path())
    }

    #[test]
    fn reads_version_2() {
        for (text, cpus) in [
            ("max 100000\n", None),
            ("200000 100000\n", Some(2)),
            ("50000 100000", Some(1)),
            ("150000 100000", Some(2)),
            ("100001 100000", Some(2)),
            ("1 1000000", Some(1)),
            ("300000", Some(3)),
            ("18446744073709551615 1", Some(usize::MAX)),
            ("max", None),
            ("", None),
            ("0 100000", None),
            ("200000 0", None),
            ("-1 100000", None),
            ("200000 100000 1", None),
            ("lots 100000", None),
        ] {
            assert_eq!(parse_v2(text).map(Quota::cpus), cpus, "{text:?}");
        }
    }

    #[test]
    fn reads_version_1() {
        for (quota, period, cpus) in [
            ("-1\n", "100000\n", None),
            ("250000\n", "100000\n", Some(3)),
            ("50000", "100000", Some(1)),
            ("0", "100000", None),
            ("50000", "0", None),
            ("", "100000", None),
            ("50000", "", None),
        ] {
            assert_eq!(parse_v1(quota, period).map(Quota::cpus), cpus, "{quota:?} {period:?}");
        }
    }

    #[test]
    fn the_tightest_of_nested_groups_counts() {
        let group = ("proc/self/cgroup", "0::/a/b/c\n");
        let mounts = ("proc/self/mountinfo", V2);
        for (top, a, b, c, cpus) in [
            ("", "max 100000", "400000 100000", "max 100000", Some(4)),
            ("", "200000 100000", "400000 100000", "800000 100000", Some(2)),
            ("", "800000 100000", "400000 100000", "200000 100000", Some(2)),
            ("100000 100000", "800000 100000", "", "", Some(1)),
            // Compared as shares, not by their numerators.
            ("", "100000 50000", "150000 200000", "", Some(1)),
            ("", "max 100000", "", "max 100000", None),
        ] {
            let found = read(&[
                group,
                mounts,
                ("sys/fs/cgroup/cpu.max", top),
                ("sys/fs/cgroup/a/cpu.max", a),
                ("sys/fs/cgroup/a/b/cpu.max", b),
                ("sys/fs/cgroup/a/b/c/cpu.max", c),
            ]);
            assert_eq!(found.map(Quota::cpus), cpus);
        }
    }

    #[test]
    fn version_1_is_found_where_it_is_mounted() {
        let quota = |group: &str| {
            read(&[
                ("proc/self/cgroup", group),
                ("proc/self/mountinfo", V1),
                ("sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us", "150000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
                ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
            ])
        };
        let both = "5:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n0::/docker/1\n";
        assert_eq!(quota(both).map(Quota::cpus), Some(2));
        assert_eq!(quota("4:cpuacct:/docker/1\n3:cpuset:/docker/1\n"), None);
        assert_eq!(quota("4:cpu,cpuacct:/\n"), None);
    }

    #[test]
    fn in_a_container_the_mount_may_show_the_inner_group_as_its_top() {
        let in_view = V2.replace("0:26 / ", "0:26 /docker/1 ");
        let top = ("sys/fs/cgroup/cpu.max", "300000 100000\n");
        let inner = ("sys/fs/cgroup/job/cpu.max", "100000 100000\n");
        for (group, mounts, cpus) in [
            ("0::/docker/1\n", in_view.as_str(), 3),
            ("0::/docker/1/job\n", in_view.as_str(), 1),
            // Seen from another namespace, or from none that fits.
            ("0::/../../other\n", V2, 3),
            ("0::/elsewhere\n", in_view.as_str(), 3),
            // Mounts cannot be read: the usual place.
            ("0::/job\n", "", 1),
        ] {
            let found =
                read(&[("proc/self/cgroup", group), ("proc/self/mountinfo", mounts), top, inner]);
            assert_eq!(found.map(Quota::cpus), Some(cpus), "{group:?}");
        }
    }

    #[test]
    fn both_versions_together_count() {
        let both = [
            ("proc/self/cgroup", "3:cpu,cpuacct:/a\n0::/a\n"),
            ("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "300000"),
            ("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000"),
            ("sys/fs/cgroup/unified/a/cpu.max", "200000 100000"),
        ];
        let mounts = V2.replace("/sys/fs/cgroup ", "/sys/fs/cgroup/unified ") + V1;
        let found = read(&[&both[..], &[("proc/self/mountinfo", &mounts)]].concat());
        assert_eq!(found.map(Quota::cpus), Some(2));
    }

    #[test]
    fn a_mount_with_blanks_in_its_path_is_found() {
        let found = read(&[
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", "30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n"),
            ("my groups/cpu.max", "100000 100000"),
        ]);
        assert_eq!(found.map(Quota::cpus), Some(1));
    }

    #[test]
    fn nothing_readable_is_no_quota() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[("proc/self/cgroup", "")]), None);
        assert_eq!(
            read(&[("proc/self/cgroup", "garbage\n0:\n::\n"), ("proc/self/mountinfo", "- -\n")]),
            None
        );
        assert_eq!(read(&[("proc/self/cgroup", "0::/\n")]), None);
    }

    #[test]
    fn says_how_much_it_is() {
        let quota = parse_v2("150000 100000").unwrap();
        assert_eq!(quota.to_string(), "CPU quota of 150 % of a CPU");
    }
}
