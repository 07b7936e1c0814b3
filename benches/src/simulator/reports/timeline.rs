//! One run as a picture and as a trace.

use std::fs;
use std::path::Path;

use super::Setting;
use crate::kernels::Kernel;
use crate::machines::Site;
use crate::time::{Time, in_ns};
use crate::trial::Arm;

pub(crate) fn write(
    setting: &Setting,
    site: &Site,
    kernel: &Kernel,
    arm: Arm,
    svg: Option<&Path>,
    trace: Option<&Path>,
) -> Result<(), String> {
    let trial = setting.trial(site, kernel);
    let (run, place) = trial.record(arm);
    let first = run.chunks.iter().map(|chunk| chunk.start).min().unwrap_or(0);
    let since = |time: Time| in_ns(time - first) as u64;
    let ran = run
        .chunks
        .iter()
        .map(|chunk| (chunk.seat, chunk.iterations.clone(), since(chunk.start)..since(chunk.end)));
    let name = format!("{}, {}", kernel.name, arm.name());
    let timeline = place.course.timeline(&name, 0..run.makespan as u64, ran);
    println!("{timeline}");
    for (path, text) in [(svg, timeline.to_svg()), (trace, timeline.to_trace())] {
        if let Some(path) = path {
            fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
            println!("written: {}", path.display());
        }
    }
    Ok(())
}
