//! The firmware's table of interrupt controllers, by whose order the kernel numbers CPUs.
//!
//! The emulator writes it in the order of places. A table in its stead, which the kernel takes from the front of its
//! initial file system, has another order. Layout: ACPI 6.4, section 5.2.12.

use crate::machines::{Numbering, Recipe};

/// Where the kernel looks for tables to put in place of the firmware's.
pub(crate) const PATH: &str = "kernel/firmware/acpi/apic.aml";

/// The table for a machine; `None` where the emulator's has the right order.
pub(crate) fn table(recipe: &Recipe) -> Option<Vec<u8>> {
    if recipe.numbering == Numbering::Place {
        return None;
    }
    let mut body = Vec::new();
    body.extend(0xfee0_0000_u32.to_le_bytes());
    body.extend(1_u32.to_le_bytes()); // there are the old interrupt controllers too
    for (uid, apic) in in_order(recipe) {
        body.extend([0, 8, uid, apic, 1, 0, 0, 0]);
    }
    // The controller for devices' interrupts, and the lines that are wired or triggered in a special way.
    body.extend([1, 12, 0, 0, 0, 0, 0xc0, 0xfe, 0, 0, 0, 0]);
    body.extend([2, 10, 0, 0, 2, 0, 0, 0, 0, 0]);
    for line in [5, 9, 10, 11] {
        body.extend([2, 10, 0, line, line, 0, 0, 0, 0x0d, 0]);
    }
    body.extend([4, 6, 0xff, 0, 0, 1]);

    let mut table = Vec::new();
    table.extend(b"APIC");
    table.extend((36 + body.len() as u32).to_le_bytes());
    table.extend([1, 0]);
    // The emulator's names, and a later revision than its own: else the kernel keeps the firmware's table.
    table.extend(b"BOCHS BXPC    ");
    table.extend(2_u32.to_le_bytes());
    table.extend(b"LOCS");
    table.extend(1_u32.to_le_bytes());
    table.extend(body);
    // All bytes add up to zero.
    table[9] = table.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)).wrapping_neg();
    Some(table)
}

/// Of each CPU, in the kernel's order: its number in the emulator, and its interrupt controller.
fn in_order(recipe: &Recipe) -> Vec<(u8, u8)> {
    let [sockets, dies, cores, threads] = recipe.shape;
    let mut cpus = Vec::new();
    for socket in 0..sockets {
        for die in 0..dies {
            for core in 0..cores {
                for thread in 0..threads {
                    cpus.push([socket, die, core, thread]);
                }
            }
        }
    }
    let mut cpus: Vec<_> = cpus.into_iter().enumerate().collect();
    cpus.sort_by_key(|&(_, [socket, die, core, thread])| match recipe.numbering {
        Numbering::Place => [socket, die, core, thread],
        Numbering::ThreadsLast => [thread, socket, die, core],
        Numbering::SocketsInTurn => [thread, core, die, socket],
    });
    // Each part of a CPU's place takes as many bits as it needs.
    let bits = |count: usize| count.next_power_of_two().trailing_zeros();
    let apic = |[socket, die, core, thread]: [usize; 4]| {
        ((socket << bits(dies) | die) << bits(cores) | core) << bits(threads) | thread
    };
    cpus.into_iter().map(|(uid, place)| (uid as u8, apic(place) as u8)).collect()
}
