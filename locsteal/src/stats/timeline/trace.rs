//! A timeline in the trace event format: JSON, a list of events. A node is a process there, a thread a thread; times
//! are in microseconds.

use std::fmt::Write;
use std::ops::Range;
use std::time::Duration;

use super::Timeline;

/// The process that holds the loops themselves, before those of the nodes.
const LOOPS: usize = 0;

pub(super) fn write(timeline: &Timeline) -> String {
    let mut events = Events { out: String::new() };
    events.name("process_name", LOOPS, 0, "loops");
    let process = |node: Option<usize>| node.map_or(1, |node| node + 2);
    for (index, row) in timeline.rows.iter().enumerate() {
        let first_of_node = index == 0 || timeline.rows[index - 1].node != row.node;
        if first_of_node {
            let name = row.node.map_or("seats".into(), |node| format!("node {node}"));
            events.name("process_name", process(row.node), 0, &name);
        }
        let cache = row.domain.map(|domain| format!(", cache {domain}")).unwrap_or_default();
        events.name("thread_name", process(row.node), index + 1, &(row.name() + &cache));
        events.order(process(row.node), index + 1);
    }
    for (index, timed) in timeline.loops.iter().enumerate() {
        let about = format!("\"iterations\":{},\"width\":{}", timed.iterations, timed.width);
        events.complete(&timed.name, "loop", (LOOPS, index + 1), &timed.time, "", &about);
    }
    for chunk in &timeline.chunks {
        let row = &timeline.rows[chunk.row];
        let (first, end) = (chunk.iterations.start, chunk.iterations.end);
        let about = format!(
            "\"first\":{first},\"end\":{end},\"iterations\":{},\"from\":{}",
            end - first,
            quoted(chunk.origin.name())
        );
        let place = (process(row.node), chunk.row + 1);
        let name = &timeline.loops[chunk.of].name;
        events.complete(name, chunk.origin.name(), place, &chunk.time, colour(chunk), &about);
    }
    format!("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n", events.out)
}

/// Names of colours that viewers know.
fn colour(chunk: &super::TimedChunk) -> &'static str {
    use super::{Origin, Tier};
    match chunk.origin {
        Origin::Own => "thread_state_running",
        Origin::Other(Tier::Llc) => "rail_animation",
        Origin::Other(Tier::Node) => "bad",
        Origin::Other(Tier::Remote) => "terrible",
        Origin::Other(Tier::Unknown) => "grey",
        Origin::Shared => "rail_response",
    }
}

struct Events {
    out: String,
}

impl Events {
    fn put(&mut self, event: std::fmt::Arguments<'_>) {
        if !self.out.is_empty() {
            self.out.push_str(",\n");
        }
        // Writing to a string does not fail.
        let _ = self.out.write_fmt(event);
    }

    fn name(&mut self, what: &str, process: usize, thread: usize, name: &str) {
        let name = quoted(name);
        self.put(format_args!(
            "{{\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"name\":{name}}}}}"
        ));
    }

    /// Viewers sort threads by name otherwise.
    fn order(&mut self, process: usize, thread: usize) {
        self.put(format_args!(
            "{{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":{process},\"tid\":{thread},\"args\":{{\"sort_index\":\
             {thread}}}}}"
        ));
    }

    fn complete(
        &mut self,
        name: &str,
        category: &str,
        (process, thread): (usize, usize),
        time: &Range<Duration>,
        colour: &str,
        about: &str,
    ) {
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        let length = micros(time.end.saturating_sub(time.start));
        let (name, start) = (quoted(name), micros(time.start));
        let colour =
            if colour.is_empty() { String::new() } else { format!("\"cname\":\"{colour}\",") };
        self.put(format_args!(
            "{{\"ph\":\"X\",\"name\":{name},\"cat\":\"{category}\",\"pid\":{process},\"tid\":{thread},\"ts\":{start:.3},\
             \"dur\":{length:.3},{colour}\"args\":{{{about}}}}}"
        ));
    }
}

/// A string in JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
