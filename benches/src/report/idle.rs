//! What is shown of idle pools.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::records::Run;
use super::table::{self, Style, time};
use crate::conductor::Idle;

/// Prints the tables; writes them and a plot into `folder`, if one is given.
pub(crate) fn show(
    command: &str,
    gaps: &[Duration],
    found: &[Idle],
    folder: Option<&Path>,
) -> Result<()> {
    let names: Vec<String> = gaps.iter().map(|gap| format!("after {}", pause(*gap))).collect();
    let heads: Vec<&str> = ["pool"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let rows = |cell: fn(f64, f64) -> String| -> Vec<Vec<String>> {
        let row = |idle: &Idle| {
            let cells = idle.gaps.iter().map(|gapped| cell(gapped.ns, gapped.burnt));
            [idle.label.clone()].into_iter().chain(cells).collect()
        };
        found.iter().map(row).collect()
    };
    let times = rows(|ns, _| time(ns));
    let burnt = rows(|_, burnt| format!("{:.0} %", 100.0 * burnt));
    let beside: Vec<Vec<String>> = found
        .iter()
        .map(|idle| {
            let [nothing, loops] = idle.beside.map(|multiple| format!("{multiple:.2}"));
            vec![idle.label.clone(), nothing, loops]
        })
        .collect();
    let beside_heads =
        ["pool", "while it has nothing to do", "while it runs a loop each millisecond"];
    let tables = |style| {
        [
            table::plain(style, &heads, &times),
            table::plain(style, &heads, &burnt),
            table::plain(style, &beside_heads, &beside),
        ]
    };
    let titles = [
        "The first loop after a pause: y[i] += a * x[i], 100,000 elements",
        "CPU time that the pool's threads burn in the pause, in percent of a CPU",
        "What a unit of work of a neighbour that keeps every CPU busy takes, as a multiple of what it takes beside the plain loop",
    ];
    for (title, table) in titles.iter().zip(tables(Style::Terminal)) {
        println!("{title}\n{table}\n");
    }
    let Some(folder) = folder else { return Ok(()) };
    let run = Run::here();
    let mut page = format!(
        "# Idle and cold\n\nMade by `{command}`; [how it measures](../measurements.md). {}, {} CPUs, kernel {}. In the pauses the caller \
         computes. `spin`: how long locsteal's workers spin at most (`LOCSTEAL_SPIN`); as is: without being told, that is half a \
         millisecond, and an eighth of it once most pauses are longer. Others as they come. Medians.\n\n",
        run.machine, run.cpus, run.kernel,
    );
    #[cfg(feature = "plots")]
    {
        page.push_str("![Time of the first loop after a pause, and CPU time burnt in the pause](idle.svg)\n\n");
        super::save(&folder.join("idle.svg"), super::plots::idle(gaps, found)?.as_bytes())?;
    }
    for (title, table) in titles.iter().zip(tables(Style::Markdown)) {
        page.push_str(&format!("## {title}\n\n{table}\n\n"));
    }
    super::save(&folder.join("idle.md"), (page.trim_end().to_owned() + "\n").as_bytes())
}

/// A pause in words.
pub(super) fn pause(gap: Duration) -> String {
    match gap.as_micros() {
        us if us < 1_000 => format!("{us} us"),
        us => format!("{} ms", us / 1_000),
    }
}
