//! The guest's initial file system: this very program, the libraries that it is linked with, and perhaps another program
//! that needs no others.
//!
//! The format is what the kernel's documentation calls `newc`: archives of files, one after the other.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::interrupt_table;
use crate::machines::Recipe;

/// What programs of this architecture have as their loader.
const LOADER: &str = "lib64/ld-linux-x86-64.so.2";

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;

/// Where another program is, in the guest.
pub(crate) const OTHER: &str = "/program";

/// The file system to boot a machine with.
pub(crate) fn pack(recipe: &Recipe, other: Option<&Path>) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    // Tables for the kernel stand in an archive of their own at the front.
    if let Some(table) = interrupt_table::table(recipe) {
        let mut archive = Archive::default();
        archive.add(interrupt_table::PATH, &table);
        packed = archive.finish();
    }
    let mut archive = Archive::default();
    // By this name even a program that has been replaced since can be read.
    archive.add("init", &std::fs::read("/proc/self/exe")?);
    if let Some(program) = other {
        archive.add(OTHER.trim_start_matches('/'), &std::fs::read(program)?);
    }
    for library in libraries()? {
        let content = std::fs::read(&library)?;
        let file = Path::new(&library).file_name().unwrap_or_default().to_string_lossy();
        if file.starts_with("ld-") {
            archive.add(LOADER, &content);
        } else {
            archive.add(library.trim_start_matches('/'), &content);
        }
    }
    packed.extend(archive.finish());
    Ok(packed)
}

/// The files, besides the program itself, that code of this process was loaded from.
fn libraries() -> io::Result<BTreeSet<String>> {
    let program = std::env::current_exe()?;
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    // address, permissions, offset, device, file number, path
    let code = maps.lines().filter(|line| line.contains(" r-xp "));
    let paths = code.filter_map(|line| line.find('/').map(|start| line[start..].to_owned()));
    Ok(paths.filter(|path| Path::new(path) != program).collect())
}

#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<String>,
    files: u32,
}

impl Archive {
    /// Adds a program or table, and the folders around it.
    fn add(&mut self, path: &str, content: &[u8]) {
        for (end, _) in path.match_indices('/') {
            if self.folders.insert(path[..end].to_owned()) {
                self.entry(&path[..end], FOLDER, &[]);
            }
        }
        self.entry(path, PROGRAM, content);
    }

    fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.files += 1;
        let (size, path_size) = (content.len() as u32, path.len() as u32 + 1);
        // Number, mode, owner, group, links, time, size, device, special device, size of the path, checksum.
        let fields = [self.files, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, path_size, 0];
        self.bytes.extend(b"070701");
        for field in fields {
            self.bytes.extend(format!("{field:08X}").bytes());
        }
        self.bytes.extend(path.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}
