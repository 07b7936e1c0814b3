//! A grid of elevations, measured on the ground.

use clap::ValueEnum;

use crate::esri::Raster;

/// Elevations on a regular grid: row 0 is the northernmost, column 0 the westernmost.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    /// Metres from a cell to its neighbour in the east.
    pub(crate) cell_width: f64,
    /// Metres from a cell to its neighbour in the south.
    pub(crate) cell_height: f64,
    /// In metres, row after row; NaN where there is no data.
    pub(crate) heights: Vec<f32>,
}

/// What a file's coordinates and its cell size count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Units {
    /// Degrees if the whole grid lies within the ranges of longitude and latitude, else metres.
    Auto,
    /// Degrees of longitude and latitude.
    Degrees,
    /// Metres.
    Metres,
}

impl Grid {
    /// Puts a file's grid on the ground. Elevations count as metres.
    pub(crate) fn new(raster: Raster, units: Units) -> Self {
        let Raster { rows, columns, south, cell_size, .. } = raster;
        let (cell_width, cell_height) = if in_degrees(&raster, units) {
            // One width for the whole grid: the one in its middle.
            let middle = south + cell_size * rows as f64 / 2.0;
            let (width, height) = degree(middle.to_radians());
            (width * cell_size, height * cell_size)
        } else {
            (cell_size, cell_size)
        };
        Self { rows, columns, cell_width, cell_height, heights: raster.values }
    }

    /// How many cells hold data.
    pub(crate) fn known(&self) -> usize {
        self.heights.iter().filter(|height| !height.is_nan()).count()
    }

    /// The row and the column of a cell, given its place in `heights`.
    pub(crate) fn place(&self, cell: usize) -> (usize, usize) {
        (cell / self.columns, cell % self.columns)
    }
}

fn in_degrees(raster: &Raster, units: Units) -> bool {
    let east = raster.west + raster.cell_size * raster.columns as f64;
    let north = raster.south + raster.cell_size * raster.rows as f64;
    match units {
        Units::Degrees => true,
        Units::Metres => false,
        // Longitudes are counted from -180 or from 0.
        Units::Auto => {
            raster.west >= -180.0 && east <= 360.0 && raster.south >= -90.0 && north <= 90.0
        }
    }
}

/// The lengths in metres of a degree of longitude and of a degree of latitude, at a latitude in radians, on the WGS 84
/// ellipsoid: its radii of curvature there, times a degree.
fn degree(latitude: f64) -> (f64, f64) {
    const EQUATORIAL_RADIUS: f64 = 6_378_137.0;
    const FLATTENING: f64 = 1.0 / 298.257_223_563;
    let eccentricity_squared = FLATTENING * (2.0 - FLATTENING);
    let (sin, cos) = latitude.sin_cos();
    let root = (1.0 - eccentricity_squared * sin * sin).sqrt();
    let prime_vertical = EQUATORIAL_RADIUS / root;
    let meridional = EQUATORIAL_RADIUS * (1.0 - eccentricity_squared) / root.powi(3);
    ((prime_vertical * cos).to_radians(), meridional.to_radians())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A grid whose elevations are a function of metres to the east of cell (0, 0) and metres to the south of it.
    pub(crate) fn shaped(
        (rows, columns): (usize, usize),
        (cell_width, cell_height): (f64, f64),
        height: impl Fn(f64, f64) -> f64,
    ) -> Grid {
        let cell = |cell: usize| {
            let (row, column) = (cell / columns, cell % columns);
            height(column as f64 * cell_width, row as f64 * cell_height) as f32
        };
        let heights = (0..rows * columns).map(cell).collect();
        Grid { rows, columns, cell_width, cell_height, heights }
    }

    /// Of 10 rows and 20 columns.
    fn raster(west: f64, south: f64, cell_size: f64) -> Raster {
        Raster { rows: 10, columns: 20, west, south, cell_size, values: vec![0.0; 200] }
    }

    #[test]
    fn a_degree_at_known_latitudes() {
        // As tabulated for WGS 84, to the metre: a degree of longitude, and of latitude.
        for (latitude, longitude, expected) in
            [(0.0_f64, 111_320.0, 110_574.0), (45.0, 78_847.0, 111_132.0), (90.0, 0.0, 111_694.0)]
        {
            let (width, height) = degree(latitude.to_radians());
            assert!((width - longitude).abs() < 0.6, "{latitude}: {width}");
            assert!((height - expected).abs() < 0.6, "{latitude}: {height}");
        }
    }

    #[test]
    fn units_are_recognised() {
        let width = |raster, units| Grid::new(raster, units).cell_width;
        assert_eq!(width(raster(500_000.0, 4_000_000.0, 30.0), Units::Auto), 30.0);
        assert_eq!(width(raster(-84.0, 36.0, 0.001), Units::Metres), 0.001);
        assert_ne!(width(raster(500_000.0, 36.0, 30.0), Units::Degrees), 30.0);
        let degrees = width(raster(-84.0, 36.0, 0.001), Units::Auto);
        assert!((degrees - 90.16).abs() < 0.01, "{degrees}");
        // Up to the ranges' ends, and past each of them.
        for (west, south) in [(340.0, 80.0), (-180.0, -90.0)] {
            assert_ne!(width(raster(west, south, 1.0), Units::Auto), 1.0);
        }
        for (west, south) in [(341.0, 80.0), (340.0, 81.0), (-181.0, -90.0), (-180.0, -91.0)] {
            assert_eq!(width(raster(west, south, 1.0), Units::Auto), 1.0);
        }
    }

    #[test]
    fn the_middle_of_the_grid_decides() {
        // Ten degrees of latitude, around 60 degrees north.
        let middle = Grid::new(raster(0.0, 55.0, 1.0), Units::Degrees);
        let (width, height) = degree(60_f64.to_radians());
        assert_eq!((middle.cell_width, middle.cell_height), (width, height));
    }

    #[test]
    fn cells_without_data_are_not_known() {
        let height = |east: f64, _| if east < 2.0 { east } else { f64::NAN };
        assert_eq!(shaped((2, 5), (1.0, 1.0), height).known(), 4);
    }

    #[test]
    fn places_count_row_by_row() {
        let grid = shaped((2, 3), (1.0, 1.0), |east, south| east + 10.0 * south);
        assert_eq!(grid.place(4), (1, 1));
        assert_eq!(grid.heights[4], 11.0);
    }
}
