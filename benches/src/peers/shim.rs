//! Loads a shim: a small shared library, compiled by the build script, that stands between the kernels and a runtime
//! that is not Rust. It is loaded when its peer is asked for, and only in that peer's process.

use std::ffi::{CStr, c_char, c_int, c_void};

use anyhow::{Context, Result, bail};
use libloading::Library;

use super::Setup;
use crate::kernels::{Kernel, SumKernel};

type Chunk = unsafe extern "C" fn(*mut c_void, usize, usize);
type Sum = unsafe extern "C" fn(*mut c_void, usize, usize) -> u64;
pub(super) type Job = unsafe extern "C" fn(*mut c_void);

/// The functions of `shims/shim.h`.
pub(super) struct Shim {
    each: unsafe extern "C" fn(c_int, usize, usize, Chunk, *mut c_void),
    reduce: unsafe extern "C" fn(c_int, usize, usize, Sum, *mut c_void) -> u64,
    version: unsafe extern "C" fn() -> *const c_char,
    init: unsafe extern "C" fn(usize, c_int) -> c_int,
    library: &'static Library,
}

impl Shim {
    /// Loads the library that the build script made, or says what it lacked.
    pub(super) fn load(path: Option<&str>, missing: Option<&str>) -> Result<Self> {
        let Some(path) = path else {
            bail!("{}", missing.unwrap_or("the build script did not make its shim"));
        };
        // SAFETY: the library is our own; loading it runs the initialisers of the runtime that it is linked to.
        let library = unsafe { Library::new(path) }.with_context(|| {
            format!("{path} does not load; build again with the runtime installed")
        })?;
        // The runtime's threads run its code until the process ends, so it is never unloaded.
        let library: &'static Library = Box::leak(Box::new(library));
        // SAFETY: the types are those of `shims/shim.h`, and the library stays loaded.
        unsafe {
            Ok(Self {
                each: *library.get(b"shim_for")?,
                reduce: *library.get(b"shim_reduce")?,
                version: *library.get(b"shim_version")?,
                init: *library.get(b"shim_init")?,
                library,
            })
        }
    }

    /// What the runtime says it is.
    pub(super) fn version(&self) -> String {
        // SAFETY: the shim returns a static C string.
        unsafe { CStr::from_ptr((self.version)()) }.to_string_lossy().into_owned()
    }

    pub(super) fn init(&self, setup: &Setup) -> Result<()> {
        // SAFETY: no loop of this peer is running yet; a second peer of the same runtime replaces the settings.
        match unsafe { (self.init)(setup.width, c_int::from(setup.pin)) } {
            0 => Ok(()),
            code => bail!("the runtime refused a pool of {} threads (code {code})", setup.width),
        }
    }

    pub(super) fn for_each<K: Kernel>(&self, how: c_int, kernel: &K) {
        unsafe extern "C" fn chunk<K: Kernel>(kernel: *mut c_void, from: usize, to: usize) {
            // SAFETY: the context is the kernel below, alive until the loop returns; the pieces that a shim hands out
            // are disjoint and together the whole loop.
            unsafe { (*kernel.cast::<K>()).chunk(from..to) };
        }
        let context = (&raw const *kernel).cast_mut().cast();
        // SAFETY: a kernel is `Sync` and only shared references to it are made.
        unsafe { (self.each)(how, kernel.len(), kernel.grain(), chunk::<K>, context) };
    }

    pub(super) fn sum_of<K: SumKernel>(&self, how: c_int, kernel: &K) -> u64 {
        unsafe extern "C" fn sum<K: SumKernel>(kernel: *mut c_void, from: usize, to: usize) -> u64 {
            // SAFETY: the context is the kernel below, alive until the loop returns.
            unsafe { (*kernel.cast::<K>()).chunk(from..to) }
        }
        let context = (&raw const *kernel).cast_mut().cast();
        // SAFETY: a sum kernel is `Sync` and only shared references to it are made.
        unsafe { (self.reduce)(how, kernel.len(), kernel.grain(), sum::<K>, context) }
    }

    /// The shim's way to hand a job to another thread.
    #[cfg(feature = "tbb")]
    pub(super) fn offload(&self) -> Result<unsafe extern "C" fn(Job, *mut c_void)> {
        // SAFETY: the type is that of `shims/shim.h`; the library stays loaded.
        Ok(unsafe { *self.library.get(b"shim_offload")? })
    }
}
