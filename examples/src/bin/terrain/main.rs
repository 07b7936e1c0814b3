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
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use locsteal_examples::{Mismatch, Times, same_bits};

use grid::{Grid, Units};
use hillshade::Hillshade;
use progress::Progress;
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
    let input = options.input.display();
    let raster = esri::read(&options.input).map_err(|error| format!("{input}: {error}"))?;
    let grid = Grid::new(raster, options.units);
    let results = compute(&grid, options)?;

    let folder = &options.output;
    fs::create_dir_all(folder)
        .map_err(|error| format!("{}: cannot be made: {error}", folder.display()))?;
    let mut written = Vec::new();
    for (name, values) in
        [("sky-view.png", &results.sky_view), ("hillshade.png", &results.hillshade)]
    {
        let path = folder.join(name);
        picture::write(&path, &grid, values)
            .map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
        written.push(path.display().to_string());
    }

    let out = &mut io::stdout().lock();
    let Grid { rows, columns, cell_width, cell_height, .. } = grid;
    let (cells, known) = (rows * columns, grid.known());
    writeln!(
        out,
        "{input}: {rows} rows, {columns} columns, {cells} cells of {cell_width:.1} m by {cell_height:.1} m, {known} with data"
    )?;
    writeln!(out, "both parallel results are the serial ones, bit for bit")?;
    writeln!(out)?;
    writeln!(out, "{:12} {}", "loop", Times::HEADS)?;
    writeln!(out, "{:12} {}", "sky view", results.sky_view_times)?;
    writeln!(out, "{:12} {}", "hillshade", results.hillshade_times)?;
    writeln!(out)?;
    writeln!(out, "pictures: {}", written.join(", "))?;
    Ok(())
}

struct Results {
    sky_view: Vec<f32>,
    sky_view_times: Times,
    hillshade: Vec<f32>,
    hillshade_times: Times,
}

fn compute(grid: &Grid, options: &Options) -> Result<Results, Box<dyn Error>> {
    let cells = grid.heights.len();
    let repeat = usize::from(options.repeat);
    let progress = Progress::new((4 * repeat * cells) as u64);

    progress.step("sky view");
    let sky = SkyView::new(grid, options.directions);
    let (mut serial, mut sky_view) = (zeroed(cells)?, zeroed(cells)?);
    let sky_view_times = Times::measure(
        repeat,
        || sky_view::serial(&sky, &mut serial, &progress),
        || sky_view::parallel(&sky, &mut sky_view, &progress),
    );
    same("sky view", &serial, &sky_view)?;

    progress.step("hillshade");
    let shades = Hillshade::new(grid, options.sun_azimuth, options.sun_altitude);
    let mut hillshade = zeroed(cells)?;
    let hillshade_times = Times::measure(
        repeat,
        || hillshade::serial(&shades, &mut serial, &progress),
        || hillshade::parallel(&shades, &mut hillshade, &progress),
    );
    same("hillshade", &serial, &hillshade)?;
    Ok(Results { sky_view, sky_view_times, hillshade, hillshade_times })
}

fn same(what: &'static str, serial: &[f32], parallel: &[f32]) -> Result<(), Mismatch> {
    same_bits(what, serial, parallel, f32::to_bits)
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
