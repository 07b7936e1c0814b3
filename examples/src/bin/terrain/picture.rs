//! Pictures of the results.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use png::{BitDepth, ColorType, Encoder, EncodingError, PixelDimensions, Unit};

use crate::grid::Grid;

/// The shares of values, at the dark and at the bright end, that are drawn in plain black and plain white.
const CLIPPED: (f64, f64) = (0.01, 0.01);

/// Values as shades of grey with an alpha channel: two bytes a value. The range that holds all but the outermost
/// values is spread from black to white, and NaN is transparent.
pub(crate) fn shades(values: &[f32]) -> Vec<u8> {
    let (dark, bright) = range(values);
    let scale = if bright > dark { 255.0 / (bright - dark) } else { 0.0 };
    let pixel = |value: &f32| {
        if value.is_nan() {
            return [0, 0];
        }
        // Out of range turns into the nearer end; all values alike are grey.
        let grey = if scale > 0.0 { (value - dark) * scale + 0.5 } else { 128.0 };
        [grey as u8, 255]
    };
    values.iter().flat_map(pixel).collect()
}

/// Writes [`shades`] of a grid's values to a PNG file, a pixel for each cell, north up. The file tells the shape of the
/// pixels to viewers that heed it.
pub(crate) fn write(path: &Path, grid: &Grid, values: &[f32]) -> Result<(), EncodingError> {
    let side = |cells| u32::try_from(cells).map_err(|_| EncodingError::LimitsExceeded);
    let (width, height) = (side(grid.columns)?, side(grid.rows)?);
    let mut encoder = Encoder::new(BufWriter::new(File::create(path)?), width, height);
    encoder.set_color(ColorType::GrayscaleAlpha);
    encoder.set_depth(BitDepth::Eight);
    // Only the ratio counts: as many pixels as take up the same length on the ground.
    let broader = grid.cell_width.max(grid.cell_height);
    let pixels = |size: f64| (10_000.0 * broader / size) as u32;
    let (xppu, yppu) = (pixels(grid.cell_width), pixels(grid.cell_height));
    encoder.set_pixel_dims(Some(PixelDimensions { xppu, yppu, unit: Unit::Unspecified }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&shades(values))?;
    writer.finish()
}

/// The values that are drawn in black and in white.
fn range(values: &[f32]) -> (f32, f32) {
    let mut known: Vec<f32> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    if known.is_empty() {
        return (0.0, 0.0);
    }
    let last = (known.len() - 1) as f64;
    let mut at = |share: f64| {
        let place = (share * last).round() as usize;
        *known.select_nth_unstable_by(place, f32::total_cmp).1
    };
    (at(CLIPPED.0), at(1.0 - CLIPPED.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greys(values: &[f32]) -> Vec<u8> {
        shades(values).chunks(2).map(|pixel| pixel[0]).collect()
    }

    #[test]
    fn values_are_spread_from_black_to_white() {
        let values: Vec<f32> = (0..=100).map(|value| value as f32).collect();
        let greys = greys(&values);
        assert!(greys.is_sorted());
        assert_eq!((greys[0], greys[1], greys[25], greys[99]), (0, 0, 62, 255));
    }

    #[test]
    fn outliers_are_clipped() {
        let mut values = vec![0.5; 100];
        values.extend(vec![0.25; 100]);
        values.push(-1e6);
        values.push(1e6);
        let greys = greys(&values);
        assert_eq!((greys[0], greys[100], greys[200], greys[201]), (255, 0, 0, 255));
    }

    #[test]
    fn missing_data_is_transparent() {
        assert_eq!(shades(&[0.0, f32::NAN, 1.0]), [0, 255, 0, 0, 255, 255]);
        assert_eq!(shades(&[f32::NAN]), [0, 0]);
    }

    #[test]
    fn one_value_is_grey() {
        assert_eq!(shades(&[3.0, 3.0]), [128, 255, 128, 255]);
    }
}
