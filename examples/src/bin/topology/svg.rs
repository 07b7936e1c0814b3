//! The machine as a picture: nodes hold caches, caches hold CPUs, CPUs hold seats.

use std::fmt::Write;

use locsteal::CpuSet;

use crate::{View, counted};

const CPU_WIDTH: u32 = 68;
const CPU_HEIGHT: u32 = 40;
const GAP: u32 = 8;
const TITLE: u32 = 20;
/// Boxes flow into rows of at most this width: about a screen for the machine.
const CACHE_WIDTH: u32 = 8 * (CPU_WIDTH + GAP);
const NODE_WIDTH: u32 = 1200;
const MACHINE_WIDTH: u32 = 1260;

/// A rectangle and what is in it, in coordinates of its own.
struct Shape {
    width: u32,
    height: u32,
    svg: String,
}

pub(crate) fn draw(view: &View) -> String {
    let topology = view.plan.topology();
    let mut rest = topology.cpus().clone();
    let mut shapes = Vec::new();
    for (index, node) in topology.nodes().iter().enumerate() {
        let distances: Vec<String> = (0..topology.nodes().len())
            .map(|to| topology.distance(index, to).to_string())
            .collect();
        let mut caches: Vec<Shape> = node.domains().map(|index| domain(view, index)).collect();
        caches.extend(outside_domains(view, node.cpus()));
        let title = format!("node {}, distances {}", node.id(), distances.join(" "));
        shapes.push(container(&title, "node", "", &flow(&caches, NODE_WIDTH)));
        rest = rest.difference(node.cpus());
    }
    for (index, outside) in topology.domains().iter().enumerate() {
        if outside.node().is_none() {
            shapes.push(domain(view, index));
        }
    }
    shapes.extend(outside_domains(view, &rest));
    let machine = flow(&shapes, MACHINE_WIDTH);

    let mut captions = vec![format!(
        "{}, {}, {}; {}, placement {}",
        counted(topology.cpus().len(), "CPU"),
        counted(topology.nodes().len(), "node"),
        counted(topology.domains().len(), "LLC domain"),
        counted(view.plan.threads(), "seat"),
        view.plan.placement(),
    )];
    captions.extend(view.plan.locality().lines().iter().cloned());
    let longest = captions.iter().map(|caption| caption.chars().count() as u32).max().unwrap_or(0);
    let width = machine.width.max(longest * 7) + 2 * GAP;
    let height = machine.height + 3 * GAP + captions.len() as u32 * TITLE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <style>.node{{fill:#eef2f7;stroke:#8aa}}.cache{{stroke:#567}}.cpu{{fill:#fff;stroke:#789}}\
         .seat{{fill:#246;font-weight:bold}}text{{fill:#222}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    place(&mut svg, GAP, GAP, &machine.svg);
    for (index, caption) in captions.iter().enumerate() {
        let y = machine.height + 2 * GAP + TITLE * (index as u32 + 1) - 6;
        let _ = writeln!(svg, "<text x=\"{GAP}\" y=\"{y}\">{}</text>", escape(caption));
    }
    svg + "</svg>\n"
}

fn domain(view: &View, index: usize) -> Shape {
    let domain = &view.plan.topology().domains()[index];
    let level = domain.level().map(|level| format!("L{level} ")).unwrap_or_default();
    // Neighbours differ by the golden angle.
    let hue = index * 137 % 360;
    let title = format!("{level}cache {index}");
    let style = format!("fill:hsl({hue},55%,88%)");
    container(&title, "cache", &style, &flow(&cpus(view, domain.cpus()), CACHE_WIDTH))
}

fn outside_domains(view: &View, cpus_of_node: &CpuSet) -> Option<Shape> {
    let topology = view.plan.topology();
    let outside: CpuSet =
        cpus_of_node.iter().filter(|&cpu| topology.domain_of(cpu).is_none()).collect();
    (!outside.is_empty()).then(|| {
        let cpus = flow(&cpus(view, &outside), CACHE_WIDTH);
        container("no known cache", "cache", "fill:#ddd;stroke-dasharray:4", &cpus)
    })
}

fn cpus(view: &View, cpus: &CpuSet) -> Vec<Shape> {
    cpus.iter()
        .map(|cpu| {
            let seats: Vec<usize> = (0..view.plan.threads())
                .filter(|&seat| view.plan.home(seat).cpu == Some(cpu))
                .collect();
            let mut svg = format!(
                "<rect class=\"cpu\" width=\"{CPU_WIDTH}\" height=\"{CPU_HEIGHT}\" rx=\"3\"/>\
                 <text x=\"5\" y=\"15\">CPU {cpu}</text>"
            );
            let names: Vec<String> = seats.iter().map(ToString::to_string).collect();
            if !seats.is_empty() {
                let names = names.join(",");
                let _ = write!(svg, "<text class=\"seat\" x=\"5\" y=\"32\">seat {names}</text>");
            }
            for seat in seats {
                let victims = view.plan.victims(seat, view.locality);
                let victims: Vec<String> =
                    victims.iter().map(|(victim, _)| victim.to_string()).collect();
                let _ = write!(svg, "<title>seat {seat} steals from {}</title>", victims.join(" "));
            }
            Shape { width: CPU_WIDTH, height: CPU_HEIGHT, svg: format!("<g>{svg}</g>\n") }
        })
        .collect()
}

/// A box with a title around a shape.
fn container(title: &str, class: &str, style: &str, inner: &Shape) -> Shape {
    let width = (inner.width + 2 * GAP).max(title.chars().count() as u32 * 7 + 2 * GAP);
    let height = inner.height + TITLE + 2 * GAP;
    let mut svg = format!(
        "<rect class=\"{class}\" style=\"{style}\" width=\"{width}\" height=\"{height}\" rx=\"5\"/>\
         <text x=\"{GAP}\" y=\"16\">{}</text>\n",
        escape(title)
    );
    place(&mut svg, GAP, TITLE + GAP, &inner.svg);
    Shape { width, height, svg }
}

/// Shapes side by side, in as many rows as needed.
fn flow(shapes: &[Shape], max_width: u32) -> Shape {
    let (mut x, mut y, mut row_height, mut width) = (0, 0, 0, 0);
    let mut svg = String::new();
    for shape in shapes {
        if x > 0 && x + shape.width > max_width {
            (x, y, row_height) = (0, y + row_height + GAP, 0);
        }
        place(&mut svg, x, y, &shape.svg);
        width = width.max(x + shape.width);
        row_height = row_height.max(shape.height);
        x += shape.width + GAP;
    }
    Shape { width, height: y + row_height, svg }
}

fn place(svg: &mut String, x: u32, y: u32, inner: &str) {
    let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">{inner}</g>");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
