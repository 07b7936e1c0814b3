//! Terrain analysis of an elevation grid: the sky-view factor and the hillshade of every cell, each as a parallel loop
//! that is checked against the serial one, and a picture of each.
//!
//! ```sh
//! cargo run --release -p locsteal-examples --bin terrain -- --help
//! ```

#![cfg_attr(test, allow(clippy::float_cmp, reason = "tests know which results are exact"))]

mod esri;
mod grid;
mod hillshade;
mod picture;
mod progress;
mod sky_view;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use locsteal::{Pool, Schedule, Stats};
use locsteal_examples::{Times, same_bits, schedule, schedule_name};

use grid::{Grid, Units};
use hillshade::Hillshade;
use progress::Bar;
use sky_view::SkyView;

/// Computes the sky-view factor and the hillshade of every cell of an elevation grid, serially and in parallel, checks
/// that both give the same, and writes a picture of each.
#[derive(Debug, Parser)]
#[command(name = "terrain")]
struct Options {
    /// Elevations in metres, as an Esri ASCII grid.
    #[arg(default_value = "examples/data/jacksboro.asc")]
    input: PathBuf,

    /// Folder for the pictures; made if it does not exist.
    #[arg(short, long, value_name = "FOLDER", default_value = "output")]
    output: PathBuf,

    /// Directions in which the horizon is looked for.
    #[arg(short, long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=3600))]
    directions: u16,

    /// Where the sun stands, in degrees clockwise from north.
    #[arg(long, value_name = "DEGREES", default_value_t = 315.0, value_parser = degrees::<360>)]
    sun_azimuth: f64,

    /// How high the sun stands above the horizon, in degrees.
    #[arg(long, value_name = "DEGREES", default_value_t = 45.0, value_parser = degrees::<90>)]
    sun_altitude: f64,

    /// What the coordinates in the file count.
    #[arg(long, value_enum, default_value_t = Units::Auto)]
    units: Units,

    /// How the cells are shared out: auto, static, static(N), steal, dynamic, dynamic(N) or serial.
    #[arg(short, long, default_value = "auto", value_parser = schedule)]
    schedule: Schedule,

    /// Threads that take part, the program's own among them; as many as the process may use if not given.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,

    /// How many times each loop runs; the times shown are medians.
    #[arg(short, long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeat: u16,
}

/// Reads a number of degrees from 0 to `MAX`.
fn degrees<const MAX: u16>(text: &str) -> Result<f64, String> {
    let degrees: f64 = text.parse().map_err(|_| "this is not a number".to_owned())?;
    if (0.0..=f64::from(MAX)).contains(&degrees) {
        Ok(degrees)
    } else {
        Err(format!("this is not within 0 and {MAX} degrees"))
    }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let own;
    let pool = match options.threads {
        None => Pool::global(),
        Some(threads) => {
            own = Pool::builder().threads(usize::from(threads)).build()?;
            &own
        }
    };
    let input = options.input.display();
    let raster = esri::read(&options.input).map_err(|error| format!("{input}: {error}"))?;
    let grid = Grid::new(raster, options.units);
    let results = compute(&grid, pool, options)?;
    let pictures = draw(&grid, &results, &options.output)?;

    let out = &mut io::stdout().lock();
    let Grid { rows, columns, cell_width, cell_height, .. } = grid;
    let (cells, known) = (rows * columns, grid.known());
    writeln!(out, "{input}: {rows} rows, {columns} columns, {cells} cells, {known} with data")?;
    writeln!(out, "cells of {cell_width:.1} m by {cell_height:.1} m")?;
    writeln!(out)?;
    writeln!(out, "{:10} {}", "loop", Times::HEADS)?;
    for result in &results {
        writeln!(out, "{:10} {}", result.what, result.times)?;
    }
    writeln!(out, "the parallel results are the serial ones, bit for bit")?;
    writeln!(out)?;
    writeln!(out, "schedule: {}", schedule_name(options.schedule))?;
    writeln!(out, "seats: {}", pool.threads())?;
    writeln!(out, "{}", pool.locality())?;
    for Outcome { what, stats, .. } in &results {
        let (all, moved) = (stats.iterations, stats.moved);
        let moved_in_all = moved.total();
        writeln!(out, "{what}: {moved_in_all} of {all} iterations left their seat: {moved}")?;
    }
    writeln!(out)?;
    writeln!(out, "pictures: {}", pictures.join(", "))?;
    Ok(())
}

/// What came of one of the loops.
struct Outcome {
    what: &'static str,
    /// The picture's file name.
    picture: &'static str,
    values: Vec<f32>,
    times: Times,
    /// What the pool counted while the parallel form ran.
    stats: Stats,
}

/// Runs both loops, each in both forms, and checks that the forms agree.
fn compute(grid: &Grid, pool: &Pool, options: &Options) -> Result<[Outcome; 2], Box<dyn Error>> {
    let cells = grid.heights.len();
    let schedule = options.schedule;
    let bar = &Bar::new(cells);
    let mut serial = zeroed(cells)?;
    let mut run = |what, picture, one: &dyn Fn(&mut [f32]), other: &dyn Fn(&mut [f32])| {
        let mut values = zeroed(cells)?;
        let before = pool.stats();
        let times = Times::measure(
            usize::from(options.repeat),
            || {
                bar.begin(format!("{what}, serial"));
                one(&mut serial);
            },
            || {
                bar.begin(format!("{what}, parallel"));
                other(&mut values);
            },
        );
        let stats = pool.stats() - before;
        same_bits(what, &serial, &values, f32::to_bits)?;
        Ok::<_, Box<dyn Error>>(Outcome { what, picture, values, times, stats })
    };
    let sky = SkyView::new(grid, options.directions);
    let sky_view =
        run("sky view", "sky-view.png", &|out| sky_view::serial(&sky, out, bar), &|out| {
            sky_view::parallel(&sky, out, bar, pool, schedule);
        })?;
    let sun = Hillshade::new(grid, options.sun_azimuth, options.sun_altitude);
    let hillshade =
        run("hillshade", "hillshade.png", &|out| hillshade::serial(&sun, out, bar), &|out| {
            hillshade::parallel(&sun, out, bar, pool, schedule);
        })?;
    Ok([sky_view, hillshade])
}

/// An array of zeros, or an error where there is no memory for it.
fn zeroed(length: usize) -> Result<Vec<f32>, String> {
    let mut array = Vec::new();
    array
        .try_reserve_exact(length)
        .map_err(|_| format!("there is no memory for {length} cells"))?;
    array.resize(length, 0.0);
    Ok(array)
}

/// Writes the pictures into a folder, and says which.
fn draw(grid: &Grid, results: &[Outcome], folder: &Path) -> Result<Vec<String>, String> {
    fs::create_dir_all(folder)
        .map_err(|error| format!("{}: cannot be made: {error}", folder.display()))?;
    let draw = |result: &Outcome| {
        let path = folder.join(result.picture);
        match picture::write(&path, grid, &result.values) {
            Ok(()) => Ok(path.display().to_string()),
            Err(error) => Err(format!("{}: cannot be written: {error}", path.display())),
        }
    };
    results.iter().map(draw).collect()
}
