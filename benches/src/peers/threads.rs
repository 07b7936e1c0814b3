//! A thread of the standard library that takes jobs from a channel and answers through another.

use std::sync::mpsc;
use std::thread;

use anyhow::Result;

use super::{Offload, Setup, answer};

type Job = Box<dyn FnOnce() + Send>;

pub(crate) struct ChannelThread {
    jobs: mpsc::Sender<Job>,
}

impl Offload for ChannelThread {
    fn build(_setup: &Setup) -> Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        // The thread ends when the sending half is dropped.
        thread::spawn(move || queue.into_iter().for_each(|job| job()));
        Ok(Self { jobs })
    }

    fn round_trip(&mut self, x: u64) -> u64 {
        let (send, receive) = mpsc::channel();
        let job = Box::new(move || {
            // The receiver waits below, so it is there.
            let _ = send.send(answer(x));
        });
        self.jobs.send(job).expect("the thread lives as long as the sender");
        receive.recv().expect("the job sends before it ends")
    }
}
