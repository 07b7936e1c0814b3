//! Which functions can have marked loops: async and generic ones, those of traits, and all of a module.

use locsteal::par_for;

#[par_for]
async fn in_async(y: &mut [usize]) -> Option<()> {
    std::future::ready(()).await;
    for i in 0..y.len() {
        y[i] = i.checked_add(1)?;
    }
    std::future::ready(()).await;
    Some(())
}

#[allow(clippy::multiple_bound_locations, reason = "a bound in both places is what is tested")]
#[par_for]
fn generic<T: Copy + Send + Sync + std::ops::AddAssign, const N: usize, I: Into<usize>>(
    y: &mut [T; N],
    x: &[T],
    skip: I,
) where
    T: PartialOrd,
{
    let skip = skip.into();
    for i in skip..N {
        y[i] += x[i];
    }
}

#[test]
fn generics() {
    let mut y = [1u8; 20];
    generic(&mut y, &[2; 20], 5usize);
    assert_eq!(y[4..6], [1, 3]);
    let mut y = [1; 7];
    let mut future = Box::pin(in_async(&mut y));
    let waker = std::task::Waker::noop();
    let done = future.as_mut().poll(&mut std::task::Context::from_waker(waker));
    assert_eq!(done, std::task::Poll::Ready(Some(())));
    drop(future);
    assert_eq!(y, [1, 2, 3, 4, 5, 6, 7]);
}

trait Kernel {
    fn weight(&self, i: usize) -> usize;

    #[par_for]
    fn run(&self, y: &mut [usize])
    where
        Self: Sync,
    {
        for i in 0..y.len() {
            y[i] = self.weight(i);
        }
    }
}

impl Kernel for usize {
    fn weight(&self, i: usize) -> usize {
        self * i
    }
}

#[test]
fn trait_defaults() {
    let mut y = [0; 5];
    3usize.run(&mut y);
    assert_eq!(y, [0, 3, 6, 9, 12]);
}

#[par_for]
mod inner {
    pub(super) fn fill(y: &mut [usize]) {
        #[par_for]
        for i in 0..y.len() {
            y[i] = i + 1;
        }
    }

    pub(super) mod deeper {
        pub(in super::super) fn fill(y: &mut [usize]) {
            #[par_for(threads = 2, grain = 4)]
            for i in 0..y.len() {
                y[i] = i + 2;
            }
        }
    }
}

#[test]
fn modules() {
    let mut y = [0; 5];
    inner::fill(&mut y);
    assert_eq!(y, [1, 2, 3, 4, 5]);
    inner::deeper::fill(&mut y);
    assert_eq!(y, [2, 3, 4, 5, 6]);
}
