//! Arrays of many shapes and orders in memory, and ways to look at them.

use locsteal::Schedule;
use ndarray::{Array2, ArrayViewMut2, Axis, ShapeBuilder, Slice};

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

const SCHEDULES: [Schedule; 6] = [
    Schedule::Auto,
    Schedule::Static,
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(1),
    Schedule::Serial,
];

/// Ways to look at a part of an array: its rows or columns in steps, backward, exchanged, or none of them.
const LOOKS: usize = 8;

pub(crate) fn look<'a>(array: &'a mut Array2<u64>, look: usize) -> ArrayViewMut2<'a, u64> {
    let mut view = array.view_mut();
    match look {
        0 => {}
        1 => view = view.reversed_axes(),
        2 => view.invert_axis(Axis(0)),
        3 => view.invert_axis(Axis(1)),
        4 => view.slice_axis_inplace(Axis(0), Slice::from(..).step_by(-2)),
        5 => view.slice_axis_inplace(Axis(1), Slice::from(..).step_by(3)),
        6 => {
            view.slice_axis_inplace(Axis(1), Slice::from(..).step_by(-2));
            view = view.reversed_axes();
        }
        _ => view.slice_axis_inplace(Axis(0), Slice::from(0..0)),
    }
    view
}

/// Calls `check` with an array of some shape, its order in memory, and a way to look at it.
pub(crate) fn each_shape(mut check: impl FnMut(Array2<u64>, usize, Schedule)) {
    let mut numbers = Numbers(7);
    for round in 0..12 {
        for way in 0..LOOKS {
            let shape = match round {
                0 => (0, 5),
                1 => (5, 0),
                2 => (1, 1),
                3 => (1, 17),
                4 => (17, 1),
                _ => (1 + numbers.below(40), 1 + numbers.below(9)),
            };
            let mut count = 0;
            let fill = |_| {
                count += 1;
                count
            };
            let array = if round % 2 == 0 {
                Array2::from_shape_fn(shape, fill)
            } else {
                Array2::from_shape_fn(shape.f(), fill)
            };
            check(array, way, SCHEDULES[numbers.below(SCHEDULES.len())]);
        }
    }
}
