//! Drawing in pixels, and scales from values to pixels.

use anyhow::{Result, anyhow};
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, IntoFont, RGBColor, ShapeStyle,
    TextStyle,
};

pub(super) const BLACK: RGBColor = RGBColor(0x20, 0x20, 0x20);
pub(super) const GREY: RGBColor = RGBColor(0x80, 0x80, 0x80);
pub(super) const PALE: RGBColor = RGBColor(0xe4, 0xe4, 0xe4);
pub(super) const OURS: RGBColor = RGBColor(0x00, 0x57, 0xb8);
/// Behind what is ours.
pub(super) const OURS_PALE: RGBColor = RGBColor(0xe2, 0xee, 0xfa);
pub(super) const IDEAL: RGBColor = RGBColor(0x2a, 0x8a, 0x4a);

/// Where a text's given point lies in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Left,
    Middle,
    Right,
}

/// A white sheet.
pub(super) struct Canvas<'a>(DrawingArea<SVGBackend<'a>, Shift>);

/// Draws on a sheet of `width` by `height` pixels and gives it as SVG.
pub(super) fn svg(
    (width, height): (i32, i32),
    draw: impl FnOnce(&Canvas<'_>) -> Result<()>,
) -> Result<String> {
    let mut text = String::new();
    {
        let size = (width.cast_unsigned(), height.cast_unsigned());
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&RGBColor(255, 255, 255)).map_err(|e| anyhow!("{e}"))?;
        let canvas = Canvas(area);
        draw(&canvas)?;
        canvas.0.present().map_err(|e| anyhow!("{e}"))?;
    }
    Ok(text)
}

impl Canvas<'_> {
    fn text_style(size: i32, color: RGBColor, anchor: Anchor) -> TextStyle<'static> {
        let horizontal = match anchor {
            Anchor::Left => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::Right => HPos::Right,
        };
        ("sans-serif", size).into_font().color(&color).pos(Pos::new(horizontal, VPos::Center))
    }

    /// A text whose vertical middle is at `y`.
    pub(super) fn text(
        &self,
        (x, y): (i32, i32),
        size: i32,
        color: RGBColor,
        anchor: Anchor,
        text: &str,
    ) -> Result<()> {
        let style = Self::text_style(size, color, anchor);
        self.0.draw(&Text::new(text.to_owned(), (x, y), style)).map_err(|e| anyhow!("{e}"))
    }

    /// The same in bold letters.
    pub(super) fn bold(
        &self,
        (x, y): (i32, i32),
        size: i32,
        color: RGBColor,
        anchor: Anchor,
        text: &str,
    ) -> Result<()> {
        let plain = Self::text_style(size, color, anchor);
        let font = FontDesc::new(FontFamily::SansSerif, f64::from(size), FontStyle::Bold);
        let style = font.color(&color).pos(plain.pos);
        self.0.draw(&Text::new(text.to_owned(), (x, y), style)).map_err(|e| anyhow!("{e}"))
    }

    /// A text that reads upwards from `(x, y)`.
    pub(super) fn text_upwards(
        &self,
        (x, y): (i32, i32),
        size: i32,
        color: RGBColor,
        text: &str,
    ) -> Result<()> {
        let font = ("sans-serif", size).into_font().transform(FontTransform::Rotate270);
        let style = font.color(&color).pos(Pos::new(HPos::Left, VPos::Center));
        self.0.draw(&Text::new(text.to_owned(), (x, y), style)).map_err(|e| anyhow!("{e}"))
    }

    pub(super) fn rectangle(
        &self,
        from: (i32, i32),
        to: (i32, i32),
        color: RGBColor,
    ) -> Result<()> {
        self.0.draw(&Rectangle::new([from, to], color.filled())).map_err(|e| anyhow!("{e}"))
    }

    /// The outline of a rectangle.
    pub(super) fn frame(
        &self,
        (left, top): (i32, i32),
        (right, bottom): (i32, i32),
        color: RGBColor,
        width: u32,
    ) -> Result<()> {
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        self.path(corners, color, width)
    }

    pub(super) fn path(&self, points: Vec<(i32, i32)>, color: RGBColor, width: u32) -> Result<()> {
        let style = ShapeStyle { color: color.to_rgba(), filled: false, stroke_width: width };
        self.0.draw(&PathElement::new(points, style)).map_err(|e| anyhow!("{e}"))
    }

    /// A vertical dashed line.
    pub(super) fn dashes(&self, x: i32, from: i32, to: i32, color: RGBColor) -> Result<()> {
        (from..to)
            .step_by(8)
            .try_for_each(|y| self.path(vec![(x, y), (x, (y + 4).min(to))], color, 1))
    }

    pub(super) fn dot(&self, at: (i32, i32), radius: i32, color: RGBColor) -> Result<()> {
        self.0.draw(&Circle::new(at, radius, color.filled())).map_err(|e| anyhow!("{e}"))
    }
}

/// A logarithmic scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogScale {
    low: f64,
    high: f64,
    from: i32,
    to: i32,
}

impl LogScale {
    /// From a little below the least to a little above the greatest of `values`, laid over the pixels `from..to`.
    pub(super) fn over(values: impl Iterator<Item = f64>, (from, to): (i32, i32)) -> Self {
        let (low, high) = values
            .filter(|v| *v > 0.0 && v.is_finite())
            .fold((f64::INFINITY, 0.0f64), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (1.0, 10.0) };
        Self { low: low / 1.15, high: high * 1.15, from, to }
    }

    pub(super) fn at(&self, value: f64) -> i32 {
        let share = (value.max(self.low) / self.low).ln() / (self.high / self.low).ln();
        self.from + (share.min(1.0) * f64::from(self.to - self.from)).round() as i32
    }

    /// Round values on the scale: the finest steps that are still readable, and enough to read the scale by.
    pub(super) fn ticks(&self) -> Vec<f64> {
        const STEPS: [&[f64]; 5] = [
            &[1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            &[1.0, 2.0, 5.0],
            &[1.0, 3.0],
            &[1.0],
        ];
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let ticks = |steps: &[f64]| -> Vec<f64> {
            (first..=last)
                .flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)))
                .filter(|tick| (self.low..=self.high).contains(tick))
                .collect()
        };
        // Labels are some fifty pixels wide.
        let apart = |ticks: &[f64]| {
            ticks.windows(2).all(|pair| (self.at(pair[1]) - self.at(pair[0])).abs() >= 55)
        };
        let readable = STEPS.into_iter().map(ticks).find(|ticks| apart(ticks));
        readable.unwrap_or_else(|| ticks(STEPS[STEPS.len() - 1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_keeps_order_and_bounds() {
        let scale = LogScale::over([1.0, 100.0].into_iter(), (10, 210));
        assert!(scale.at(1.0) >= 10 && scale.at(100.0) <= 210);
        assert_eq!(scale.at(10.0), 110);
        assert!(scale.at(1e9) <= 210 && scale.at(0.0) >= 10);
        assert!(scale.ticks().contains(&10.0));
        let narrow = LogScale::over([1.7e3, 3.3e3].into_iter(), (0, 400));
        assert!(narrow.ticks().len() >= 3, "{:?}", narrow.ticks());
        let wide = LogScale::over([1.0, 1e6].into_iter(), (0, 400));
        assert!((3..8).contains(&wide.ticks().len()), "{:?}", wide.ticks());
        let empty = LogScale::over(std::iter::empty(), (0, 100));
        assert!((0..=100).contains(&empty.at(3.0)));
    }

    #[test]
    fn a_sheet_is_svg_with_its_text() {
        let sheet = svg((100, 50), |canvas| {
            canvas.text((50, 25), 12, BLACK, Anchor::Middle, "a < b")?;
            canvas.dot((10, 10), 3, OURS)
        });
        let sheet = sheet.unwrap();
        assert!(sheet.starts_with("<svg") && sheet.contains("a &lt; b"), "{sheet}");
    }
}
