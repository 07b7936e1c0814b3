//! The sky-view factor: how much of the sky a cell sees.
//!
//! From a cell, the horizon in each of `n` directions stands at an angle `h` above the horizontal (0 where nothing rises
//! above the cell). The sky-view factor is the share of the upper hemisphere that lies above the horizon,
//!
//! ```text
//! V = 1 - (sin h_1 + .. + sin h_n) / n
//! ```
//!
//! after Zakšek, Oštir and Kokalj, "Sky-view factor as a relief visualization technique", Remote Sensing 3 (2011),
//! 398-415. Horizons as profiles along fixed directions are those of Dozier and Frew, "Rapid calculation of terrain
//! parameters for radiation modeling from digital elevation data", IEEE Transactions on Geoscience and Remote Sensing 28
//! (1990), 963-969, whose own factor weighs the sky by the light that it sends to a sloping surface.

use locsteal::{Pool, Schedule, par_for};

use crate::grid::Grid;
use crate::progress::Bar;

/// What the factor of a cell is computed from.
pub(crate) struct SkyView<'a> {
    grid: &'a Grid,
    rays: Vec<Ray>,
    /// The highest elevation of the grid.
    highest: f32,
}

/// A direction, walked from cell to cell along one axis of the grid, the one along which it crosses more cells.
struct Ray {
    /// The axis is the one along which columns count; otherwise rows.
    along_columns: bool,
    /// From lower to higher numbers.
    forward: bool,
    /// Cells travelled along the other axis with each step: at most 1 either way.
    drift: f64,
    /// Metres travelled with each step.
    length: f32,
}

impl<'a> SkyView<'a> {
    /// Prepares for `directions` directions, evenly spaced and starting with north.
    pub(crate) fn new(grid: &'a Grid, directions: u16) -> Self {
        let ray = |number| {
            let azimuth = f64::from(number) * std::f64::consts::TAU / f64::from(directions);
            Ray::new(azimuth, grid)
        };
        let highest = grid.heights.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        Self { grid, rays: (0..directions).map(ray).collect(), highest }
    }

    /// The sky-view factor of a cell, from 0 to 1; NaN where there is no data.
    pub(crate) fn at(&self, cell: usize) -> f32 {
        let from = self.grid.heights[cell];
        if from.is_nan() {
            return f32::NAN;
        }
        let (row, column) = self.grid.place(cell);
        let hidden: f32 =
            self.rays.iter().map(|ray| sine(self.horizon(ray, row, column, from))).sum();
        1.0 - hidden / self.rays.len() as f32
    }

    /// The tangent of the horizon's angle above the horizontal; at least 0.
    fn horizon(&self, ray: &Ray, row: usize, column: usize, from: f32) -> f32 {
        let Grid { rows, columns, heights, .. } = self.grid;
        // How far apart neighbours along the ray's axis and along the other one stand in `heights`.
        let (start, across, ends, strides) = if ray.along_columns {
            (column, row, (*columns, *rows), (1, *columns))
        } else {
            (row, column, (*rows, *columns), (*columns, 1))
        };
        let mut steepest = 0.0_f32;
        for step in 1..=ray.steps_inside(start, across, ends) {
            let distance = step as f32 * ray.length;
            if self.highest - from <= steepest * distance {
                // Even the highest elevation would not rise above the horizon from here on.
                break;
            }
            let at = if ray.forward { start + step } else { start - step };
            let drifted = across as f64 + step as f64 * ray.drift;
            let below = drifted as usize;
            let share = (drifted - below as f64) as f32;
            let near = at * strides.0 + below * strides.1;
            // On a cell's centre there is no second cell to read, at the grid's edge not even one that exists.
            let far = if share > 0.0 { near + strides.1 } else { near };
            let height = heights[near] + share * (heights[far] - heights[near]);
            // False where there is no data: a gap hides nothing.
            if height - from > steepest * distance {
                steepest = (height - from) / distance;
            }
        }
        steepest
    }
}

impl Ray {
    /// The direction at `azimuth`, in radians clockwise from north.
    fn new(azimuth: f64, grid: &Grid) -> Self {
        let (east, north) = azimuth.sin_cos();
        let (columns, rows) = (east / grid.cell_width, -north / grid.cell_height);
        let along_columns = columns.abs() >= rows.abs();
        let (main, other) = if along_columns { (columns, rows) } else { (rows, columns) };
        // A multiple of a power of two: so its products with any number of steps are exact, directions along an axis or a
        // diagonal hit the centres of cells, and no rounding can lead out of the grid.
        let drift = (other / main.abs() * PARTS).round() / PARTS;
        let (width, height) = if along_columns { (1.0, drift) } else { (drift, 1.0) };
        let length = f64::hypot(width * grid.cell_width, height * grid.cell_height) as f32;
        Self { along_columns, forward: main > 0.0, drift, length }
    }

    /// How many steps stay in a grid of `ends` cells along the ray's axis and the other one.
    fn steps_inside(&self, start: usize, across: usize, ends: (usize, usize)) -> usize {
        let along = if self.forward { ends.0 - 1 - start } else { start };
        let room = if self.drift > 0.0 { ends.1 - 1 - across } else { across } as f64;
        let drift = self.drift.abs();
        if along as f64 * drift <= room {
            return along;
        }
        // The quotient is less than `along`, and so than 2^27, where doubles are at most 2^-25 apart; the next whole
        // number is at least 2^-20 away from it, as it is a fraction by `PARTS * drift`. So it is not rounded up to it.
        (room / drift) as usize
    }
}

/// A ray drifts by a multiple of one part of this many in each step.
const PARTS: f64 = (1 << 20) as f64;

/// The sine of an angle, given its tangent.
fn sine(tangent: f32) -> f32 {
    tangent / (1.0 + tangent * tangent).sqrt()
}

/// Computes the factor of every cell on one thread.
pub(crate) fn serial(sky: &SkyView<'_>, out: &mut [f32], bar: &Bar) {
    for (cell, out) in out.iter_mut().enumerate() {
        *out = sky.at(cell);
        bar.at(cell);
    }
}

/// Computes the factor of every cell. How far a ray must be followed depends on the terrain, so cells differ in cost.
#[par_for(schedule = (schedule), pool = pool, progress = bar)]
pub(crate) fn parallel(
    sky: &SkyView<'_>,
    out: &mut [f32],
    bar: &Bar,
    pool: &Pool,
    schedule: Schedule,
) {
    for cell in 0..out.len() {
        out[cell] = sky.at(cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::tests::shaped;

    const MIDDLE: f64 = 500.0;

    /// The factor at (500 m, 500 m) of a square kilometre of 10 m by 4 m cells, or as given.
    fn in_the_middle(cells: (f64, f64), directions: u16, height: impl Fn(f64, f64) -> f64) -> f64 {
        let (columns, rows) = ((1000.0 / cells.0) as usize + 1, (1000.0 / cells.1) as usize + 1);
        let grid = shaped((rows, columns), cells, height);
        let cell = rows / 2 * columns + columns / 2;
        assert_eq!(grid.place(cell), (rows / 2, columns / 2));
        f64::from(SkyView::new(&grid, directions).at(cell))
    }

    fn from_middle(east: f64, south: f64) -> f64 {
        f64::hypot(east - MIDDLE, south - MIDDLE)
    }

    #[track_caller]
    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
    }

    #[test]
    fn a_plain_sees_all_of_the_sky() {
        let grid = shaped((7, 5), (10.0, 10.0), |_, _| 123.0);
        let sky = SkyView::new(&grid, 32);
        assert!((0..35).all(|cell| sky.at(cell) == 1.0));
    }

    #[test]
    fn the_top_sees_all_of_the_sky() {
        close(in_the_middle((10.0, 4.0), 32, |x, y| -from_middle(x, y)), 1.0, 0.0);
    }

    #[test]
    fn a_long_wall_hides_a_lune() {
        // The sky above an infinite wall is a lune: of the half turn from one foot of the sky to the other, the wall
        // takes its own angle. The model's wall ends at the edge of the grid, as seen under 2 degrees to its line.
        for (height, angle) in [(20.0, 45.0), (34.641, 60.0), (7.2794, 20.0)] {
            let in_the_east = |east: f64, _| if east >= MIDDLE + 20.0 { height } else { 0.0 };
            let in_the_north = |_, south: f64| if south <= MIDDLE - 20.0 { height } else { 0.0 };
            close(in_the_middle((2.0, 1.0), 720, in_the_east), 1.0 - angle / 180.0, 0.003);
            close(in_the_middle((1.0, 2.0), 720, in_the_north), 1.0 - angle / 180.0, 0.003);
        }
    }

    #[test]
    fn a_cone_hides_what_its_slope_says() {
        for degrees in [5.0_f64, 30.0, 60.0] {
            // The bottom is flat, since cells cannot show the tip of a cone; the rim is high enough to make up for it.
            let (bottom, rim, tangent) = (50.0, 450.0, degrees.to_radians().tan());
            let cone = |east, south| {
                let distance = from_middle(east, south).clamp(bottom, rim);
                (distance - bottom) / (rim - bottom) * rim * tangent
            };
            for cells in [(10.0, 10.0), (10.0, 4.0), (4.0, 10.0)] {
                close(in_the_middle(cells, 32, cone), 1.0 - degrees.to_radians().sin(), 0.005);
            }
        }
    }

    #[test]
    fn a_hemisphere_hides_up_to_its_rim() {
        // From its lowest point the rim stands at 45 degrees, and nothing of the wall rises above the line to it.
        let radius = 400.0;
        let pit = |east, south| {
            let depth = radius * radius - f64::powi(from_middle(east, south).min(radius), 2);
            -depth.sqrt()
        };
        close(in_the_middle((2.0, 1.0), 64, pit), 1.0 - 0.5_f64.sqrt(), 0.01);
    }

    #[test]
    fn a_gap_hides_nothing_and_has_no_factor() {
        let wall = |gap: bool| {
            let height = |east: f64, south: f64| match (east, south) {
                (30.0, 40.0) if gap => f64::NAN,
                (30.0, _) => 20.0,
                _ => 0.0,
            };
            shaped((9, 9), (10.0, 10.0), height)
        };
        let (whole, gap) = (wall(false), wall(true));
        assert!(SkyView::new(&gap, 8).at(4 * 9 + 3).is_nan());
        // Of 8 directions, one passes through the gap, with a slope of 2; two more meet the wall.
        let (whole, gap) =
            (SkyView::new(&whole, 8).at(4 * 9 + 4), SkyView::new(&gap, 8).at(4 * 9 + 4));
        close(f64::from(gap - whole), f64::from(sine(2.0)) / 8.0, 1e-6);
    }

    #[test]
    fn rays_end_where_the_grid_ends() {
        // Every cell of small and long grids, in many directions: reading outside the grid would panic.
        for (rows, columns) in [(1, 1), (1, 9), (9, 1), (2, 2), (5, 31), (31, 5)] {
            let rough = |east: f64, south: f64| (east * 12.9 + south * 78.2).sin() * 50.0;
            let grid = shaped((rows, columns), (7.0, 3.0), rough);
            for directions in [1, 4, 8, 32, 97] {
                let sky = SkyView::new(&grid, directions);
                let mut out = vec![f32::NAN; rows * columns];
                serial(&sky, &mut out, &Bar::hidden());
                assert!(out.iter().all(|factor| (0.0..=1.0).contains(factor)), "{out:?}");
            }
        }
    }

    #[test]
    fn stopping_early_changes_nothing() {
        let rough =
            |east: f64, south: f64| (east * 0.37).sin() * 40.0 + (south * 0.23).cos() * 30.0;
        let grid = shaped((40, 40), (10.0, 10.0), rough);
        let sky = SkyView::new(&grid, 32);
        let tireless = SkyView { highest: f32::INFINITY, ..SkyView::new(&grid, 32) };
        for cell in 0..1600 {
            assert_eq!(sky.at(cell).to_bits(), tireless.at(cell).to_bits());
        }
    }

    #[test]
    fn both_forms_agree() {
        let grid = shaped((20, 30), (10.0, 10.0), |east, south| (east * 0.3).sin() * south);
        let sky = SkyView::new(&grid, 16);
        let (mut one, mut other) = (vec![0.0; 600], vec![1.0; 600]);
        serial(&sky, &mut one, &Bar::hidden());
        parallel(&sky, &mut other, &Bar::hidden(), Pool::global(), Schedule::Steal);
        assert_eq!(one, other);
    }
}
