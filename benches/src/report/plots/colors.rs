//! One colour a library, the same in every plot: told apart by eyes of every kind where there are few, and by their names
//! where there are many. Most are Okabe and Ito's, or darker shades of them.

use plotters::style::RGBColor;

use super::canvas::{GREY, OURS};
use crate::report::summary::family;

const LIBRARIES: [(&str, RGBColor); 13] = [
    ("rayon", RGBColor(213, 94, 0)),
    ("fork_union", RGBColor(0, 140, 100)),
    ("paralight", RGBColor(150, 110, 190)),
    ("chili", RGBColor(200, 30, 60)),
    ("forte", RGBColor(205, 140, 0)),
    ("orx-parallel", RGBColor(120, 80, 40)),
    ("threadteam", RGBColor(70, 70, 70)),
    ("bevy_tasks", RGBColor(130, 150, 20)),
    ("libgomp", RGBColor(204, 110, 160)),
    ("libomp", RGBColor(140, 20, 100)),
    ("tbb", RGBColor(0, 120, 130)),
    ("thread", RGBColor(110, 60, 10)),
    ("tokio", RGBColor(60, 110, 60)),
];

/// The colour of a peer: that of its library.
pub(super) fn of_peer(peer: &str) -> RGBColor {
    let family = family(peer);
    if family == "locsteal" {
        return OURS;
    }
    LIBRARIES.iter().find(|(name, _)| *name == family).map_or(GREY, |(_, color)| *color)
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::peers::entries;

    #[test]
    fn every_library_has_a_colour_of_its_own() {
        let colors: HashMap<&str, RGBColor> = entries()
            .iter()
            .filter(|entry| !matches!(entry.name, "serial" | "floor"))
            .map(|entry| (family(entry.name), of_peer(entry.name)))
            .collect();
        let different: HashSet<_> = colors.values().map(|c| (c.0, c.1, c.2)).collect();
        assert_eq!(different.len(), colors.len(), "{colors:?}");
        assert!(!colors.values().any(|color| *color == GREY), "{colors:?}");
    }
}
