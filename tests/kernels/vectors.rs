//! Loops along vectors.

use std::hint::black_box;

use locsteal::par_for;

use super::Form;

pub(super) fn axpy(form: Form, n: usize) {
    #[inline(never)]
    fn indices(a: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..x.len() {
            y[i] += a * x[i];
        }
    }

    #[inline(never)]
    fn iterators(a: f64, x: &[f64], y: &mut [f64]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(a: f64, x: &[f64], y: &mut [f64]) {
        for i in 0..x.len() {
            y[i] += a * x[i];
        }
    }

    let (x, mut y) = (vec![1.5; n], vec![0.5; n]);
    run!(form(2.0, &x, &mut y));
    black_box(y);
}

/// The index is part of what is computed.
#[allow(clippy::needless_range_loop, reason = "the form is what is measured")]
pub(super) fn seeded(form: Form, n: usize) {
    fn scramble(seed: u64) -> u64 {
        let mut x = seed | 1;
        for _ in 0..2 {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        x
    }

    #[inline(never)]
    fn indices(y: &mut [u64]) {
        for i in 0..y.len() {
            y[i] = scramble(y[i] ^ i as u64);
        }
    }

    #[inline(never)]
    fn iterators(y: &mut [u64]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = scramble(*y ^ i as u64);
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(y: &mut [u64]) {
        for i in 0..y.len() {
            y[i] = scramble(y[i] ^ i as u64);
        }
    }

    let mut y = vec![1; n];
    run!(form(&mut y));
    black_box(y);
}

pub(super) fn stencil(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f64], y: &mut [f64]) {
        for i in 1..x.len() - 1 {
            y[i] = 0.25 * (x[i - 1] + 2.0 * x[i] + x[i + 1]);
        }
    }

    #[inline(never)]
    fn iterators(x: &[f64], y: &mut [f64]) {
        for (y, x) in y[1..].iter_mut().zip(x.windows(3)) {
            *y = 0.25 * (x[0] + 2.0 * x[1] + x[2]);
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[f64], y: &mut [f64]) {
        for i in 1..x.len() - 1 {
            y[i] = 0.25 * (x[i - 1] + 2.0 * x[i] + x[i + 1]);
        }
    }

    let (x, mut y) = (vec![1.5; n + 2], vec![0.5; n + 2]);
    run!(form(&x, &mut y));
    black_box(y);
}

pub(super) fn methods(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &mut [u32]) {
        for i in 1..x.len() - 1 {
            y[i] = x[i - 1].min(x[i]).max(x[i + 1].rotate_left(3));
        }
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &mut [u32]) {
        for (y, x) in y[1..].iter_mut().zip(x.windows(3)) {
            *y = x[0].min(x[1]).max(x[2].rotate_left(3));
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u32], y: &mut [u32]) {
        for i in 1..x.len() - 1 {
            y[i] = x[i - 1].min(x[i]).max(x[i + 1].rotate_left(3));
        }
    }

    let (x, mut y) = (vec![15; n + 2], vec![5; n + 2]);
    run!(form(&x, &mut y));
    black_box(y);
}

pub(super) fn dot(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f64], y: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..x.len() {
            sum += x[i] * y[i];
        }
        sum
    }

    #[inline(never)]
    fn iterators(x: &[f64], y: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (x, y) in x.iter().zip(y) {
            sum += x * y;
        }
        sum
    }

    #[par_for(schedule = serial, reduce(+: sum))]
    #[inline(never)]
    fn marked(x: &[f64], y: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..x.len() {
            sum += x[i] * y[i];
        }
        sum
    }

    let (x, y) = (vec![1.5; n], vec![0.5; n]);
    black_box(run!(form(&x, &y)));
}

pub(super) fn dot_of_integers(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u32], y: &[u32]) -> u32 {
        let mut sum = 0;
        for i in 0..x.len() {
            sum += x[i] * y[i];
        }
        sum
    }

    #[inline(never)]
    fn iterators(x: &[u32], y: &[u32]) -> u32 {
        x.iter().zip(y).map(|(x, y)| x * y).sum()
    }

    #[par_for(schedule = serial, reduce(+: sum))]
    #[inline(never)]
    fn marked(x: &[u32], y: &[u32]) -> u32 {
        let mut sum = 0;
        for i in 0..x.len() {
            sum += x[i] * y[i];
        }
        sum
    }

    let (x, y) = (vec![1; n], vec![3; n]);
    black_box(run!(form(&x, &y)));
}

struct Bodies {
    position: Vec<f64>,
    velocity: Vec<f64>,
    force: Vec<f64>,
    mass: Vec<f64>,
}

impl Bodies {
    #[inline(never)]
    fn indices(&mut self, dt: f64) {
        for i in 0..self.position.len() {
            self.velocity[i] += dt * self.force[i] / self.mass[i];
            self.position[i] += dt * self.velocity[i];
        }
    }

    #[inline(never)]
    fn iterators(&mut self, dt: f64) {
        let Self { position, velocity, force, mass } = self;
        for (((position, velocity), force), mass) in
            position.iter_mut().zip(velocity).zip(force).zip(mass)
        {
            *velocity += dt * *force / *mass;
            *position += dt * *velocity;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(&mut self, dt: f64) {
        for i in 0..self.position.len() {
            self.velocity[i] += dt * self.force[i] / self.mass[i];
            self.position[i] += dt * self.velocity[i];
        }
    }
}

pub(super) fn struct_of_arrays(form: Form, n: usize) {
    let mut bodies = Bodies {
        position: vec![0.0; n],
        velocity: vec![1.0; n],
        force: vec![2.0; n],
        mass: vec![3.0; n],
    };
    match form {
        Form::Indices => bodies.indices(0.1),
        Form::Iterators => bodies.iterators(0.1),
        Form::Marked => bodies.marked(0.1),
        Form::Nothing => {}
    }
    black_box(bodies.position);
}

pub(super) fn enumerated(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[f32], y: &mut [f32]) {
        for (i, x) in x.iter().enumerate() {
            y[i] = 2.0 * x + 1.0;
        }
    }

    #[inline(never)]
    fn iterators(x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = 2.0 * x + 1.0;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[f32], y: &mut [f32]) {
        for (i, x) in x.iter().enumerate() {
            y[i] = 2.0 * x + 1.0;
        }
    }

    let (x, mut y) = (vec![1.5; n], vec![0.5; n]);
    run!(form(&x, &mut y));
    black_box(y);
}

pub(super) fn stencil_of_bytes(form: Form, n: usize) {
    #[inline(never)]
    fn indices(x: &[u8], y: &mut [u8]) {
        for i in 1..x.len() - 1 {
            y[i] = x[i - 1] / 4 + x[i] / 2 + x[i + 1] / 4;
        }
    }

    #[inline(never)]
    fn iterators(x: &[u8], y: &mut [u8]) {
        for (y, x) in y[1..].iter_mut().zip(x.windows(3)) {
            *y = x[0] / 4 + x[1] / 2 + x[2] / 4;
        }
    }

    #[par_for(schedule = serial)]
    #[inline(never)]
    fn marked(x: &[u8], y: &mut [u8]) {
        for i in 1..x.len() - 1 {
            y[i] = x[i - 1] / 4 + x[i] / 2 + x[i + 1] / 4;
        }
    }

    let (x, mut y) = (vec![100; n + 2], vec![7; n + 2]);
    run!(form(&x, &mut y));
    black_box(y);
}
