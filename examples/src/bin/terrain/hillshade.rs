//! The hillshade: how bright a matt surface looks under the sun.
//!
//! The slope of a cell is estimated from its eight neighbours with the weights 1, 2, 1, after Horn, "Hill shading and
//! the reflectance map", Proceedings of the IEEE 69 (1981), 14-47. The shade is the cosine of the angle between the
//! surface's normal and the direction to the sun, and 0 on slopes that face away from it. No shadows are cast. At the
//! grid's edges and beside missing data the estimate uses the neighbours that there are.

use locsteal::{Pool, Schedule, par_for};

use crate::grid::Grid;
use crate::progress::Bar;

/// What the shade of a cell is computed from.
pub(crate) struct Hillshade<'a> {
    grid: &'a Grid,
    /// The direction to the sun, of length 1: to the east, to the north, up.
    sun: [f32; 3],
}

impl<'a> Hillshade<'a> {
    /// Prepares for a sun that stands at `azimuth` degrees clockwise from north, `altitude` degrees above the horizon.
    pub(crate) fn new(grid: &'a Grid, azimuth: f64, altitude: f64) -> Self {
        let (east, north) = azimuth.to_radians().sin_cos();
        let (up, level) = altitude.to_radians().sin_cos();
        Self { grid, sun: [east * level, north * level, up].map(|part| part as f32) }
    }

    /// The shade of a cell, from 0 (dark) to 1; NaN where there is no data.
    pub(crate) fn at(&self, cell: usize) -> f32 {
        if self.grid.heights[cell].is_nan() {
            return f32::NAN;
        }
        let [east, north] = self.slope(cell);
        let [sun_east, sun_north, sun_up] = self.sun;
        // The normal of the surface is (-east, -north, 1), made as long as 1.
        let facing = sun_up - east * sun_east - north * sun_north;
        (facing / (1.0 + east * east + north * north).sqrt()).max(0.0)
    }

    /// Metres that the surface rises per metre to the east and per metre to the north.
    fn slope(&self, cell: usize) -> [f32; 2] {
        // Places: 0 1 2 in the north, 3 4 5 beside the cell, 6 7 8 in the south.
        let around = self.around(cell);
        let to_the_east = [[0, 1, 2], [3, 4, 5], [6, 7, 8]];
        let to_the_north = [[6, 3, 0], [7, 4, 1], [8, 5, 2]];
        let rise = |lines: [[usize; 3]; 3]| {
            weighted(lines.map(|line| rise(line.map(|place| around[place]))))
        };
        [
            rise(to_the_east) / self.grid.cell_width as f32,
            rise(to_the_north) / self.grid.cell_height as f32,
        ]
    }

    /// The elevations of the 3 x 3 cells around a cell, row after row; NaN outside the grid.
    fn around(&self, cell: usize) -> [f32; 9] {
        let Grid { rows, columns, heights, .. } = self.grid;
        let (row, column) = self.grid.place(cell);
        let height = |place: usize| {
            // Outside in the north or in the west wraps to a number that no grid has.
            let row = (row + place / 3).wrapping_sub(1);
            let column = (column + place % 3).wrapping_sub(1);
            if row < *rows && column < *columns {
                heights[row * columns + column]
            } else {
                f32::NAN
            }
        };
        std::array::from_fn(height)
    }
}

/// How far three cells in line rise from one to the next: half of what they rise from end to end or, where an end is
/// missing, what they rise from the middle to the other end. NaN if that is missing too.
fn rise([low, middle, high]: [f32; 3]) -> f32 {
    if low.is_nan() {
        high - middle
    } else if high.is_nan() {
        middle - low
    } else {
        (high - low) / 2.0
    }
}

/// The mean of what three lines rise, the one through the cell itself counting twice. Lines that do not say are left
/// out; 0 if none does.
fn weighted(rises: [f32; 3]) -> f32 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (rise, weight) in rises.into_iter().zip([1.0, 2.0, 1.0]) {
        if !rise.is_nan() {
            sum += weight * rise;
            weights += weight;
        }
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// Computes the shade of every cell on one thread.
pub(crate) fn serial(hillshade: &Hillshade<'_>, out: &mut [f32], bar: &Bar) {
    for (cell, out) in out.iter_mut().enumerate() {
        *out = hillshade.at(cell);
        bar.at(cell);
    }
}

/// Computes the shade of every cell. All cost the same.
#[par_for(schedule = (schedule), pool = pool, progress = bar)]
pub(crate) fn parallel(
    hillshade: &Hillshade<'_>,
    out: &mut [f32],
    bar: &Bar,
    pool: &Pool,
    schedule: Schedule,
) {
    for cell in 0..out.len() {
        out[cell] = hillshade.at(cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::tests::shaped;

    /// The shade that the textbook formula gives for a plane: slope and aspect instead of vectors.
    fn expected(east: f64, north: f64, azimuth: f64, altitude: f64) -> f64 {
        let slope = f64::hypot(east, north).atan();
        // The aspect is where the surface falls to.
        let aspect = f64::atan2(-east, -north);
        let (zenith, azimuth) = ((90.0 - altitude).to_radians(), azimuth.to_radians());
        let shade =
            zenith.cos() * slope.cos() + zenith.sin() * slope.sin() * (azimuth - aspect).cos();
        shade.max(0.0)
    }

    #[test]
    fn a_plane_is_shaded_alike_up_to_its_edges() {
        for (east, north) in [(0.0, 0.0), (0.3, 0.0), (0.0, -0.5), (-0.4, 0.7), (2.0, -1.0)] {
            let plane = |x: f64, south: f64| 50.0 + east * x - north * south;
            for shape in [(5, 7), (1, 4), (4, 1), (2, 2)] {
                let grid = shaped(shape, (10.0, 4.0), plane);
                for (azimuth, altitude) in [(315.0, 45.0), (90.0, 20.0), (180.0, 80.0)] {
                    // One row or one column says nothing about the slope across it.
                    let east = if shape.1 == 1 { 0.0 } else { east };
                    let north = if shape.0 == 1 { 0.0 } else { north };
                    let expected = expected(east, north, azimuth, altitude);
                    let shades = Hillshade::new(&grid, azimuth, altitude);
                    for cell in 0..shape.0 * shape.1 {
                        let found = f64::from(shades.at(cell));
                        assert!((found - expected).abs() < 1e-5, "{cell}: {found}, {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn slopes_that_face_the_sun_are_bright() {
        // A ridge from north to south under a sun in the west.
        let grid = shaped((3, 9), (10.0, 10.0), |east, _| -(east - 40.0).abs());
        let shades = Hillshade::new(&grid, 270.0, 45.0);
        assert!((shades.at(9 + 1) - 1.0).abs() < 1e-6, "the west side faces the sun");
        assert!(shades.at(9 + 7) < 1e-6, "the east side sees the sun along its surface");
    }

    #[test]
    fn a_gap_in_a_plane_changes_nothing_beside_it() {
        let plane = |east: f64, south: f64| 0.5 * east + 0.2 * south;
        let whole = shaped((5, 5), (10.0, 10.0), plane);
        let mut gap = whole.clone();
        gap.heights[2 * 5 + 3] = f32::NAN;
        let (whole, gap) = (Hillshade::new(&whole, 315.0, 45.0), Hillshade::new(&gap, 315.0, 45.0));
        assert!(gap.at(2 * 5 + 3).is_nan());
        for cell in (0..25).filter(|cell| *cell != 2 * 5 + 3) {
            assert!((gap.at(cell) - whole.at(cell)).abs() < 1e-5, "{cell}");
        }
    }

    #[test]
    fn both_forms_agree() {
        let grid = shaped((20, 30), (10.0, 10.0), |east, south| (east * 0.3).sin() * south);
        let shades = Hillshade::new(&grid, 315.0, 45.0);
        let (mut one, mut other) = (vec![0.0; 600], vec![1.0; 600]);
        serial(&shades, &mut one, &Bar::hidden());
        parallel(&shades, &mut other, &Bar::hidden(), Pool::global(), Schedule::Steal);
        assert_eq!(one, other);
    }
}
