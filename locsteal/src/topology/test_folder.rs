//! A folder for a test, which is removed at its end.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("locsteal-{name}-{}-{count}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Self(path),
                // A process with this number was killed before it had removed its folders.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, its folders included.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        // Nothing depends on it, and a panic here would hide the test's own.
        let _ = fs::remove_dir_all(&self.0);
    }
}
