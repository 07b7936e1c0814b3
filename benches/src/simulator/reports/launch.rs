//! A hot launch on two seats, access by access: what the library's own code reaches for, and which cache lines move.

use locsteal::__simulator::launching::{Access, Kind, Part, Stretch, count};
use locsteal::{Schedule, Topology};

use crate::table::Table;

pub(crate) const SCHEDULES: [(&str, Schedule); 3] =
    [("static", Schedule::Static), ("steal", Schedule::Steal), ("dynamic", Schedule::Dynamic)];

pub(crate) fn print() {
    println!(
        "A loop of two iterations on two seats, launched by the one while the other watches, after another such loop.\n\
         Counted are accesses to what both can reach; a line moves when somebody reads what the other has written\n\
         since, or writes what the other has read or written since.\n"
    );
    for (name, schedule) in SCHEDULES {
        let launch = count(&Topology::regular(1, 1, 2), 2, schedule, false);
        let mut table = Table::new(["who", "when", "what", "how", "line"]);
        for stretch in &launch.stretches {
            let named = |access: &Access| match access.kind {
                Kind::Fence => String::new(),
                _ => launch
                    .name(access)
                    .replace("seat 0", "caller's seat")
                    .replace("seat 1", "worker's seat"),
            };
            // Accesses to the same thing, one after the other, are one row.
            for accesses in stretch.tally.accesses.chunk_by(|a, b| named(a) == named(b)) {
                let moves = accesses.iter().filter(|access| access.moved).count();
                table.row([
                    who(stretch).into(),
                    when(stretch.part).into(),
                    named(&accesses[0]),
                    how(accesses),
                    match moves {
                        0 => String::new(),
                        1 => "moves".into(),
                        more => format!("moves {more} times"),
                    },
                ]);
            }
        }
        println!("{name}\n\n{table}");
        let moves = |part| launch.of(part).map(|stretch| stretch.tally.transfers()).sum::<usize>();
        println!(
            "Lines that move: {} while launching, {} while the worker comes in, {} while it leaves, {} at the end.\n",
            moves(Part::Launch),
            moves(Part::Enter),
            moves(Part::Leave),
            moves(Part::End)
        );
    }
}

fn who(stretch: &Stretch) -> &'static str {
    match stretch.part {
        Part::Launch | Part::End => "caller",
        Part::Enter | Part::Leave => "worker",
    }
}

fn when(part: Part) -> &'static str {
    match part {
        Part::Launch => "launches",
        Part::Enter => "comes in",
        Part::Leave => "leaves",
        Part::End => "ends",
    }
}

fn how(accesses: &[Access]) -> String {
    let kinds = [
        (Kind::Load, "load"),
        (Kind::Store, "store"),
        (Kind::Exchange, "exchange"),
        (Kind::Fence, "fence"),
        (Kind::Wake, "wake"),
    ];
    let counted = kinds.into_iter().filter_map(|(kind, name)| {
        match accesses.iter().filter(|access| access.kind == kind).count() {
            0 => None,
            1 => Some(name.to_owned()),
            times => Some(format!("{times} {name}s")),
        }
    });
    counted.collect::<Vec<_>>().join(", ")
}
