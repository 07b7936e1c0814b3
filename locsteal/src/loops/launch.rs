//! Launching a loop: from the calling thread, on the workers of a pool, or on the caller alone.

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::{Mutex, PoisonError};

use super::auto::{Choice, Decision, Sample};
use super::participant::Participant;
use super::site::Site;
use crate::affinity::mask::current_cpu;
use crate::ahead::Ahead;
use crate::clock::{self, ticks};
use crate::panics::{Payload, drop_quietly};
use crate::pool::{Epoch, GRACE, Lane, Notice, Pool, Shared, Ticket};
use crate::sched::{Deal, Ending, Entry as SeatEntry, Kind, Locality, Schedule, View, Walk};
use crate::stats::Stats;
use crate::stats::timeline::{Launch, LoopId, Recorder};

/// What the launcher must know of a loop besides its length.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan<'a> {
    pub(crate) schedule: Schedule,
    pub(crate) locality: Locality,
    /// Smallest number of iterations worth handing over; 0: the pool chooses.
    pub(crate) grain: u64,
    /// At most this many participants; 0: the pool's width.
    pub(crate) threads: usize,
    /// Chunks begin and end at multiples of this many positions (or at the loop's end); 0 or 1: anywhere.
    pub(crate) unit: u64,
    /// What the loop is called where it is recorded.
    pub(crate) label: Label<'a>,
    /// Where what is counted in this loop goes, besides the pool's counters.
    pub(crate) report: Option<&'a Report>,
    /// What [`Schedule::Auto`] learns from; `None`: it is [`Schedule::Steal`].
    pub(crate) site: Option<&'static Site>,
    /// Whether chunks of [`Schedule::Dynamic`] are small at the front of the loop, which may be left anywhere.
    pub(crate) growing: bool,
    /// Whether it may be left early: by more than a panic.
    pub(crate) may_be_left: bool,
    /// Whether workers come at once, however few iterations there are: sharing is known to pay, or is being tried.
    pub(crate) eager: bool,
    /// Something that every participant will need, besides what is launched.
    pub(crate) ahead: Ahead,
    /// What it has said, if it was asked already.
    pub(crate) decided: Option<Decision>,
}

/// What is counted in one loop, by all who take part.
#[derive(Debug, Default)]
pub(crate) struct Report(Mutex<Stats>);

impl Report {
    fn add(&self, stats: &Stats) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += *stats;
    }

    pub(crate) fn into_stats(self) -> Stats {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a loop is called.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Label<'a> {
    #[default]
    None,
    Name(&'a str),
    At(&'static Location<'static>),
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Name(name) => f.write_str(name),
            Self::At(place) => write!(f, "{}:{}", place.file(), place.line()),
        }
    }
}

/// The longest loop that can be launched at once, in positions.
pub(crate) const MAX_LEN: u64 = Deal::MAX_LEN;

/// Blocks of fewer positions than this are not protected, so that launching a tiny loop needs no clock: by the time
/// its caller looks around, a worker that is awake has come, and one that is not would come too late.
const PROTECTED_BLOCK: u64 = 1024;

/// Unless told otherwise, a block is cut into at least this many pieces worth handing over.
const GRAINS_PER_BLOCK: u32 = 1024;

/// What every participant of a loop does: make private state, take chunks until there are none, hand results over.
///
/// It is run on each participant's thread: once, and again only where it returned before [`Participant::next`] said
/// `None`, or where a panic of an iteration above an early exit was dropped. Any other panic that leaves it stops the
/// loop and is given back in the [`Outcome`].
///
/// Launching knows it by its table of functions alone, so that it is compiled once and not for each loop of a program.
pub(crate) trait Entry: Sync {
    fn run(&self, participant: &mut Participant<'_>);
}

/// How a launched loop ended.
pub(crate) struct Outcome {
    /// The lowest position given to [`Participant::exit_at`]; every iteration below it has run. `None` if the loop
    /// was not left, or if a panic stopped it.
    pub(crate) exit: Option<u64>,
    /// What stopped the loop: the panic with the lowest position that was caught, and that position.
    pub(crate) panic: Option<(u64, Payload)>,
}

/// The loop's frame, on the caller's stack. What a worker needs of it is in one line.
#[repr(C, align(64))]
struct Frame<'a> {
    entry: &'a dyn Entry,
    ahead: Ahead,
    report: Option<&'a Report>,
    panic: Mutex<Option<(u64, Payload)>>,
}

/// Runs `entry` on the caller and on idle workers of `pool`, over the positions `0..len`, `len <= MAX_LEN`.
/// Returns after every participant has left.
pub(crate) fn launch(pool: &Pool, plan: &Plan<'_>, len: u64, entry: &dyn Entry) -> Outcome {
    assert!(len <= MAX_LEN, "a loop of {len} positions must be launched in parts");
    if len == 0 {
        return Outcome { exit: None, panic: None };
    }
    match plan.site {
        Some(site) if plan.schedule == Schedule::Auto => {
            launch_by_experience(pool, plan, len, entry, site)
        }
        _ => launch_as_planned(pool, plan, len, entry),
    }
}

/// What is known of a loop before it is launched.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Settled {
    /// Its caller is to run it alone, in one piece, with nobody watching: there is nothing to launch.
    Plain,
    /// It is to be launched, and this is what `auto` has decided, if it was asked.
    Launch(Option<Decision>),
}

/// Settles a loop of `len` positions that nobody wants a report of.
#[inline]
pub(crate) fn settle(pool: &Pool, schedule: Schedule, site: &Site, len: u64) -> Settled {
    if !(1..=MAX_LEN).contains(&len) {
        return Settled::Launch(None);
    }
    match schedule {
        Schedule::Serial => settle_plain(pool, None),
        Schedule::Auto => {
            let decision = decide(pool, site, len);
            if decision.choice == Choice::Serial && !decision.measured {
                settle_plain(pool, Some(decision))
            } else {
                Settled::Launch(Some(decision))
            }
        }
        _ => Settled::Launch(None),
    }
}

#[inline]
fn settle_plain(pool: &Pool, decided: Option<Decision>) -> Settled {
    let shared = pool.shared();
    if shared.recorder.is_on() {
        return Settled::Launch(decided);
    }
    shared.count_serial();
    Settled::Plain
}

/// What a call site's experience says of a loop.
// By itself: what it keeps in registers would have to be saved for loops that ask nobody, too.
#[inline(never)]
fn decide(pool: &Pool, site: &Site, len: u64) -> Decision {
    site.memory().decide(len, || is_inside() || pool.shared().has_caller())
}

fn launch_by_experience(
    pool: &Pool,
    plan: &Plan<'_>,
    len: u64,
    entry: &dyn Entry,
    site: &'static Site,
) -> Outcome {
    let decision = plan.decided.unwrap_or_else(|| decide(pool, site, len));
    let plan = Plan { schedule: decision.schedule(), growing: decision.left, eager: true, ..*plan };
    if !decision.measured {
        return launch_as_planned(pool, &plan, len, entry);
    }
    let choice = decision.choice;
    let began = ticks();
    let outcome = launch_as_planned(pool, &plan, len, entry);
    if outcome.panic.is_none() {
        let took = ticks().saturating_sub(began);
        let ns = clock::in_ns(took);
        let left_after = outcome.exit.map(|exit| exit + 1);
        let in_company = choice != Choice::Serial && pool.shared().has_company(took);
        site.learn(len, Sample { choice, ns, left_after, in_company });
    }
    outcome
}

fn launch_as_planned(pool: &Pool, plan: &Plan<'_>, len: u64, entry: &dyn Entry) -> Outcome {
    let frame = Frame { entry, ahead: plan.ahead, report: plan.report, panic: Mutex::new(None) };
    let (shared, widest) = pool.ready();
    let width = plan.width(widest, len);
    let exit = match (width > 1).then(|| shared.claim_lane()).flatten() {
        Some(lane) => run_shared(shared, lane, plan, len, width, &frame),
        None => run_alone(shared, plan, len, &frame),
    };
    let panic = frame.panic.into_inner().unwrap_or_else(PoisonError::into_inner);
    Outcome { exit: exit.filter(|_| panic.is_none()), panic }
}

/// How a loop is shared out to its seats.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) deal: Deal,
    pub(crate) kind: Kind,
    /// In units.
    pub(crate) grain: u32,
    /// Whether the loop has so few iterations that its caller may well be done before a worker is of use. Blocks do not
    /// wait for their owners then.
    pub(crate) tiny: bool,
}

impl Shape {
    /// Whether blocks wait for their owners.
    pub(crate) const fn is_protected(&self) -> bool {
        self.kind.has_blocks() && !self.tiny
    }
}

impl Plan<'_> {
    /// How many seats a loop is shared out to, of `most` that there are.
    pub(crate) fn width(&self, most: usize, len: u64) -> usize {
        if self.schedule == Schedule::Serial {
            return 1;
        }
        let most = match self.threads {
            0 => most,
            threads => threads.min(most),
        };
        // Nobody gets less than what is worth handing over.
        let pieces = match self.schedule {
            Schedule::StaticChunk(chunk) | Schedule::DynamicChunk(chunk) => {
                len.div_ceil(chunk.max(self.unit).max(1))
            }
            _ => match self.grain.max(self.unit) {
                // No division.
                0 | 1 => len,
                least => len / least,
            },
        };
        most.min(usize::try_from(pieces).unwrap_or(usize::MAX)).max(1)
    }

    /// How long workers are to hold back from a loop of this length, [see](Epoch::hold): about as long as its caller would take, if there
    /// were next to nothing to do in an iteration.
    pub(crate) fn hold(&self, len: u64, tiny: bool) -> u8 {
        match len {
            _ if !tiny || self.eager => 0,
            ..=64 => 1,
            _ => 2,
        }
    }

    pub(crate) fn shape(&self, len: u64, width: usize) -> Shape {
        let deal = Deal::new(len, self.unit, width).dealt_from_front(self.may_be_left);
        let in_units = |n: u64| u32::try_from(deal.in_units(n.max(1))).unwrap_or(u32::MAX);
        let kind = match self.schedule {
            Schedule::Static => Kind::Static,
            Schedule::StaticChunk(chunk) => Kind::StaticChunk(in_units(chunk)),
            Schedule::Dynamic if self.growing => Kind::Growing,
            Schedule::Dynamic => Kind::Dynamic,
            Schedule::DynamicChunk(chunk) => Kind::DynamicChunk(in_units(chunk)),
            Schedule::Auto | Schedule::Steal | Schedule::Serial => Kind::Steal,
        };
        let grain = match self.grain {
            0 => (deal.share() / GRAINS_PER_BLOCK).max(1),
            grain => in_units(grain),
        };
        let tiny = len < PROTECTED_BLOCK * width as u64;
        Shape { deal, kind, grain, tiny }
    }
}

fn run_alone(shared: &Shared, plan: &Plan<'_>, len: u64, frame: &Frame<'_>) -> Option<u64> {
    shared.count_serial();
    let ending = Ending::new();
    let mut caller = Participant::alone(len, &ending);
    let launched = start_track(
        shared,
        &mut caller,
        || shared.caller_seat(1, current_cpu()).near,
        Recorder::next_alone,
    );
    take_part(&mut caller, &ending, frame);
    keep_track(shared, &mut caller, |ended| Launch {
        name: plan.label.to_string(),
        iterations: len,
        width: 1,
        time: launched..ended,
    });
    if let Some(report) = frame.report {
        let iterations = ending.exit().map_or(len, |exit| exit + 1);
        report.add(&Stats { serial_loops: 1, chunks: 1, iterations, ..Stats::default() });
    }
    ending.exit()
}

/// Writes down what a caller does, if loops are recorded; the time then, else 0.
#[inline]
fn start_track(
    shared: &Shared,
    caller: &mut Participant<'_>,
    near: impl FnOnce() -> usize,
    of: impl FnOnce(&Recorder) -> LoopId,
) -> u64 {
    if !shared.recorder.is_on() {
        return 0;
    }
    caller.record(shared.track(near(), of));
    ticks()
}

/// Keeps what was written down of a caller, whose loop has just ended.
#[inline]
fn keep_track(shared: &Shared, caller: &mut Participant<'_>, launch: impl FnOnce(u64) -> Launch) {
    if let Some(mut track) = caller.take_track() {
        track.launch = Some(launch(ticks()));
        shared.recorder.keep(*track);
    }
}

fn run_shared(
    shared: &Shared,
    lane: &Lane,
    plan: &Plan<'_>,
    len: u64,
    width: usize,
    frame: &Frame<'_>,
) -> Option<u64> {
    let shape = plan.shape(len, width);
    let Shape { deal, kind, grain, tiny } = shape;
    let protected = shape.is_protected();
    let cpu = current_cpu();
    let thief = shared.caller_seat(width, cpu);
    let generation = lane.next_generation();
    let launched = if protected { ticks() } else { 0 };
    lane.note_caller(cpu, thief.seat);
    let locality = plan.locality;
    let view = View {
        board: &lane.board,
        orders: shared.seats.orders(),
        deal,
        kind,
        locality,
        grain,
        generation,
        launched,
        patience: shared.patience,
        grace: if tiny { 0 } else { GRACE },
        caller: Some(thief.seat),
    };
    let epoch = Epoch::new(generation, width, kind.publishes()).held(plan.hold(len, tiny));
    let ticket = Ticket { shared, lane, seat: thief.seat, entry: SeatEntry::Owner, epoch, view };
    let notice = Notice {
        run: run_on_worker,
        data: std::ptr::from_ref(frame).cast(),
        len,
        unit: plan.unit,
        launched,
        kind,
        grain,
        locality,
        from_front: plan.may_be_left,
        // There are no more than `Epoch::MAX_WIDTH`.
        caller: thief.seat as u16,
    };
    if !kind.has_blocks() {
        lane.board.reset_counter();
    }
    let mut walk = Walk::caller(thief);
    walk.sit_down(&ticket.view);
    let mut caller = Participant::caller(&ticket, &mut walk);
    let recorded = start_track(shared, &mut caller, || thief.near, |_| ticket.loop_id());
    // SAFETY: the lane is claimed and its last loop is over. The frame lives until this function returns, which is
    // after `take_part` has run to its end for the caller: that is when every other seat is left or shut. `Entry: Sync`
    // lets its entry be run from any thread, and the frame's panic slot is locked.
    unsafe { lane.open(epoch, notice) }
    // Who sleeps is woken. Who is just falling asleep may be overlooked where there is no fence: it would take as long as
    // the workers' caches take to give up the line that was just written. The caller looks again when it has run its first
    // chunk; unless that is all it has to run, and not little.
    if protected && !kind.publishes() {
        shared.sleepers.published();
    }
    let wakes = ticket.wake(1);
    if wakes == 0 {
        caller.look_for_sleepers();
    }
    inside(|| take_part(&mut caller, lane.board.ending(), frame));
    keep_track(shared, &mut caller, |ended| Launch {
        name: plan.label.to_string(),
        iterations: len,
        width,
        time: recorded..ended,
    });
    if let Some(tally) = caller.tally() {
        tally.loops += 1;
        tally.wakes += wakes;
        lane.counters().add(tally);
        if let Some(report) = frame.report {
            report.add(tally);
        }
    }
    let exit = lane.board.ending().exit();
    lane.board.clear(&deal);
    lane.release();
    exit
}

/// Works on the loop as the worker of the ticket's seat.
///
/// # Safety
///
/// `data` is the frame of the loop, and the ticket is that of a worker inside the loop.
unsafe fn run_on_worker(data: *const (), ticket: &Ticket<'_>) {
    // SAFETY: the caller of the loop keeps the frame until every participant has left.
    let frame = unsafe { &*data.cast::<Frame<'_>>() };
    Ahead::of(frame.entry).fetch();
    frame.ahead.fetch();
    let mut walk = Walk::worker(ticket.seat, ticket.entry == SeatEntry::Late);
    walk.sit_down(&ticket.view);
    // The seat's block is laid out: there is something for others to take meanwhile.
    let wakes = ticket.wake_others();
    let mut participant = Participant::worker(ticket, &mut walk);
    participant.record(ticket.shared.track(ticket.seat, |_| ticket.loop_id()));
    inside(|| take_part(&mut participant, ticket.view.board.ending(), frame));
    if let Some(track) = participant.take_track() {
        ticket.shared.recorder.keep(*track);
    }
    if let Some(tally) = participant.tally() {
        tally.joins += 1;
        tally.wakes += wakes;
        ticket.shared.count_worker(ticket.seat, tally);
        if let Some(report) = frame.report {
            report.add(tally);
        }
    }
}

thread_local! {
    /// Whether the thread is at work on a loop that is shared with others.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread runs an iteration of a loop that is shared with others.
#[inline]
pub(super) fn is_inside() -> bool {
    INSIDE.get()
}

/// Runs `work` as a part of a loop that is shared with others.
#[inline]
fn inside(work: impl FnOnce()) {
    /// What was so before is so again, however the work ends.
    struct Outside(bool);
    impl Drop for Outside {
        fn drop(&mut self) {
            INSIDE.set(self.0);
        }
    }
    let _before = Outside(INSIDE.replace(true));
    work();
}

/// Runs the entry until the participant has left; catches panics.
fn take_part(participant: &mut Participant<'_>, ending: &Ending, frame: &Frame<'_>) {
    while !participant.has_left() {
        let caught = catch_unwind(AssertUnwindSafe(|| frame.entry.run(participant)));
        if let Err(payload) = caught
            && keep_lowest(participant, payload, ending, frame)
        {
            drain(participant);
        }
    }
}

/// Nothing is handed out any more; the caller waits here until the others have left. In the child of a fork, where they are not
/// and asking for more ends in a panic, the loop has one already.
#[cold]
fn drain(participant: &mut Participant<'_>) {
    while let Err(another) =
        catch_unwind(AssertUnwindSafe(|| while participant.next().is_some() {}))
    {
        drop_quietly(another);
    }
}

/// Keeps a panic if it is the lowest so far, and stops the loop; false if it came from above an early exit and counts
/// for nothing, since the serial loop would not have come there.
#[cold]
fn keep_lowest(
    participant: &Participant<'_>,
    payload: Payload,
    ending: &Ending,
    frame: &Frame<'_>,
) -> bool {
    let position = participant.position();
    let mut kept = frame.panic.lock().unwrap_or_else(PoisonError::into_inner);
    let above = |exit| exit < position && !participant.has_left();
    let (counts, loser) = match &mut *kept {
        None if ending.exit().is_some_and(above) => (false, Some(payload)),
        Some((lowest, _)) if *lowest <= position => (true, Some(payload)),
        slot => (true, slot.replace((position, payload)).map(|(_, loser)| loser)),
    };
    if counts {
        ending.stop();
    }
    drop(kept);
    if let Some(loser) = loser {
        drop_quietly(loser);
    }
    counts
}
