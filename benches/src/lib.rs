//! Benchmarks of locsteal beside its peers.
