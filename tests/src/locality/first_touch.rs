//! Pages lie in the node of the seat whose block they are in: the kernel is asked where each page is.

use std::fs;
use std::io;
use std::sync::Barrier;
use std::thread;

use locsteal::{Placement, Pool};

use super::Setting;
use super::kernel::{Machine, first, set_mask};
use super::watched::Watched;

/// Elements of each seat's block: some pages of bytes.
const BLOCK: usize = 1 << 16;

/// Arrays of all kinds, made where memory is fresh and where pages from elsewhere were freed before.
pub(super) fn check(setting: &Setting) -> usize {
    let machine = &setting.machine;
    let seats = machine.allowed.len();
    let builder = Pool::builder().threads(seats).placement(Placement::Llc);
    let pool = Watched::new(builder);
    let nodes: Vec<Option<usize>> = match seats {
        1 => vec![machine.node_of(first(&machine.allowed))],
        _ => pool.masks().values().map(|mask| machine.node_of(first(mask))).collect(),
    };
    let mut cases = 0;
    for place in machine.places() {
        thread::scope(|scope| {
            let (pool, nodes) = (&pool, &nodes);
            scope.spawn(move || {
                set_mask(0, &place).expect("a thread may narrow its mask");
                // All participants are there before the first of them goes on, so nobody begins another's block.
                let all = Barrier::new(seats);
                let make = |i: usize| {
                    if i.is_multiple_of(BLOCK) {
                        all.wait();
                    }
                    1_u8
                };
                // A kernel that balances nodes moves pages by itself, and may have done so with some.
                let tries = if balances_nodes() { 10 } else { 1 };
                for tried in 1..=tries {
                    let array = locsteal::first_touch(seats * BLOCK).pool(pool).from_fn(make);
                    let fresh = in_their_nodes(machine, &array, nodes);
                    assert!(array.iter().all(|byte| *byte == 1));
                    // Whoever gets this memory next is not to find its pages where they are.
                    drop(array);
                    let serial = vec![2_u8; seats * BLOCK];
                    std::hint::black_box(&serial);
                    drop(serial);
                    let array = locsteal::first_touch(seats * BLOCK).pool(pool).from_fn(make);
                    let again = in_their_nodes(machine, &array, nodes);
                    match fresh.and(again) {
                        Ok(()) => break,
                        Err(what) => assert!(tried < tries, "{what}"),
                    }
                }
            });
        });
        cases += 2;
    }
    cases
}

/// Whether every page that lies within the block of one seat is in that seat's node; if not, one that is not.
fn in_their_nodes(machine: &Machine, array: &[u8], nodes: &[Option<usize>]) -> Result<(), String> {
    // One node has them all; and a container may forbid to ask.
    if machine.nodes.len() < 2 {
        return Ok(());
    }
    let found = nodes_of(array).expect("the kernel tells where pages are");
    assert!(found.len() >= nodes.len(), "there are pages to look at");
    for (start, node) in found {
        let (begins, ends) = (start / BLOCK, (start + PAGE - 1) / BLOCK);
        // Blocks are dealt from the back.
        let seat = nodes.len().saturating_sub(1 + begins);
        if begins == ends && node != nodes[seat] {
            let meant = nodes[seat];
            return Err(format!(
                "byte {start}, of seat {seat}'s block, is in node {node:?}, not {meant:?}"
            ));
        }
    }
    Ok(())
}

fn balances_nodes() -> bool {
    let setting = fs::read_to_string("/proc/sys/kernel/numa_balancing");
    setting.is_ok_and(|setting| setting.trim() != "0")
}

/// A page's size: the smallest of any machine that these checks run on.
const PAGE: usize = 4096;

/// The whole pages in some memory, by where they begin, and the node of each, if it is anywhere.
fn nodes_of(bytes: &[u8]) -> io::Result<Vec<(usize, Option<usize>)>> {
    let before = bytes.as_ptr().align_offset(PAGE);
    let starts: Vec<usize> =
        (before..).step_by(PAGE).take_while(|at| at + PAGE <= bytes.len()).collect();
    let pages: Vec<*const u8> = starts.iter().map(|&at| bytes[at..].as_ptr()).collect();
    let mut status = vec![0_i32; pages.len()];
    let nowhere = std::ptr::null::<i32>();
    loop {
        // SAFETY: the kernel reads and writes as many entries as there are, and without nodes to move to it moves nothing.
        let result = unsafe {
            libc::syscall(
                libc::SYS_move_pages,
                0,
                pages.len(),
                pages.as_ptr(),
                nowhere,
                status.as_mut_ptr(),
                0,
            )
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        // A page that the kernel is just moving, or has swapped out, is nowhere until it is read.
        let absent = |(_, status): &(_, &i32)| **status == -libc::ENOENT;
        let mut absent = starts.iter().zip(&status).filter(absent).peekable();
        if absent.peek().is_none() {
            break;
        }
        for (&at, _) in absent {
            std::hint::black_box(bytes[at]);
        }
    }
    Ok(starts.into_iter().zip(status.into_iter().map(|node| usize::try_from(node).ok())).collect())
}
