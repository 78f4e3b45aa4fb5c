//! Charts as SVG: curves and points over two axes, each linear or logarithmic.

use std::ops::RangeInclusive;

use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;

use crate::{Error, Result};

const SIZE: (u32, u32) = (640, 400);
/// Colours that are told apart on white, also by people who do not see all of them.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 90, 181),
    RGBColor(213, 94, 0),
    RGBColor(0, 140, 105),
    RGBColor(190, 60, 140),
    RGBColor(90, 90, 90),
    RGBColor(200, 150, 0),
    RGBColor(60, 160, 220),
    RGBColor(140, 30, 30),
];

type Drawing<'a, 'b, X, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    label: String,
    is_log: bool,
    range: Option<[f64; 2]>,
}

impl Axis {
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), is_log: false, range: None }
    }

    pub fn log(label: &str) -> Self {
        Self { is_log: true, ..Self::linear(label) }
    }

    pub fn between(self, from: f64, to: f64) -> Self {
        Self { range: Some([from, to]), ..self }
    }
}

pub type Curve = Vec<(f64, f64)>;

/// A function at hundredths.
pub(crate) fn hundredths(steps: RangeInclusive<u32>, f: impl Fn(f64) -> f64) -> Curve {
    steps.map(|step| f64::from(step) / 100.0).map(|x| (x, f(x))).collect()
}

#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    name: String,
    points: Curve,
    style: Style,
    colour: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Line,
    Dashed,
    Points,
}

impl Series {
    pub fn points(name: impl Into<String>, points: Curve) -> Self {
        Self { name: name.into(), points, style: Style::Points, colour: 0 }
    }

    pub fn line(name: impl Into<String>, points: Curve) -> Self {
        Self { style: Style::Line, ..Self::points(name, points) }
    }

    /// A dashed curve: theory, or what a paper printed.
    pub fn dashed(name: impl Into<String>, points: Curve) -> Self {
        Self { style: Style::Dashed, ..Self::points(name, points) }
    }

    pub fn colour(self, i: usize) -> Self {
        Self { colour: i, ..self }
    }

    fn draw<'a, 'b: 'a, X, Y>(&self, chart: &mut Drawing<'a, 'b, X, Y>) -> Drawn
    where
        X: Ranged<ValueType = f64>,
        Y: Ranged<ValueType = f64>,
    {
        let colour = COLOURS[self.colour % COLOURS.len()];
        let points = self.points.iter().copied();
        let is_points = self.style == Style::Points;
        let width = if self.style == Style::Line { 2 } else { 1 };
        let stroke = colour.stroke_width(width);
        let drawn = match self.style {
            Style::Points => chart.draw_series(points.map(|point| Circle::new(point, 3, colour.filled())))?,
            Style::Line => chart.draw_series(LineSeries::new(points, stroke))?,
            Style::Dashed => chart.draw_series(DashedLineSeries::new(points, 6, 4, stroke))?,
        };
        if !self.name.is_empty() {
            drawn.label(&self.name).legend(move |(x, y)| {
                if is_points {
                    Circle::new((x + 9, y), 3, colour.filled()).into_dyn()
                } else {
                    PathElement::new([(x, y), (x + 18, y)], stroke).into_dyn()
                }
            });
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    pub title: String,
    axes: [Axis; 2],
    series: Vec<Series>,
}

impl Chart {
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), axes: [x, y], series: Vec::new() }
    }

    pub fn with(mut self, series: Series) -> Self {
        self.push(series);
        self
    }

    /// Adds a series. Points that an axis cannot show are left out.
    pub fn push(&mut self, mut series: Series) {
        let shows = |axis: &Axis, value: f64| {
            let inside = axis.range.is_none_or(|[from, to]| (from..=to).contains(&value));
            value.is_finite() && (!axis.is_log || value > 0.0) && inside
        };
        series.points.retain(|&(x, y)| shows(&self.axes[0], x) && shows(&self.axes[1], y));
        self.series.push(series);
    }

    /// Adds what was measured as points and, in the same colour, what theory says as a line.
    pub(crate) fn compare(&mut self, name: impl Into<String>, colour: usize, [measured, theory]: [Curve; 2]) {
        self.push(Series::points(name, measured).colour(colour));
        self.push(Series::line("", theory).colour(colour));
    }

    /// The picture. Errors: the drawing library refuses.
    pub fn svg(&self) -> Result<String> {
        let mut svg = String::new();
        self.draw(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area())
            .map_err(|reason| Error::Draw { chart: self.title.clone(), reason: reason.to_string() })?;
        Ok(svg)
    }

    fn draw(&self, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Drawn {
        area.fill(&WHITE)?;
        let [x, y] = [0, 1].map(|i| self.range(i));
        let mut builder = ChartBuilder::on(area);
        builder
            .caption(&self.title, ("sans-serif", 17))
            .margin(10)
            .x_label_area_size(42)
            .y_label_area_size(64);
        // The axis kinds are types of the library, so each combination is built by itself.
        match [self.axes[0].is_log, self.axes[1].is_log] {
            [false, false] => self.fill(&mut builder.build_cartesian_2d(x, y)?)?,
            [true, false] => self.fill(&mut builder.build_cartesian_2d(x.log_scale(), y)?)?,
            [false, true] => self.fill(&mut builder.build_cartesian_2d(x, y.log_scale())?)?,
            [true, true] => self.fill(&mut builder.build_cartesian_2d(x.log_scale(), y.log_scale())?)?,
        }
        area.present()?;
        Ok(())
    }

    fn fill<'a, 'b: 'a, X, Y>(&self, chart: &mut Drawing<'a, 'b, X, Y>) -> Drawn
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let format = |value: &f64| tick(*value);
        chart
            .configure_mesh()
            .x_desc(&self.axes[0].label)
            .y_desc(&self.axes[1].label)
            .x_label_formatter(&format)
            .y_label_formatter(&format)
            .light_line_style(RGBColor(244, 244, 244))
            .bold_line_style(RGBColor(225, 225, 225))
            .label_style(("sans-serif", 13))
            .draw()?;
        for series in &self.series {
            series.draw(chart)?;
        }
        if self.series.iter().any(|series| !series.name.is_empty()) {
            chart
                .configure_series_labels()
                .background_style(WHITE.mix(0.85))
                .border_style(RGBColor(210, 210, 210))
                .label_font(("sans-serif", 12))
                .draw()?;
        }
        Ok(())
    }

    /// From the smallest to the largest value of an axis, with a little room.
    fn range(&self, i: usize) -> std::ops::Range<f64> {
        let axis = &self.axes[i];
        if let Some([from, to]) = axis.range {
            return from..to;
        }
        let values = self.series.iter().flat_map(|s| &s.points).map(|p| if i == 0 { p.0 } else { p.1 });
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        match axis.is_log {
            _ if low > high => 1.0..10.0,
            true => low / 1.15..high * 1.15,
            false => {
                let room = 0.04 * (high - low).max(1e-9 + 1e-6 * high.abs());
                low - room..high + room
            }
        }
    }
}

fn tick(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let rounded = format!("{value:.3e}").parse().unwrap_or(value);
    let size: f64 = f64::abs(rounded);
    if (1e-3..1e6).contains(&size) { format!("{rounded}") } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_of_every_kind_are_drawn() {
        for (x, y) in [(false, false), (true, false), (false, true), (true, true)] {
            let axis = |is_log: bool, name: &str| if is_log { Axis::log(name) } else { Axis::linear(name) };
            let chart = Chart::new("A <title>", axis(x, "across"), axis(y, "up"))
                .with(Series::line("theory", vec![(1.0, 0.1), (10.0, 0.01)]))
                .with(Series::points("measured", vec![(1.0, 0.11), (0.0, f64::NAN)]).colour(1))
                .with(Series::dashed("", vec![(2.0, 0.05)]).colour(9));
            let svg = chart.svg().unwrap();
            assert!(svg.starts_with("<svg") && svg.contains("across") && svg.contains("measured"));
            assert!(
                svg.contains("&lt;title&gt;") && !svg.contains("NaN") && !svg.contains("http://localhost")
            );
        }
        assert!(Chart::new("empty", Axis::linear("x"), Axis::log("y")).svg().is_ok());
    }

    #[test]
    fn ticks_are_short() {
        assert_eq!([0.0, 0.1 + 0.2, 1e-5, 2e7].map(tick), ["0", "0.3", "1e-5", "2e7"]);
    }
}
